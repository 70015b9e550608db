"""What becomes of claims and assignments when time, people and teams go."""

from collections.abc import Callable
from itertools import chain
from threading import Event, Thread
from typing import Any
from uuid import UUID

import pytest

from app.kit import db, tenancy
from app.kit.permissions import Role
from app.workflow.assignment.service import recipients
from app.workflow.review_queue.queries import items
from app.workflow.review_queue.service import unassigning
from tests.factories.orgs import get_data
from tests.factories.queueing import wait_for_blocked_transaction
from tests.factories.statements import record_statements
from tests.factories.submitted import make_submitted_tag_sets
from tests.factories.teams import create_team, make_team
from tests.factories.workspace import Workspace
from tests.workflow.actions import set_role
from tests.workflow.review_queue.conftest import assign, list_items


def _assign(workspace: Workspace, *ids: str, **to: Any) -> None:
    answer = assign(workspace, *ids, **to)
    assert answer.json["data"]["failed"] == 0, answer.json


def _expire(workspace: Workspace) -> int:
    with (
        workspace.org.app.app_context(),
        tenancy.across_organizations(reason="as the job does"),
        db.transaction(),
    ):
        return items.CLAIMABLE_ITEMS.expire_claims()


def test_claims_that_ran_out_are_ended(workspace: Workspace) -> None:
    expired, live = workspace.submitted()["id"], workspace.submitted()["id"]
    for item_id in (expired, live):
        workspace.org.api("reviewer").post(f"/review-queue/{item_id}/claim")
    workspace.sql(
        "UPDATE tag_sets SET claim_expires_at = now() - interval '1 second' WHERE id = :id",
        id=expired,
    )
    assert _expire(workspace) >= 1
    rows = workspace.sql("SELECT id, claim_user_id, updated_at, created_at FROM tag_sets")
    assert {str(r.id): r.claim_user_id for r in rows} == {
        expired: None,
        live: workspace.org.users["reviewer"],
    }


def test_reviews_of_a_deleted_team_are_everybodys_again(
    workspace: Workspace, work: Callable[[], None]
) -> None:
    workspace.org.add_user("other", "reviewer")
    teams = [create_team(workspace.org, "reviewer", name=name) for name in ("A", "B")]
    gone, kept = workspace.submitted()["id"], workspace.submitted()["id"]
    _assign(workspace, gone, team_id=teams[0])
    _assign(workspace, kept, team_id=teams[1])
    assert workspace.org.api("admin").delete(f"/teams/{teams[0]}").status_code == 204
    work()
    items = list_items(workspace)
    assert (items[gone]["assignee_team_id"], items[kept]["assignee_team_id"]) == (None, teams[1])
    next_item = workspace.org.api("other").post("/review-queue/next", json={}).json["data"]
    assert next_item["id"] == gone


def test_who_does_not_review_any_more_gives_back_what_they_had(
    workspace: Workspace, work: Callable[[], None]
) -> None:
    for role in ("labeler", "admin", None):
        name = f"becomes-{role}"
        user_id = workspace.org.add_user(name, "reviewer")
        held, assigned = workspace.submitted()["id"], workspace.submitted()["id"]
        _assign(workspace, assigned, user_ids=[str(user_id)])
        workspace.org.api(name).post(f"/review-queue/{held}/claim")
        set_role(workspace, name, role)
        work()
        items = list_items(workspace)
        stays = role == "admin"
        assert (items[assigned]["assignee_id"] == str(user_id)) is stays, role
        assert (items[held]["claim"] is not None) is stays, role


def test_a_late_event_takes_nothing_from_who_reviews_again(
    workspace: Workspace, work: Callable[[], None]
) -> None:
    user_id = workspace.org.add_user("again", "reviewer")
    held, assigned = workspace.submitted()["id"], workspace.submitted()["id"]
    _assign(workspace, assigned, user_ids=[str(user_id)])
    assert workspace.org.api("again").post(f"/review-queue/{held}/claim").status_code == 200
    for role in ("labeler", "reviewer"):
        set_role(workspace, "again", role)
    work()
    items = list_items(workspace)
    assert items[assigned]["assignee_id"] == str(user_id)
    assert items[held]["claim"]["user_id"] == str(user_id)


def _leave(workspace: Workspace, name: str, team: str, how: str) -> None:
    """Take somebody out of the team, in one way or another."""
    user_id, owner = workspace.org.users[name], workspace.org.api("owner")
    roles = {"left": None, "was lowered": "labeler"}
    if how in roles:
        set_role(workspace, name, roles[how])
        return
    path = f"/teams/{team}/members/{user_id}" if how == "left the team" else f"/teams/{team}"
    assert owner.delete(path).status_code == 204


_WAYS_TO_LEAVE = {
    "left the team": "team_left",
    "left": "member_removed",
    "was lowered": "role_changed",
    "was deleted": "team_deleted",
}


@pytest.mark.parametrize(("how", "reason"), _WAYS_TO_LEAVE.items())
def test_what_a_team_has_nobody_left_for_is_everybodys_again(
    workspace: Workspace, work: Callable[[], None], how: str, reason: str
) -> None:
    workspace.org.add_user("last", "reviewer")
    team = create_team(workspace.org, "last", "labeler")
    item = workspace.submitted()["id"]
    _assign(workspace, item, team_id=team)
    assert workspace.org.api("reviewer").post("/review-queue/next", json={}).json["data"] is None
    _leave(workspace, "last", team, how)
    work()
    next_item = workspace.org.api("reviewer").post("/review-queue/next", json={}).json["data"]
    assert next_item["id"] == item
    assert workspace.events("reviews.returned") == [
        {
            "tag_set_ids": [item],
            "escalated_ids": [],
            "user_id": None,
            "team_id": team,
            "reason": reason,
        }
    ]
    path = f"/organizations/{workspace.org.slug}/audit-log"
    (entry,) = [
        record
        for record in workspace.org.api("admin").get(f"{path}?target_id={item}").json["data"]
        if "assignee_team_id" in record["changes"] and record["actor"]["kind"] == "system"
    ]
    assert entry["changes"]["assignee_team_id"] == [team, None]
    # Nobody is told of what was not escalated.
    assert workspace.sql("SELECT FROM notifications WHERE message = 'escalations_returned'") == []


def test_a_team_with_another_reviewer_keeps_what_it_was_assigned(
    workspace: Workspace, work: Callable[[], None]
) -> None:
    workspace.org.add_user("last", "reviewer")
    team = create_team(workspace.org, "last", "reviewer")
    item = workspace.submitted()["id"]
    _assign(workspace, item, team_id=team)
    _leave(workspace, "last", team, "left the team")
    work()
    assert list_items(workspace)[item]["assignee_team_id"] == team
    assert workspace.events("reviews.returned") == []


@pytest.mark.parametrize("own_too", [False, True])
def test_a_team_that_has_only_the_labeler_left_has_nobody(
    workspace: Workspace, work: Callable[[], None], own_too: bool
) -> None:
    workspace.org.add_user("last", "reviewer")
    team = create_team(workspace.org, "last", "reviewer")
    own, others = workspace.submitted(by="reviewer")["id"], workspace.submitted()["id"]
    _assign(workspace, own, others, team_id=team)
    workspace.settings(allow_self_review=own_too)
    _leave(workspace, "last", team, "left")
    work()
    items = list_items(workspace)
    assert items[own]["assignee_team_id"] == (team if own_too else None)
    assert items[others]["assignee_team_id"] == team


@pytest.mark.parametrize("to_team", [True, False])
def test_the_admins_are_notified_once_of_escalated_reviews(
    workspace: Workspace, work: Callable[[], None], to_team: bool
) -> None:
    workspace.org.add_user("last", "reviewer")
    team = create_team(workspace.org, "last")
    last = str(workspace.org.users["last"])
    items = [workspace.submitted()["id"] for _ in range(2)]
    for item in items:
        path = f"/review-queue/{item}/escalate"
        to = {"team_id": team} if to_team else {"user_id": last}
        get_data(workspace.org.api("reviewer").post(path, json={**to, "reason": "Two totals?"}))
    _leave(workspace, "last", team, "left")
    work()
    shown = list_items(workspace)
    for item in items:
        assert shown[item]["escalated"]
        assert (shown[item]["assignee_id"], shown[item]["assignee_team_id"]) == (None, None)
    notifications = workspace.sql(
        "SELECT user_id, title, link FROM notifications WHERE message = 'escalations_returned'"
    )
    assert {(row.user_id, row.title, row.link) for row in notifications} == {
        (
            workspace.org.users[name],
            "2 escalated reviews are waiting for a decision",
            "/api/v1/review-queue?escalated=true",
        )
        for name in ("admin", "owner")
    }
    assert len(notifications) == 2
    escalated = workspace.org.api("admin").get("/review-queue?escalated=true").json["data"]
    assert {item["id"] for item in escalated} == set(items)


def test_whoever_came_back_meanwhile_keeps_what_they_were_assigned(
    workspace: Workspace, work: Callable[[], None]
) -> None:
    user_id = workspace.org.add_user("back", "reviewer")
    item = workspace.submitted()["id"]
    _assign(workspace, item, user_ids=[str(user_id)])
    for role in ("labeler", "reviewer"):
        set_role(workspace, "back", role)
    work()
    assert list_items(workspace)[item]["assignee_id"] == str(user_id)


def _return(workspace: Workspace, team: str) -> None:
    with workspace.transaction():
        unassigning.unassign_team(UUID(team), db.checkpoint, reason="team_left")


def test_a_thousand_reviews_are_returned_in_few_statements(workspace: Workspace) -> None:
    sent = []
    for count in (3, 300):
        team = str(make_team(workspace.org, f"Team {count}")["id"])
        ids = make_submitted_tag_sets(workspace, count, "labeler")
        workspace.sql(
            "UPDATE tag_sets SET assignee_team_id = :team WHERE id = ANY(CAST(:ids AS uuid[]))",
            team=team,
            ids=ids,
        )
        with record_statements(workspace.org.app) as statements:
            _return(workspace, team)
        sent.append(len(statements))
    assert sent[0] == sent[1]
    assert [len(event["tag_set_ids"]) for event in workspace.events("reviews.returned")] == [3, 300]


def test_an_interrupted_return_continues_and_reports_each_review_once(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(items, "BATCH_SIZE", 2)
    team = str(make_team(workspace.org)["id"])
    ids = make_submitted_tag_sets(workspace, 5, "labeler")
    workspace.sql("UPDATE tag_sets SET assignee_team_id = :team", team=team)
    batches = []

    def dies() -> None:
        batches.append(1)
        if len(batches) == 2:
            raise KeyboardInterrupt
        db.checkpoint()

    with pytest.raises(KeyboardInterrupt), workspace.transaction():
        unassigning.unassign_team(UUID(team), dies, reason="team_left")
    assert [len(event["tag_set_ids"]) for event in workspace.events("reviews.returned")] == [2]
    _return(workspace, team)
    returned = [data["tag_set_ids"] for data in workspace.events("reviews.returned")]
    assert sorted(chain.from_iterable(returned)) == sorted(ids)


def test_an_assignment_that_crosses_the_last_ones_leaving_is_returned_too(
    workspace: Workspace, work: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever leaves waits for the assignment that counts on them."""
    user_id = workspace.org.add_user("last", "reviewer")
    team = create_team(workspace.org, "last")
    item = workspace.submitted()["id"]
    leaving, lock_team = Event(), recipients.lock_eligible_team_members
    left: list[Thread] = []

    def crossed(team_id: UUID, role: Role) -> list[UUID]:
        able = lock_team(team_id, role)
        path = f"/teams/{team}/members/{user_id}"

        def leave() -> None:
            leaving.set()
            assert workspace.org.api("owner").delete(path).status_code == 204

        left.append(Thread(target=leave))
        left[0].start()
        assert leaving.wait(60)
        wait_for_blocked_transaction(workspace.org.app)
        return able

    monkeypatch.setattr(recipients, "lock_eligible_team_members", crossed)
    _assign(workspace, item, team_id=team)
    left[0].join(60)
    work()
    assert list_items(workspace)[item]["assignee_team_id"] is None
