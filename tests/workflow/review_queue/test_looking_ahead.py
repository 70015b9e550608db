"""A client that looks ahead: the next item while one is in hand."""

from typing import Any

import pytest

from app.kit.ids import uuid7
from tests.factories.workspace import Workspace
from tests.workflow.review_queue.conftest import assign, claim_next_id


def _create_items(workspace: Workspace, number: int) -> list[str]:
    """Items in the order of the queue."""
    schema = workspace.schema()
    return [
        workspace.submitted(workspace.artifact(schema, priority=90 - n))["id"]
        for n in range(number)
    ]


def test_what_one_holds_is_skipped(workspace: Workspace) -> None:
    items = _create_items(workspace, 3)
    assert [claim_next_id(workspace, skip_held=True) for _ in range(4)] == [*items, None]
    # All of them are held now.
    assert claim_next_id(workspace) == items[0]
    answer = workspace.org.api("reviewer").post(f"/review-queue/{items[1]}/release")
    assert answer.status_code == 200
    assert claim_next_id(workspace, skip_held=True) == items[1]


def test_what_is_excluded_is_not_drawn(workspace: Workspace) -> None:
    first, second, third = _create_items(workspace, 3)
    assert claim_next_id(workspace) == first
    assert claim_next_id(workspace, exclude=[first]) == second
    assert claim_next_id(workspace, exclude=[first, second]) == third
    assert claim_next_id(workspace, exclude=[first, second, third]) is None
    assert claim_next_id(workspace, exclude=[str(uuid7())]) == first


def test_neither_is_drawn_of_what_is_assigned(workspace: Workspace) -> None:
    pooled, assigned = _create_items(workspace, 2)
    reviewer = str(workspace.org.users["reviewer"])
    assert assign(workspace, assigned, user_ids=[reviewer]).status_code == 200
    assert claim_next_id(workspace, exclude=[assigned]) == pooled
    assert claim_next_id(workspace, skip_held=True) == assigned
    assert claim_next_id(workspace, skip_held=True) is None


def test_many_excluded_at_the_head_hide_nothing(workspace: Workspace) -> None:
    items = _create_items(workspace, 12)
    assert claim_next_id(workspace, exclude=items[:11]) == items[11]


def test_an_item_that_was_asked_for_once_more_by_its_key_is_the_same(workspace: Workspace) -> None:
    items = _create_items(workspace, 2)
    keyed = {"headers": {"Idempotency-Key": "ahead-1"}, "json": {"skip_held": True}}
    answers = [workspace.org.api("reviewer").post("/review-queue/next", **keyed) for _ in range(2)]
    assert [answer.json["data"]["id"] for answer in answers] == [items[0], items[0]]
    assert answers[1].headers["Idempotency-Replayed"] == "true"
    assert claim_next_id(workspace, skip_held=True) == items[1]


@pytest.mark.parametrize(
    "body",
    [{"exclude": ["x"]}, {"exclude": [str(uuid7())] * 51}, {"skip_held": "true"}],
    ids=["no id", "too many", "text"],
)
def test_garbled_wishes_are_refused(workspace: Workspace, body: dict[str, Any]) -> None:
    answer = workspace.org.api("reviewer").post("/review-queue/next", json=body)
    assert answer.status_code == 422
    assert answer.json["error"]["field"].startswith(next(iter(body)))
