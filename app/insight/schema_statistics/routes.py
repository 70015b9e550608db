"""Route for schema statistics."""

from typing import Any
from uuid import UUID

from app.insight.schema_statistics import service
from app.insight.schema_statistics.schemas import SchemaStats, StatsQuery
from app.kit.api.blueprint import Blueprint
from app.kit.principal import Caller

blueprint = Blueprint("schema-statistics", tag="schemas")


@blueprint.get(
    "/schemas/{schema_id}/stats",
    permission="schemas:read",
    query=StatsQuery,
    returns=SchemaStats,
)
def get_schema_stats(caller: Caller, schema_id: UUID, query: dict[str, Any]) -> dict[str, Any]:
    """Get schema statistics.

    Returns the number of artifacts and tag sets of the schema by status, with labeling times and
    acceptance rates.
    """
    return service.get_statistics(schema_id, **query)
