"""Whom of a team a document goes to."""

from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from uuid import UUID

import pytest

from app.kit import db
from app.kit.permissions import Role
from app.workflow.routing_rules.service import routing
from tests.factories.routing import Router, where
from tests.factories.teams import make_team


def _list_assignees(router: Router, ids: list[UUID]) -> list[str | None]:
    return [router.get_assignee(item_id) for item_id in ids]


def _list_notes(router: Router, artifact_id: UUID) -> list[str | None]:
    rows = router.workspace.sql(
        "SELECT outcome FROM artifact_routings WHERE artifact_id = :i", i=artifact_id
    )
    return [row.outcome["note"] for row in rows]


def test_everyone_is_the_team_itself(router: Router) -> None:
    team = router.team("ann")
    router.rule(where("name", "equals", "a"), team_id=team, strategy="everyone")
    router.rule(team_id=team)
    ids = [router.workspace.artifact(name=name) for name in "ab"]
    router.route(*ids)
    assert _list_assignees(router, ids) == [team, team]


def test_by_turns_over_batches_and_through_comings_and_goings(router: Router) -> None:
    team = router.team("ann", "ben", "cas")
    router.rule(team_id=team, strategy="round_robin")
    ids = [router.workspace.artifact() for _ in range(9)]
    for artifact_id in ids[:4]:
        router.route(artifact_id)
    router.route(*ids[4:])
    assert Counter(_list_assignees(router, ids)) == {"ann": 3, "ben": 3, "cas": 3}
    turns = sorted(("ann", "ben", "cas"), key=lambda name: router.org.users[name])
    assert _list_assignees(router, ids) == turns * 3
    path = f"/teams/{team}/members/{router.org.users[turns[0]]}"
    assert router.org.api("admin").delete(path).status_code == 204
    more = [router.workspace.artifact() for _ in range(2)]
    router.route(*more)
    assert _list_assignees(router, more) == turns[1:]


def test_viewers_and_disabled_accounts_get_no_turn(router: Router) -> None:
    router.org.add_user("vic", "viewer")
    router.org.add_user("out", "labeler")
    team = router.team("ann", "vic", "out")
    router.workspace.sql(
        "UPDATE users SET disabled_at = now() WHERE id = :i", i=router.org.users["out"]
    )
    router.rule(team_id=team, strategy="round_robin")
    ids = [router.workspace.artifact() for _ in range(3)]
    router.route(*ids)
    assert _list_assignees(router, ids) == ["ann"] * 3


@pytest.mark.parametrize("strategy", ["round_robin", "least_loaded", "skills"])
def test_a_team_of_nobody_who_labels_gets_it_as_a_team(router: Router, strategy: str) -> None:
    router.org.add_user("vic", "viewer")
    team = router.team("vic")
    router.rule(team_id=team, strategy=strategy)
    artifact_id = router.workspace.artifact()
    router.route(artifact_id)
    assert router.get_assignee(artifact_id) == team
    assert _list_notes(router, artifact_id) == ["no_member_can_label"]


def test_the_least_loaded_by_what_is_open_and_what_was_just_given(router: Router) -> None:
    team = router.team("ann", "ben")
    ann = [{"user_id": str(router.org.users["ann"]), "team_id": None}]
    for _ in range(3):
        router.workspace.artifact(assignees=ann)
        router.workspace.artifact(assignees=ann, status="done")
    # A rule by name counts for the strategy of another one, in the same batch.
    router.rule(where("name", "equals", "named"), user_id=str(router.org.users["ben"]))
    router.rule(team_id=team, strategy="least_loaded")
    ids = [router.workspace.artifact(name=name) for name in ["named"] + ["x"] * 4]
    router.route(*ids)
    assert Counter(_list_assignees(router, ids)) == {"ben": 4, "ann": 1}
    assert _list_assignees(router, ids)[:3] == ["ben"] * 3


def test_one_batch_levels_what_people_have(router: Router) -> None:
    team = router.team("ann", "ben", "cas")
    loads = {"ann": 20, "ben": 4}
    for name, number in loads.items():
        assignee = [{"user_id": str(router.org.users[name]), "team_id": None}]
        for _ in range(number):
            router.workspace.artifact(assignees=assignee)
    router.rule(team_id=team, strategy="least_loaded")
    ids = [router.workspace.artifact() for _ in range(50)]
    router.route(*ids)
    for name, number in Counter(_list_assignees(router, ids)).items():
        loads[name] = loads.get(name, 0) + number
    assert sorted(loads.values()) == [24, 25, 25]


def test_batches_at_once_count_what_the_others_assigned(router: Router) -> None:
    team = router.team("ann", "ben", "cas")
    ann = [{"user_id": str(router.org.users["ann"]), "team_id": None}]
    for _ in range(8):
        router.workspace.artifact(assignees=ann)
    router.rule(team_id=team, strategy="least_loaded")
    ids = [router.workspace.artifact() for _ in range(40)]
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda part: router.route(*part), [ids[n::4] for n in range(4)]))
    assert Counter(_list_assignees(router, ids)) == {"ann": 8, "ben": 16, "cas": 16}


def test_by_skill_among_all_teams_under_it(router: Router) -> None:
    top = router.team("ann", name="Top", skills=["Leases"])
    under = router.team("ben", name="Under", parent_id=top, skills=["DUTCH"])
    router.team("cas", name="Lowest", parent_id=under, skills=["leases"])
    elsewhere = router.team("ben", "dot", name="Elsewhere", skills=["leases", "dutch"])
    router.rule(team_id=top, strategy="skills")
    schema = router.workspace.schema()
    router.workspace.require_skills(schema, "dutch", "leases")
    ids = [router.workspace.artifact(schema) for _ in range(2)]
    router.route(*ids)
    # Only ben has both, one of them by a team elsewhere; dot is in no team under the top.
    assert _list_assignees(router, ids) == ["ben", "ben"]
    router.workspace.require_skills(schema, "leases")
    ids = [router.workspace.artifact(schema) for _ in range(4)]
    router.route(*ids)
    assert Counter(_list_assignees(router, ids)) == {"ann": 2, "cas": 2}
    router.workspace.require_skills(schema, "latin")
    nobody = router.workspace.artifact(schema)
    router.route(nobody)
    assert router.get_assignee(nobody) is None
    assert _list_notes(router, nobody) == ["no_member_has_the_skills"]
    assert elsewhere != top


def test_the_skills_are_those_of_the_schema_that_the_rule_gives(router: Router) -> None:
    team = router.team("ann", "ben")
    router.team("ben", name="Skilled", skills=["latin"])
    schema = router.workspace.schema()
    router.workspace.require_skills(schema, "latin")
    router.rule(team_id=team, strategy="skills", schema_id=str(schema))
    ids = [router.workspace.artifact() for _ in range(2)]
    router.route(*ids)
    assert _list_assignees(router, ids) == ["ben", "ben"]


def test_a_user_who_became_a_viewer_gets_nothing_more(router: Router) -> None:
    router.org.add_user("ann", "labeler")
    rule = router.rule(user_id=str(router.org.users["ann"]), priority=77)
    router.workspace.sql(
        "UPDATE memberships SET role = 'viewer' WHERE user_id = :i", i=router.org.users["ann"]
    )
    artifact_id = router.workspace.artifact()
    router.route(artifact_id)
    assert router.get_assignee(artifact_id) is None
    assert _list_notes(router, artifact_id) == ["user_cannot_label"]
    assert router.artifact(artifact_id)["priority"] == 77
    assert router.read(rule)["enabled"]  # The job that disables it has not run yet.


def test_somebody_who_leaves_while_a_batch_is_routed_gets_nothing(
    router: Router, monkeypatch: pytest.MonkeyPatch
) -> None:
    team = router.team("ann", "ben")
    router.rule(team_id=team, strategy="round_robin")
    lock, left = routing.lock_eligible_members, []

    def lock_late(user_ids: Any, role: Role) -> set[UUID]:
        if not left:
            left.append(1)
            path = f"/organizations/{router.org.slug}/members/{router.org.users['ann']}"
            with ThreadPoolExecutor(1) as pool:
                answer = pool.submit(lambda: router.org.api("owner").delete(path)).result()
            assert answer.status_code == 204
        return lock(user_ids, role)

    monkeypatch.setattr(routing, "lock_eligible_members", lock_late)
    ids = [router.workspace.artifact() for _ in range(4)]
    router.route(*ids)
    assert _list_assignees(router, ids) == ["ben"] * 4


def test_two_batches_at_once_take_turns(router: Router) -> None:
    team = router.team("ann", "ben", "cas")
    rule = router.rule(team_id=team, strategy="round_robin")
    ids = [router.workspace.artifact() for _ in range(60)]
    with ThreadPoolExecutor(4) as pool:
        routed = list(pool.map(lambda part: router.route(*part), [ids[i::6] for i in range(6)]))
    assert sum(routed) == 60
    assert Counter(_list_assignees(router, ids)) == {"ann": 20, "ben": 20, "cas": 20}
    assert router.read(rule)["match_count"] == 60


def test_what_comes_in_twice_at_once_is_routed_once(router: Router) -> None:
    team = router.team("ann", "ben")
    rule = router.rule(team_id=team, strategy="least_loaded")
    ids = [router.workspace.artifact() for _ in range(20)]
    with ThreadPoolExecutor(3) as pool:
        routed = list(pool.map(lambda part: router.route(*part), [ids, ids[::-1], ids]))
    assert sorted(routed) == [0, 0, 20]
    assert Counter(_list_assignees(router, ids)) == {"ann": 10, "ben": 10}
    assert router.read(rule)["match_count"] == 20


def test_a_rule_edited_meanwhile_holds_for_the_next_batch(
    router: Router, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(routing, "BATCH_SIZE", 5)
    rule = router.rule(priority=10)
    ids = [router.workspace.artifact() for _ in range(10)]
    edited: list[Any] = []

    def checkpoint() -> None:
        db.checkpoint()
        if not edited:
            path, body = f"/routing-rules/{rule['id']}", {"action": {"priority": 20}}
            with ThreadPoolExecutor(1) as pool:
                edited.append(
                    pool.submit(lambda: router.org.api("admin").patch(path, json=body)).result()
                )

    with router.workspace.transaction():
        routing.route_unassigned(checkpoint)
    assert edited[0].status_code == 200
    assert [router.artifact(item_id)["priority"] for item_id in ids] == [10] * 5 + [20] * 5
    assert router.read(rule)["match_count"] == 10


def test_a_team_that_is_deleted_while_it_is_given_work_keeps_none(
    router: Router, work: Callable[[], None]
) -> None:
    team = make_team(router.org)["id"]
    router.rule(team_id=team)
    ids = [router.workspace.artifact() for _ in range(30)]
    with ThreadPoolExecutor(2) as pool:
        deleted = pool.submit(lambda: router.org.api("admin").delete(f"/teams/{team}"))
        list(pool.map(router.route, ids))
    assert deleted.result().status_code == 204
    work()
    assert _list_assignees(router, ids) == [None] * 30
