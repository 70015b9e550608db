"""Route that imports a schema from a file that another tool or organization created."""

from typing import Any

from app.kit.api.blueprint import MIB, Blueprint
from app.kit.principal import Caller
from app.schemas.schema_imports import service
from app.schemas.schema_imports.schemas import ImportedSchema, ImportSchema

blueprint = Blueprint("schema-imports", tag="schemas")


@blueprint.post(
    "/schemas/import",
    permission="schemas:manage",
    body=ImportSchema,
    max_body=4 * MIB,
    returns=ImportedSchema,
    status=201,
)
def import_schema(caller: Caller, body: dict[str, Any]) -> dict[str, Any]:
    """Import a schema.

    Creates a draft from a JSON Schema, a portable schema file or a Label Studio configuration.
    A dry run creates nothing and returns the draft that would be created.
    """
    return service.import_schema(created_by=caller.user_id, **body)
