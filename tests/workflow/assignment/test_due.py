"""Overdue and nearly due work comes first: documents and reviews by the same rule."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from app.documents.artifacts.models.documents import URGENCY, URGENT_AT
from app.kit import db, tenancy
from app.workflow.assignment.queries import claims
from app.workflow.review_queue.queries import items
from app.workflow.tag_sets.claimable import RANK_LEVEL, RANK_TIME
from tests.factories.orgs import get_data
from tests.factories.workspace import Workspace
from tests.workflow.assignment.conftest import assign, claim_next, get_user_ids, to


def _create_backlog(workspace: Workspace, schema: UUID, **members: Any) -> list[UUID]:
    """Documents without a due time that came in over the last two years."""
    now = datetime.now(UTC)
    days = (700, 400, 30, 2)
    return [
        workspace.artifact(schema, created_at=now - timedelta(days=day), **members) for day in days
    ]


def _create_due_artifacts(workspace: Workspace, schema: UUID, **members: Any) -> list[UUID]:
    """Documents that came in just now: overdue, due in an hour, due in 23 hours."""
    now = datetime.now(UTC)
    due = (timedelta(days=-1), timedelta(hours=1), timedelta(hours=23))
    return [workspace.artifact(schema, due_at=now + one, **members) for one in due]


def _submit_all(workspace: Workspace, artifact_ids: list[UUID]) -> list[str]:
    """Submit a tag set of each document, and return the tag sets' ids."""
    return [workspace.submitted(artifact_id)["id"] for artifact_id in artifact_ids]


def _run_periodic_jobs(workspace: Workspace) -> None:
    everything = tenancy.across_organizations(reason="as the jobs do")
    with workspace.org.app.app_context(), everything, db.transaction():
        claims.mark_nearly_due()
        items.prioritize_nearly_due()


def _let_time_pass(workspace: Workspace, table: str, record_id: Any) -> None:
    """Let a document or a review be due in an hour that no statement has moved yet."""
    near = "due_at = now() + interval '1 hour' WHERE id = :id"
    workspace.sql(f"UPDATE {table} SET {near}", id=str(record_id))
    if table == "artifacts":
        workspace.sql("UPDATE artifacts SET nearly_due = false WHERE id = :id", id=str(record_id))


def _list_queue_ids(workspace: Workspace, query: str = "") -> list[str]:
    answer = workspace.org.api("reviewer").get(f"/review-queue{query}")
    return [item["id"] for item in answer.json["data"]]


def test_due_documents_come_before_a_backlog(workspace: Workspace) -> None:
    schema = workspace.schema()
    backlog = _create_backlog(workspace, schema, priority=100)
    dated = _create_due_artifacts(workspace, schema, priority=0)
    wanted = [*dated, *backlog, None]
    assert [claim_next(workspace, skip_held=True) for _ in wanted] == wanted


def test_assigned_documents_go_by_the_same_rule(workspace: Workspace) -> None:
    schema = workspace.schema()
    mine = to(user_id=workspace.org.users["labeler"])
    backlog = _create_backlog(workspace, schema, assignees=mine, priority=100)
    dated = _create_due_artifacts(workspace, schema, assignees=mine, priority=0)
    wanted = [*dated, *backlog]
    listed = workspace.org.api("labeler").get("/users/me/assignments?page_size=4").json
    rest = workspace.org.api("labeler").get(
        f"/users/me/assignments?page_size=4&cursor={listed['meta']['next_cursor']}"
    )
    ids = [item["artifact"]["id"] for item in (*listed["data"], *rest.json["data"])]
    assert ids == [str(one) for one in wanted]
    assert [claim_next(workspace, skip_held=True) for _ in wanted] == wanted
    assert claim_next(workspace, skip_held=True) is None


def test_equal_due_times_go_by_priority(workspace: Workspace) -> None:
    schema, due = workspace.schema(), datetime.now(UTC) + timedelta(hours=3)
    wanted = [workspace.artifact(schema, due_at=due, priority=one) for one in (10, 90, 50)]
    wanted = [wanted[1], wanted[2], wanted[0]]
    assert [claim_next(workspace, skip_held=True) for _ in wanted] == wanted


def test_what_is_due_later_goes_by_priority_and_age(workspace: Workspace) -> None:
    schema, now = workspace.schema(), datetime.now(UTC)
    older = workspace.artifact(schema, created_at=now - timedelta(days=2))
    due = workspace.artifact(
        schema, due_at=now + timedelta(days=3), created_at=now - timedelta(days=1)
    )
    urgent = workspace.artifact(schema, priority=51)
    assert [claim_next(workspace, skip_held=True) for _ in range(3)] == [urgent, older, due]


def test_reviews_go_by_the_same_rule(workspace: Workspace) -> None:
    schema = workspace.schema()
    backlog = _submit_all(workspace, _create_backlog(workspace, schema, priority=100))
    dated = _submit_all(workspace, _create_due_artifacts(workspace, schema, priority=0))
    wanted = [*dated, *backlog]
    assert _list_queue_ids(workspace) == wanted
    assert _list_queue_ids(workspace, "?sort=-review_rank") == wanted[::-1]
    api = workspace.org.api("reviewer")
    next_responses = [api.post("/review-queue/next", json={"skip_held": True}) for _ in wanted]
    assert [answer.json["data"]["id"] for answer in next_responses] == wanted


def test_documents_come_first_when_their_time_is_near(workspace: Workspace) -> None:
    schema, later = workspace.schema(), datetime.now(UTC) + timedelta(days=3)
    mine = to(user_id=workspace.org.users["labeler"])
    first, second = (workspace.artifact(schema, priority=80) for _ in range(2))
    free = workspace.artifact(schema, due_at=later)
    own = [
        workspace.artifact(schema, assignees=mine, priority=one, **due)
        for one, due in ((70, {}), (60, {"due_at": later}))
    ]
    before = workspace.sql(
        "SELECT revision, updated_at FROM artifacts WHERE id = :id", id=str(free)
    )
    for one in (free, own[1]):
        _let_time_pass(workspace, "artifacts", one)
    _run_periodic_jobs(workspace)
    wanted = [own[1], own[0], free, first, second]
    assert [claim_next(workspace, skip_held=True) for _ in range(4)] == wanted[:4]
    workspace.release(free)
    after = workspace.sql("SELECT revision FROM artifacts WHERE id = :id", id=str(free))
    assert after[0].revision == before[0].revision
    log = f"/organizations/{workspace.org.slug}/audit-log?target_id={free}"
    entries = workspace.org.api("admin").get(log).json["data"]
    assert not any("nearly_due" in entry["changes"] for entry in entries)


def test_reviews_come_first_when_their_time_is_near(workspace: Workspace) -> None:
    schema, later = workspace.schema(), datetime.now(UTC) + timedelta(days=3)
    backlog = _submit_all(workspace, _create_backlog(workspace, schema, priority=100))
    by_document = workspace.submitted(workspace.artifact(schema, due_at=later))["id"]
    by_review = workspace.submitted(workspace.artifact(schema))["id"]
    _assign_review(workspace, by_review, later)
    assert _list_queue_ids(workspace) == [*backlog, by_document, by_review]
    for one in (by_document, by_review):
        _let_time_pass(workspace, "tag_sets", one)
    _run_periodic_jobs(workspace)
    assert set(_list_queue_ids(workspace)[:2]) == {by_document, by_review}
    assert _list_queue_ids(workspace)[2:] == backlog


def _assign_review(workspace: Workspace, item_id: str, due_at: datetime) -> None:
    user_ids = get_user_ids(workspace, "reviewer")
    body = {"tag_set_ids": [item_id], "user_ids": user_ids, "due_at": due_at.isoformat()}
    get_data(workspace.org.api("admin").post("/review-queue/bulk-assign", json=body))


def test_a_due_time_that_is_set_later_moves_documents_and_reviews(workspace: Workspace) -> None:
    schema, soon = workspace.schema(), datetime.now(UTC) + timedelta(hours=2)
    backlog = _submit_all(workspace, _create_backlog(workspace, schema))
    _assign_review(workspace, backlog[-1], soon)
    assert _list_queue_ids(workspace)[0] == backlog[-1]
    first, second = workspace.artifact(schema, priority=100), workspace.artifact(schema)
    path = f"/artifacts/{second}"
    body = {"due_at": soon.isoformat(), "revision": 1}
    assert workspace.org.api("admin").patch(path, json=body).status_code == 200
    assert [claim_next(workspace, skip_held=True) for _ in range(2)] == [second, first]
    body = {"due_at": None, "revision": 2}
    assert workspace.org.api("admin").patch(path, json=body).status_code == 200
    workspace.release(first)
    workspace.release(second)
    assert claim_next(workspace) == first


def test_what_an_older_instance_submits_has_its_place_too(workspace: Workspace) -> None:
    schema = workspace.schema()
    backlog = _submit_all(workspace, _create_backlog(workspace, schema))
    due = datetime.now(UTC) + timedelta(hours=1)
    saved = workspace.saved(workspace.artifact(schema, due_at=due))
    old_rank = 50 * 10**13 + int(due.timestamp() * 1000)
    workspace.sql(
        "UPDATE tag_sets SET status = 'submitted', submitted_at = now(), review_rank = :rank"
        " WHERE id = :id",
        id=saved["id"],
        rank=old_rank,
    )
    assert _list_queue_ids(workspace) == [saved["id"], *backlog]


@pytest.mark.parametrize("priority", [0, 50, 100])
@pytest.mark.parametrize("hours", [None, -1000, -1, 0, 23, 25, 1000])
def test_ranks_of_reviews_are_the_order_of_documents(
    workspace: Workspace, hours: int | None, priority: int
) -> None:
    now = datetime.now(UTC)
    due = None if hours is None else now + timedelta(hours=hours)
    artifact = workspace.artifact(workspace.schema(), due_at=due, priority=priority)
    order = f"{URGENCY.format(of='')} AS urgency, {URGENT_AT.format(of='')} AS at"
    (row,) = workspace.sql(
        f"SELECT {order}, created_at FROM artifacts WHERE id = :id", id=str(artifact)
    )
    (rank,) = workspace.sql(
        f"SELECT work_rank(:priority, :due, :since) AS rank,"
        f" {RANK_LEVEL.format(of='made.')} AS level,"
        f" {RANK_TIME.format(of='made.')} AS at FROM (SELECT work_rank(:priority, :due, :since)"
        " AS review_rank) AS made",
        priority=priority,
        due=due,
        since=row.created_at,
    )
    assert rank.level == 100 - row.urgency
    assert abs(rank.at - row.at) <= timedelta(milliseconds=1)


def test_documents_can_be_assigned_that_have_been_due_since_the_year_1(
    workspace: Workspace,
) -> None:
    # Clients in Go and .NET send this time if nobody has set another one.
    schema, reviewer = workspace.schema(), workspace.org.api("reviewer")
    due = {"due_at": datetime.min.replace(tzinfo=UTC)}
    first, second = (workspace.artifact(schema, **due, priority=priority) for priority in (50, 0))
    third = workspace.artifact(schema)
    labelers = get_user_ids(workspace, "labeler", "reviewer")
    body = {"artifact_ids": [str(third), str(second), str(first)], "user_ids": labelers}
    answer = reviewer.post("/artifacts/bulk-assign", json={**body, "strategy": "round_robin"})
    assert answer.json["data"]["succeeded"] == 3, answer.json
    assert [claim_next(workspace, skip_held=True) for _ in range(3)] == [first, third, None]
    assert assign(workspace, second, user_ids=labelers[:1]).status_code == 200
    assert claim_next(workspace, skip_held=True) == second
