"""Functions that read the history of documents."""

from typing import Any
from uuid import UUID

from tests.factories import Org
from tests.factories.workspace import Workspace


def list_history(org: Org, artifact_id: Any, by: str = "reviewer", query: str = "") -> list[Any]:
    """Return the entries of a document's history, newest first."""
    answer = org.api(by).get(f"/artifacts/{artifact_id}/history?{query}")
    assert answer.status_code == 200, answer.json
    if not query:
        assert answer.json["meta"]["total"] == len(answer.json["data"])
    return list(answer.json["data"])


def list_actions(org: Org, artifact_id: Any, by: str = "reviewer") -> list[str]:
    """Return the actions of the entries, oldest first."""
    return [entry["action"] for entry in reversed(list_history(org, artifact_id, by))]


def list_entries(org: Org, artifact_id: Any, action: str) -> list[Any]:
    """Return the entries with this action, newest first."""
    return [entry for entry in list_history(org, artifact_id) if entry["action"] == action]


def get_entry(org: Org, artifact_id: Any, action: str) -> dict[str, Any]:
    """Return the only entry with this action."""
    (only_entry,) = list_entries(org, artifact_id, action)
    return dict(only_entry)


def create_overlap(workspace: Workspace, **policy: Any) -> UUID:
    """Create a document that two labelers label, and add `second`, the other labeler."""
    workspace.org.add_user("second", "labeler")
    return workspace.artifact(workspace.schema(labels_per_artifact=2, **policy))
