"""Overdue and nearly due work comes before a backlog: documents and reviews by the same rule."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from app.documents.artifacts.models import DUE_LEAD, URGENT_AT, urgent_at
from tests.factories.desk import Desk
from tests.workflow.assignment.conftest import Draw, to


def _backlog(desk: Desk, schema: UUID, **members: Any) -> list[UUID]:
    """Documents without a due time that came in over the last two years."""
    now = datetime.now(UTC)
    days = (700, 400, 30, 2)
    return [desk.artifact(schema, created_at=now - timedelta(days=one), **members) for one in days]


def _dated(desk: Desk, schema: UUID, **members: Any) -> list[UUID]:
    """Documents that came in just now: overdue, due in an hour, due tomorrow."""
    now = datetime.now(UTC)
    due = (timedelta(days=-1), timedelta(hours=1), timedelta(days=1))
    return [desk.artifact(schema, due_at=now + one, **members) for one in due]


def test_due_documents_come_before_a_backlog(desk: Desk, draw: Draw) -> None:
    schema = desk.schema()
    backlog = _backlog(desk, schema)
    dated = _dated(desk, schema)
    wanted = [*dated, *backlog, None]
    assert [draw(skip_held=True) for _ in wanted] == wanted


def test_assigned_documents_go_by_the_same_rule(desk: Desk, draw: Draw) -> None:
    schema = desk.schema()
    mine = to(user_id=desk.org.users["labeler"])
    backlog = _backlog(desk, schema, assignees=mine)
    dated = _dated(desk, schema, assignees=mine)
    wanted = [*dated, *backlog, None]
    assert [draw(skip_held=True) for _ in wanted] == wanted


def test_a_higher_priority_goes_first_all_the_same(desk: Desk, draw: Draw) -> None:
    schema = desk.schema()
    due = desk.artifact(schema, due_at=datetime.now(UTC) - timedelta(days=1))
    urgent = desk.artifact(schema, priority=51)
    assert [draw(skip_held=True) for _ in range(3)] == [urgent, due, None]


def test_reviews_go_by_the_same_rule(desk: Desk) -> None:
    schema = desk.schema()
    backlog = [desk.submitted(one)["id"] for one in _backlog(desk, schema)]
    dated = [desk.submitted(one)["id"] for one in _dated(desk, schema)]
    api = desk.org.api("reviewer")
    listed = [item["id"] for item in api.get("/review-queue").json["data"]]
    assert listed == [*dated, *backlog]
    drawn = [api.post("/review-queue/next", json={"skip_held": True}) for _ in listed]
    assert [answer.json["data"]["id"] for answer in drawn] == listed


def test_a_due_time_that_is_set_later_moves_documents_and_reviews(desk: Desk, draw: Draw) -> None:
    schema = desk.schema()
    backlog = [desk.submitted(one)["id"] for one in _backlog(desk, schema)]
    late = backlog[-1]
    soon = (datetime.now(UTC) + timedelta(hours=2)).isoformat()
    body = {"tag_set_ids": [late], "user_ids": [str(desk.org.users["reviewer"])], "due_at": soon}
    answer = desk.org.api("admin").post("/review-queue/bulk-assign", json=body)
    assert answer.status_code == 200, answer.json
    queue = desk.org.api("reviewer").get("/review-queue").json["data"]
    assert queue[0]["id"] == late
    first, second = desk.artifact(schema), desk.artifact(schema)
    path = f"/artifacts/{second}"
    patched = desk.org.api("admin").patch(path, json={"due_at": soon, "revision": 1})
    assert patched.status_code == 200, patched.json
    assert [draw(skip_held=True) for _ in range(2)] == [second, first]


def test_what_an_older_instance_submits_has_its_place_too(desk: Desk) -> None:
    schema = desk.schema()
    backlog = [desk.submitted(one)["id"] for one in _backlog(desk, schema)]
    due = datetime.now(UTC) + timedelta(hours=1)
    saved = desk.saved(desk.artifact(schema, due_at=due))
    old_rank = 50 * 10**13 + int(due.timestamp() * 1000)
    desk.sql(
        "UPDATE tag_sets SET status = 'submitted', submitted_at = now(), review_rank = :rank"
        " WHERE id = :id",
        id=saved["id"],
        rank=old_rank,
    )
    listed = [one["id"] for one in desk.org.api("reviewer").get("/review-queue").json["data"]]
    assert listed == [saved["id"], *backlog]


@pytest.mark.parametrize("days", [None, -4000, -1, 0, 1, 4000])
def test_python_and_sql_agree_on_urgency(desk: Desk, days: int | None) -> None:
    since = datetime(2026, 3, 1, 12, 30, tzinfo=UTC)
    due = None if days is None else since + timedelta(days=days)
    expression = URGENT_AT.format(of="").replace("due_at", "CAST(:due AS timestamptz)")
    expression = expression.replace("created_at", "CAST(:since AS timestamptz)")
    found = desk.sql(f"SELECT {expression} AS at", due=due, since=since)[0].at
    assert found == urgent_at(due, since)
    assert found == (since if due is None else min(since, due - DUE_LEAD))
