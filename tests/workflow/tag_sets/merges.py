"""Create tag sets of one document by different labelers, and merge them."""

from typing import Any

from tests.factories.workspace import Workspace
from tests.workflow.actions import submit_tags

LABELERS = ("labeler", "second", "third")


def submit_all(workspace: Workspace, *tags: list[Any]) -> list[dict[str, Any]]:
    """Submit a tag set by another labeler for each list of tags, all of one document."""
    artifact_id = workspace.artifact(workspace.schema(labels_per_artifact=len(tags)))
    labelers = LABELERS[: len(tags)]
    for name in labelers[1:]:
        workspace.org.add_user(name, "labeler")
    return [
        submit_tags(workspace, artifact_id, own_tags, by=name)
        for name, own_tags in zip(labelers, tags, strict=True)
    ]


def merge(
    workspace: Workspace, tag_sets: list[dict[str, Any]], *, by: str = "reviewer", **body: Any
) -> Any:
    """Merge tag sets, and return the response."""
    body = {"tag_set_ids": [tag_set["id"] for tag_set in tag_sets], **body}
    return workspace.org.api(by).post("/tag-sets/merge", json=body)
