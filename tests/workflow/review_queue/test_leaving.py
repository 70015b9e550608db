"""What becomes of claims and assignments when time, people and teams go."""

from collections.abc import Callable
from threading import Event, Thread
from time import monotonic, sleep
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import text

from app.kit import db, tenancy
from app.kit.permissions import Role
from app.workflow.assignment.service import recipients
from app.workflow.review_queue import service
from app.workflow.review_queue.queries import items
from tests.factories.desk import Desk
from tests.factories.statements import record_statements
from tests.factories.submitted import make_submitted
from tests.factories.teams import add_members, make_team


def _assign(desk: Desk, ids: list[str], **to: Any) -> None:
    body = {"tag_set_ids": ids, **to}
    answer = desk.org.api("admin").post("/review-queue/bulk-assign", json=body)
    assert answer.json["data"]["failed"] == 0, answer.json


def _items(desk: Desk) -> dict[str, Any]:
    return {item["id"]: item for item in desk.org.api("admin").get("/review-queue").json["data"]}


def _expire(desk: Desk) -> int:
    with (
        desk.org.app.app_context(),
        tenancy.across_organizations(reason="as the job does"),
        db.transaction(),
    ):
        return items.expire_claims()


def test_claims_that_ran_out_are_ended(desk: Desk) -> None:
    expired, live = desk.submitted()["id"], desk.submitted()["id"]
    for item_id in (expired, live):
        desk.org.api("reviewer").post(f"/review-queue/{item_id}/claim")
    desk.sql(
        "UPDATE tag_sets SET claim_expires_at = now() - interval '1 second' WHERE id = :id",
        id=expired,
    )
    assert _expire(desk) >= 1
    rows = desk.sql("SELECT id, claim_user_id, updated_at, created_at FROM tag_sets")
    assert {str(r.id): r.claim_user_id for r in rows} == {
        expired: None,
        live: desk.org.users["reviewer"],
    }


def test_reviews_of_a_deleted_team_are_everybodys_again(
    desk: Desk, work: Callable[[], None]
) -> None:
    desk.org.add_user("other", "reviewer")
    api = desk.org.api("admin")
    teams = [api.post("/teams", json={"name": name}).json["data"]["id"] for name in ("A", "B")]
    for team in teams:
        user_ids = [str(desk.org.users["reviewer"])]
        api.post(f"/teams/{team}/members", json={"user_ids": user_ids})
    gone, kept = desk.submitted()["id"], desk.submitted()["id"]
    _assign(desk, [gone], team_id=teams[0])
    _assign(desk, [kept], team_id=teams[1])
    assert api.delete(f"/teams/{teams[0]}").status_code == 204
    work()
    items = _items(desk)
    assert (items[gone]["assignee_team_id"], items[kept]["assignee_team_id"]) == (None, teams[1])
    drawn = desk.org.api("other").post("/review-queue/next", json={}).json["data"]
    assert drawn["id"] == gone


def test_who_does_not_review_any_more_gives_back_what_they_had(
    desk: Desk, work: Callable[[], None]
) -> None:
    for role in ("labeler", "admin", None):
        name = f"becomes {role}"
        user_id = desk.org.add_user(name.replace(" ", "-"), "reviewer")
        held, assigned = desk.submitted()["id"], desk.submitted()["id"]
        _assign(desk, [assigned], user_ids=[str(user_id)])
        desk.org.api(name.replace(" ", "-")).post(f"/review-queue/{held}/claim")
        path = f"/organizations/{desk.org.slug}/members/{user_id}"
        owner = desk.org.api("owner")
        answer = owner.patch(path, json={"role": role}) if role else owner.delete(path)
        assert answer.status_code in (200, 204), answer.json
        work()
        items = _items(desk)
        stays = role == "admin"
        assert (items[assigned]["assignee_id"] == str(user_id)) is stays, role
        assert (items[held]["claim"] is not None) is stays, role


def _team(desk: Desk, *names: str) -> str:
    return str(add_members(desk.org, make_team(desk.org), *names)["id"])


def _leave(desk: Desk, name: str, team: str, how: str) -> None:
    """Take somebody out of the team, in one way or another."""
    user_id, owner = desk.org.users[name], desk.org.api("owner")
    member = f"/organizations/{desk.org.slug}/members/{user_id}"
    answer = {
        "left the team": lambda: owner.delete(f"/teams/{team}/members/{user_id}"),
        "left": lambda: owner.delete(member),
        "was lowered": lambda: owner.patch(member, json={"role": "labeler"}),
        "was deleted": lambda: owner.delete(f"/teams/{team}"),
    }[how]()
    assert answer.status_code in (200, 204), answer.json


_HOWS = {
    "left the team": "team_left",
    "left": "member_removed",
    "was lowered": "role_changed",
    "was deleted": "team_deleted",
}


@pytest.mark.parametrize(("how", "reason"), _HOWS.items())
def test_what_a_team_has_nobody_left_for_is_everybodys_again(
    desk: Desk, work: Callable[[], None], how: str, reason: str
) -> None:
    desk.org.add_user("last", "reviewer")
    team = _team(desk, "last", "labeler")
    item = desk.submitted()["id"]
    _assign(desk, [item], team_id=team)
    assert desk.org.api("reviewer").post("/review-queue/next", json={}).json["data"] is None
    _leave(desk, "last", team, how)
    work()
    drawn = desk.org.api("reviewer").post("/review-queue/next", json={}).json["data"]
    assert drawn["id"] == item
    assert desk.events("reviews.returned") == [
        {
            "tag_set_ids": [item],
            "escalated_ids": [],
            "user_id": None,
            "team_id": team,
            "reason": reason,
        }
    ]
    path = f"/organizations/{desk.org.slug}/audit-log"
    (entry,) = [
        one
        for one in desk.org.api("admin").get(f"{path}?target_id={item}").json["data"]
        if "assignee_team_id" in one["changes"] and one["actor"]["kind"] == "system"
    ]
    assert entry["changes"]["assignee_team_id"] == [team, None]
    # Nobody is told of what was not escalated.
    assert desk.sql("SELECT FROM notifications WHERE message = 'escalations_returned'") == []


def test_a_team_with_another_reviewer_keeps_what_it_was_assigned(
    desk: Desk, work: Callable[[], None]
) -> None:
    desk.org.add_user("last", "reviewer")
    team = _team(desk, "last", "reviewer")
    item = desk.submitted()["id"]
    _assign(desk, [item], team_id=team)
    _leave(desk, "last", team, "left the team")
    work()
    assert _items(desk)[item]["assignee_team_id"] == team
    assert desk.events("reviews.returned") == []


@pytest.mark.parametrize("own_too", [False, True])
def test_a_team_that_has_only_the_labeler_left_has_nobody(
    desk: Desk, work: Callable[[], None], own_too: bool
) -> None:
    desk.org.add_user("last", "reviewer")
    team = _team(desk, "last", "reviewer")
    own, others = desk.submitted(by="reviewer")["id"], desk.submitted()["id"]
    _assign(desk, [own, others], team_id=team)
    desk.settings(allow_self_review=own_too)
    _leave(desk, "last", team, "left")
    work()
    items = _items(desk)
    assert items[own]["assignee_team_id"] == (team if own_too else None)
    assert items[others]["assignee_team_id"] == team


@pytest.mark.parametrize("to_team", [True, False])
def test_of_what_was_escalated_the_admins_are_told_once(
    desk: Desk, work: Callable[[], None], to_team: bool
) -> None:
    desk.org.add_user("last", "reviewer")
    team = _team(desk, "last")
    last = str(desk.org.users["last"])
    items = [desk.submitted()["id"] for _ in range(2)]
    for item in items:
        path = f"/review-queue/{item}/escalate"
        to = {"team_id": team} if to_team else {"user_id": last}
        answer = desk.org.api("reviewer").post(path, json={**to, "reason": "Two totals?"})
        assert answer.status_code == 200, answer.json
    _leave(desk, "last", team, "left")
    work()
    found = _items(desk)
    for item in items:
        assert found[item]["escalated"]
        assert (found[item]["assignee_id"], found[item]["assignee_team_id"]) == (None, None)
    told = desk.sql(
        "SELECT user_id, title, link FROM notifications WHERE message = 'escalations_returned'"
    )
    assert {(row.user_id, row.title, row.link) for row in told} == {
        (
            desk.org.users[name],
            "2 escalated reviews are waiting for a decision",
            "/api/v1/review-queue?escalated=true",
        )
        for name in ("admin", "owner")
    }
    assert len(told) == 2
    shown = desk.org.api("admin").get("/review-queue?escalated=true").json["data"]
    assert {one["id"] for one in shown} == set(items)


def test_whoever_came_back_meanwhile_keeps_what_they_were_assigned(
    desk: Desk, work: Callable[[], None]
) -> None:
    user_id = desk.org.add_user("back", "reviewer")
    item = desk.submitted()["id"]
    _assign(desk, [item], user_ids=[str(user_id)])
    path = f"/organizations/{desk.org.slug}/members/{user_id}"
    for role in ("labeler", "reviewer"):
        assert desk.org.api("owner").patch(path, json={"role": role}).status_code == 200
    work()
    assert _items(desk)[item]["assignee_id"] == str(user_id)


def _return(desk: Desk, team: str) -> None:
    with desk.org.app.app_context(), tenancy.organization(desk.org.id), db.transaction():
        service.release_team(UUID(team), db.checkpoint, reason="team_left")


def test_a_thousand_reviews_are_returned_in_few_statements(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent = []
    for count in (3, 300):
        team = str(make_team(desk.org, f"Team {count}")["id"])
        ids = make_submitted(desk, count, "labeler")
        desk.sql(
            "UPDATE tag_sets SET assignee_team_id = :team WHERE id = ANY(CAST(:ids AS uuid[]))",
            team=team,
            ids=ids,
        )
        with record_statements(desk.org.app) as found:
            _return(desk, team)
        sent.append(len(found))
    assert sent[0] == sent[1]
    assert [len(one["tag_set_ids"]) for one in desk.events("reviews.returned")] == [3, 300]


def test_a_return_that_is_broken_off_goes_on_and_tells_of_each_once(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(items, "BATCH", 2)
    team = str(make_team(desk.org)["id"])
    ids = make_submitted(desk, 5, "labeler")
    desk.sql("UPDATE tag_sets SET assignee_team_id = :team", team=team)
    batches = []

    def dies() -> None:
        batches.append(1)
        if len(batches) == 2:
            raise KeyboardInterrupt
        db.checkpoint()

    with (
        pytest.raises(KeyboardInterrupt),
        desk.org.app.app_context(),
        tenancy.organization(desk.org.id),
        db.transaction(),
    ):
        service.release_team(UUID(team), dies, reason="team_left")
    assert [len(one["tag_set_ids"]) for one in desk.events("reviews.returned")] == [2]
    _return(desk, team)
    told = [one for data in desk.events("reviews.returned") for one in data["tag_set_ids"]]
    assert sorted(told) == sorted(ids)


def test_an_assignment_that_crosses_the_last_ones_leaving_is_returned_too(
    desk: Desk, work: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever leaves waits for the assignment that counts on them."""
    user_id = desk.org.add_user("last", "reviewer")
    team = _team(desk, "last")
    item = desk.submitted()["id"]
    leaving, lock_team = Event(), recipients.lock_eligible_of_team
    left: list[Thread] = []

    def crossed(team_id: UUID, role: Role) -> list[UUID]:
        able = lock_team(team_id, role)
        path = f"/teams/{team}/members/{user_id}"

        def leave() -> None:
            leaving.set()
            assert desk.org.api("owner").delete(path).status_code == 204

        left.append(Thread(target=leave))
        left[0].start()
        assert leaving.wait(60)
        _until_somebody_waits(desk)
        return able

    monkeypatch.setattr(recipients, "lock_eligible_of_team", crossed)
    _assign(desk, [item], team_id=team)
    left[0].join(60)
    work()
    assert _items(desk)[item]["assignee_team_id"] is None


def _until_somebody_waits(desk: Desk) -> None:
    waiting = "SELECT FROM pg_locks WHERE NOT granted AND locktype = 'transactionid'"
    deadline = monotonic() + 8.0
    with desk.org.app.app_context(), db.engine().connect() as beside:
        while beside.execute(text(waiting)).first() is None:
            assert monotonic() < deadline, "nobody waits"
            beside.rollback()
            sleep(0.01)
