"""artifacts: what happened to a document."""

from typing import Any
from uuid import UUID

from app.insight.history import service
from app.insight.history.schemas import HistoryEntry, HistoryFilters
from app.kit.api.blueprint import Blueprint, Listing
from app.kit.principal import Caller

blueprint = Blueprint("history", tag="artifacts")


@blueprint.get(
    "/artifacts/{artifact_id}/history",
    permission="artifacts:read",
    query=Listing(sorts=("-at",), filters=HistoryFilters),
    returns=HistoryEntry,
)
def get_artifact_history(caller: Caller, artifact_id: UUID, query: dict[str, Any]) -> Any:
    """Tell what happened to a document and its label sets, by whom and when."""
    return service.history(artifact_id, caller=caller, **query)
