"""Claim, assign and list the items of the review queue."""

from typing import Any

import pytest

from app.kit import bulk
from tests.factories.workspace import Workspace


@pytest.fixture
def batches_of_three(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let bulk actions commit after three items, and add a second reviewer, named `other`."""
    monkeypatch.setattr(bulk, "BATCH_SIZE", 3)
    workspace.org.add_user("other", "reviewer")


def claim_next(workspace: Workspace, by: str = "reviewer", **criteria: Any) -> Any:
    """Claim the next item, and return it; return None if there is none."""
    answer = workspace.org.api(by).post("/review-queue/next", json=criteria)
    assert answer.status_code == 200, answer.json
    assert answer.json["meta"] == {}
    return answer.json["data"]


def claim_next_id(workspace: Workspace, by: str = "reviewer", **criteria: Any) -> str | None:
    """Claim the next item, and return its id, or None if there is no item."""
    item = claim_next(workspace, by, **criteria)
    return item["id"] if item else None


def assign(workspace: Workspace, *item_ids: str, **body: Any) -> Any:
    """Assign items, and return the response."""
    body = {"tag_set_ids": item_ids, **body}
    return workspace.org.api("admin").post("/review-queue/bulk-assign", json=body)


def list_items(workspace: Workspace) -> dict[str, Any]:
    """Return the items of the queue by id, most urgent first."""
    items = workspace.org.api("admin").get("/review-queue").json["data"]
    return {item["id"]: item for item in items}


def update_tag_set(workspace: Workspace, tag_set_id: str, **values: Any) -> None:
    """Set columns of a tag set."""
    places = ", ".join(f"{name} = :{name}" for name in values)
    workspace.sql(f"UPDATE tag_sets SET {places} WHERE id = :id", id=tag_set_id, **values)
