"""Bulk actions on the items that a filter of the queue matches, and their effects."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from app.kit import bulk
from tests.factories.submitted import make_submitted_tag_sets
from tests.factories.workspace import Workspace

ACTIONS = ("accept", "reject", "assign")
_ENDS = {"accept": "accepted", "reject": "rejected", "assign": "submitted"}


def make_items(
    workspace: Workspace, number: int, *, by: str = "labeler", **members: Any
) -> list[str]:
    """Create items, and return their ids in the order of the queue.

    `members` are those of their documents.
    """
    if not members:
        return make_submitted_tag_sets(workspace, number, by)
    schema_id = workspace.schema()
    return [
        workspace.submitted(workspace.artifact(schema_id, **members), by=by)["id"]
        for _ in range(number)
    ]


def _build_body(workspace: Workspace, what: str, **body: Any) -> dict[str, Any]:
    more: dict[str, Any] = {}
    if what == "reject":
        more = {"reason": "No", "send_to": "pool"}
    elif what == "assign" and "team_id" not in body:
        more = {"user_ids": [str(workspace.org.users[name]) for name in ("reviewer", "other")]}
    return {**more, **body}


def post(workspace: Workspace, what: str, by: str = "admin", **body: Any) -> Any:
    """Send a bulk action, and return the response.

    A rejection has a reason, and an assignment has two reviewers.
    """
    return workspace.org.api(by).post(
        f"/review-queue/bulk-{what}", _build_body(workspace, what, **body)
    )


def act(
    workspace: Workspace, what: str, number: int, by: str = "admin", **body: Any
) -> dict[str, Any]:
    """Act on the `number` items that a filter matches, by default all, and return the result."""
    answer = post(workspace, what, by, **{"filter": {}, "expected_count": number, **body})
    assert answer.status_code == 200, answer.json
    return dict(answer.json["data"])


def get_error_codes(result: dict[str, Any]) -> dict[str, str]:
    """Return the error codes of the items that failed."""
    return {outcome["id"]: outcome["code"] for outcome in result["outcomes"]}


def list_changed_ids(workspace: Workspace, what: str) -> set[str]:
    """Return the ids of the items that an action changed."""
    ended = "assignee_id IS NOT NULL" if what == "assign" else f"status = '{_ENDS[what]}'"
    return {str(row.id) for row in workspace.sql(f"SELECT id FROM tag_sets WHERE {ended}")}


def list_event_item_ids(workspace: Workspace, what: str) -> list[str]:
    """Return the ids of the items in the events of an action."""
    if what == "assign":
        return [id_ for data in workspace.events("reviews.assigned") for id_ in data["tag_set_ids"]]
    return [data["tag_set_id"] for data in workspace.events(f"tag_set.{_ENDS[what]}")]


def archive(workspace: Workspace, item: str) -> None:
    """Archive an item's document."""
    workspace.sql(
        "UPDATE artifacts SET archived = true"
        " WHERE id = (SELECT artifact_id FROM tag_sets WHERE id = :id)",
        id=item,
    )


def run_after_find(monkeypatch: pytest.MonkeyPatch, then: Callable[[], Any]) -> None:
    """Call `then` between the filter's query and the first batch."""
    find = bulk.find_ids

    def find_and_call(*args: Any, **options: Any) -> bulk.MatchedIds:
        result = find(*args, **options)
        # The thread has no request context.
        with ThreadPoolExecutor(1) as pool:
            pool.submit(then).result()
        return result

    monkeypatch.setattr(bulk, "find_ids", find_and_call)
