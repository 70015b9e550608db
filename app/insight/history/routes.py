"""Route for a document's history."""

from typing import Any
from uuid import UUID

from app.insight.history import service
from app.insight.history.schemas import HistoryEntry
from app.kit.api.blueprint import Blueprint, Listing
from app.kit.pagination import Page
from app.kit.principal import Caller

blueprint = Blueprint("history", tag="artifacts")


@blueprint.get(
    "/artifacts/{artifact_id}/history",
    permission="artifacts:read",
    query=Listing(sort_keys=("-at",), has_period=True),
    returns=HistoryEntry,
)
def get_artifact_history(caller: Caller, artifact_id: UUID, query: dict[str, Any]) -> Page:
    """Get the history of an artifact.

    Lists the actions on the document, its tag sets and their comments, with actor and time, newest
    first by default.
    """
    return service.list_history(artifact_id, caller=caller, **query)
