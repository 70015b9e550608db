"""artifacts: what happened to a document."""

from typing import Any
from uuid import UUID

from app.kit.api.blueprint import Blueprint, Listing
from app.kit.principal import Caller
from app.review.history import service
from app.review.history.schemas import HistoryEntry, HistoryFilters

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
