"""Documents assigned to people and teams: one, many by id, all that a filter finds."""

from collections import Counter
from typing import Any
from uuid import UUID

import pytest

from app.kit.ids import uuid7
from app.workflow.assignment.service.recipients import RecipientPool
from tests.factories import Org
from tests.factories.errors import check_conflict, check_error, check_invalid_field, check_stale
from tests.factories.teams import create_team, make_team
from tests.factories.workspace import Workspace
from tests.workflow.assignment.conftest import assign, get_user_ids

BULK = "/artifacts/bulk-assign"


def _bulk_assign(workspace: Workspace, **body: Any) -> Any:
    return workspace.org.api("reviewer").post(BULK, json=body)


def _build_user_assignee(user_id: str) -> dict[str, Any]:
    return {"user_id": user_id, "team_id": None}


def _assignees(workspace: Workspace) -> dict[UUID, list[Any]]:
    return {r.id: r.assignees for r in workspace.sql("SELECT id, assignees FROM artifacts")}


def test_to_people_in_the_place_of_others(workspace: Workspace) -> None:
    artifact = workspace.artifact()
    both = get_user_ids(workspace, "labeler", "admin")
    answer = assign(workspace, artifact, user_ids=[*both, both[0]], due_at="2026-12-31T22:00:00Z")
    assert answer.status_code == 200
    data = answer.json["data"]
    assert data["assignees"] == [_build_user_assignee(one) for one in both]
    assert (data["due_at"], data["revision"]) == ("2026-12-31T22:00:00Z", 2)
    again = assign(workspace, artifact, user_ids=both[1:]).json["data"]
    # The time stays, and an assignment is no edit of what a writer may send.
    assert (again["assignees"], again["due_at"]) == (
        [_build_user_assignee(both[1])],
        data["due_at"],
    )
    assert again["revision"] == 2
    assert assign(workspace, artifact, user_ids=[], due_at=None).json["data"]["due_at"] is None
    assert _assignees(workspace) == {artifact: []}
    assert workspace.events("artifacts.assigned")[0] == {
        "artifact_ids": [str(artifact)],
        "user_ids": both,
        "team_ids": [],
        "count": 1,
        "counts": {},
        "by": str(workspace.org.users["reviewer"]),
        "due_at": "2026-12-31T22:00:00+00:00",
    }


def test_the_revision_is_checked_when_it_is_sent(workspace: Workspace) -> None:
    artifact, (labeler, admin) = workspace.artifact(), get_user_ids(workspace, "labeler", "admin")
    due = "2026-12-31T22:00:00Z"
    answer = assign(workspace, artifact, user_ids=[labeler], due_at=due, revision=1)
    assert (answer.status_code, answer.headers["ETag"]) == (200, '"2"')
    for sent in (
        {"json": {"user_ids": [admin], "revision": 1}},
        {"json": {"user_ids": [admin]}, "headers": {"If-Match": '"1"'}},
    ):
        answer = workspace.org.api("reviewer").post(f"/artifacts/{artifact}/assign", **sent)
        assert "field" not in check_stale(answer, 2)
    assert _assignees(workspace)[artifact] == [_build_user_assignee(labeler)]
    unknown = assign(workspace, uuid7(), user_ids=[admin], revision=1)
    check_error(unknown, 404, "not_found", field=None)


def test_to_a_team(workspace: Workspace) -> None:
    artifact, team = workspace.artifact(), make_team(workspace.org)["id"]
    data = assign(workspace, artifact, team_id=team).json["data"]
    assert data["assignees"] == [{"user_id": None, "team_id": team}]
    (event,) = workspace.events("artifacts.assigned")
    assert (event["user_ids"], event["team_ids"], event["count"]) == ([], [team], 1)


def test_who_works_on_it_goes_on(workspace: Workspace) -> None:
    artifact = workspace.artifact()
    draft = workspace.draft(artifact)
    data = assign(workspace, artifact, user_ids=get_user_ids(workspace, "admin")).json["data"]
    assert data["claim"]["user_id"] == str(workspace.org.users["labeler"])
    assert workspace.save(draft, []).status_code == 200


def test_only_members_who_label_and_teams_of_the_organization(
    workspace: Workspace, other_org: Org
) -> None:
    artifact = workspace.artifact()
    known = get_user_ids(workspace, "labeler")
    for stranger in (
        str(uuid7()),
        str(workspace.org.users["viewer"]),
        str(other_org.users["labeler"]),
    ):
        for answer in (
            assign(workspace, artifact, user_ids=[*known, stranger]),
            _bulk_assign(workspace, artifact_ids=[str(artifact)], user_ids=[*known, stranger]),
        ):
            check_invalid_field(answer, "user_ids.1")
    for team in (str(uuid7()), make_team(other_org)["id"]):
        check_invalid_field(assign(workspace, artifact, team_id=team), "team_id")
    assert _assignees(workspace) == {artifact: []}
    assert workspace.events("artifacts.assigned") == []


def test_what_there_is_nothing_to_label_of(workspace: Workspace) -> None:
    me = get_user_ids(workspace, "labeler")
    for members, state in (
        ({"status": "done"}, "done"),
        ({"status": "failed"}, "failed"),
        ({"archived": True}, "archived"),
    ):
        artifact = workspace.artifact(**members)
        error = check_conflict(assign(workspace, artifact, user_ids=me), state=state)
        assert "field" not in error
        assert assign(workspace, artifact, user_ids=[]).status_code == 200


def test_who_may(workspace: Workspace, other_org: Org) -> None:
    artifact = workspace.artifact()
    assert assign(workspace, artifact, by="labeler", user_ids=[]).status_code == 403
    foreign = Workspace(other_org).artifact()
    check_error(assign(workspace, foreign, user_ids=[]), 404, "not_found", field=None)


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "user_ids"),
        ({"user_ids": [], "team_id": str(uuid7())}, "user_ids"),
        ({"user_ids": [], "strategy": "random"}, "strategy"),
        ({"user_ids": [str(uuid7())] * 101}, "user_ids"),
    ],
)
def test_bodies_that_are_refused(workspace: Workspace, body: dict[str, Any], field: str) -> None:
    answer = _bulk_assign(workspace, artifact_ids=[], **body)
    check_error(answer, 422, "unprocessable", field=field)


def test_many_by_id_each_with_its_outcome(workspace: Workspace, other_org: Org) -> None:
    schema, me = workspace.schema(), get_user_ids(workspace, "labeler")
    good, done = workspace.artifact(schema), workspace.artifact(schema, status="done")
    foreign, absent = Workspace(other_org).artifact(), uuid7()
    ids = [str(one) for one in (done, good, absent, foreign, good)]
    answer = _bulk_assign(workspace, artifact_ids=ids, user_ids=me)
    data = answer.json["data"]
    assert (data["matched"], data["succeeded"], data["failed"]) == (4, 1, 3)
    outcomes = [(outcome["id"], outcome["ok"], outcome["code"]) for outcome in data["outcomes"]]
    assert outcomes == [
        (ids[0], False, "conflict"),
        (ids[1], True, None),
        (ids[2], False, "not_found"),
        (ids[3], False, "not_found"),
    ]
    assert _assignees(workspace) == {good: [_build_user_assignee(me[0])], done: []}
    (event,) = workspace.events("artifacts.assigned")
    assert (event["artifact_ids"], event["count"]) == ([ids[1]], 1)


def test_all_that_a_filter_finds(workspace: Workspace) -> None:
    schema, me = workspace.schema(), get_user_ids(workspace, "labeler", "admin")
    wanted = {workspace.artifact(schema) for _ in range(3)}
    done, other = workspace.artifact(schema, status="done"), workspace.artifact()
    chosen = {"filter": {"schema_id": str(schema)}, "user_ids": me}
    error = check_conflict(_bulk_assign(workspace, **chosen, expected_count=3), count=4)
    assert "field" not in error
    assert set(map(len, _assignees(workspace).values())) == {0}
    data = _bulk_assign(workspace, **chosen, expected_count=4).json["data"]
    assert (data["matched"], data["succeeded"], data["failed"]) == (4, 3, 1)
    assert [outcome["id"] for outcome in data["outcomes"]] == [str(done)]
    both = [_build_user_assignee(one) for one in me]
    expected = dict.fromkeys(wanted, both) | {done: [], other: []}
    assert _assignees(workspace) == expected
    (event,) = workspace.events("artifacts.assigned")
    assert set(event["artifact_ids"]) == {str(one) for one in wanted}


def test_a_huge_number_that_is_expected_is_just_another(workspace: Workspace) -> None:
    workspace.artifact()
    answer = _bulk_assign(
        workspace,
        filter={},
        expected_count=2**31 - 1,
        user_ids=get_user_ids(workspace, "admin", "labeler"),
        strategy="round_robin",
    )
    assert "field" not in check_conflict(answer, count=1)


def test_by_turns_in_the_order_of_urgency(workspace: Workspace) -> None:
    schema, people = workspace.schema(), get_user_ids(workspace, "admin", "labeler")
    made = [workspace.artifact(schema, priority=priority) for priority in (1, 5, 3, 4, 2)]
    workspace.artifact(schema, status="done", priority=6)
    answer = _bulk_assign(
        workspace,
        filter={"schema_id": str(schema)},
        expected_count=6,
        user_ids=people,
        strategy="round_robin",
    )
    assert answer.json["data"]["succeeded"] == 5
    assignees = _assignees(workspace)
    urgent = [made[1], made[3], made[2], made[4], made[0]]
    assert [assignees[one] for one in urgent] == [
        [_build_user_assignee(people[n % 2])] for n in range(5)
    ]
    (event,) = workspace.events("artifacts.assigned")
    assert (event["user_ids"], event["counts"]) == (people, {people[0]: 3, people[1]: 2})


def test_to_who_has_least_to_do_of_a_team(workspace: Workspace) -> None:
    org, schema = workspace.org, workspace.schema()
    team = create_team(org, "labeler", "admin", "viewer")
    labeler, admin = get_user_ids(workspace, "labeler", "admin")
    for _ in range(3):
        workspace.artifact(schema, assignees=[_build_user_assignee(labeler)])
    # What is done weighs nothing.
    workspace.artifact(schema, assignees=[_build_user_assignee(admin)], status="done")
    ids = [str(workspace.artifact(schema)) for _ in range(5)]
    answer = _bulk_assign(workspace, artifact_ids=ids, team_id=team, strategy="least_loaded")
    assert answer.json["data"]["succeeded"] == 5
    (event,) = workspace.events("artifacts.assigned")
    assert event["counts"] == {labeler: 1, admin: 4}
    assert event["team_ids"] == []
    assignees = _assignees(workspace)
    loads = Counter(assignees[UUID(item_id)][0]["user_id"] for item_id in ids)
    assert loads == {labeler: 1, admin: 4}


def test_a_team_without_labelers_takes_none_by_turns(workspace: Workspace) -> None:
    team = make_team(workspace.org)["id"]
    body = {"artifact_ids": [str(workspace.artifact())], "team_id": team}
    check_invalid_field(_bulk_assign(workspace, **body, strategy="round_robin"), "team_id")
    assert _bulk_assign(workspace, **body).json["data"]["succeeded"] == 1


def test_the_least_loaded_labeler_is_next() -> None:
    first, second, third = (uuid7() for _ in range(3))
    loads = Counter({first: 4, second: 0, third: 2})
    pool = RecipientPool([first, second, third], loads)
    chosen = []
    for _ in range(9):
        user_id = pool.find_least_loaded()
        assert user_id is not None
        loads[user_id] += 1
        chosen.append(user_id)
    assert chosen == [second, second, second, third, second, third, first, second, third]
    loads[first] += 10  # Assigned through another pool.
    assert pool.find_least_loaded() == second
    assert RecipientPool([], loads).find_least_loaded() is None


def test_the_least_loaded_labeler_who_is_not_excluded_is_next() -> None:
    first, second, third = (uuid7() for _ in range(3))
    loads = Counter({first: 1, second: 0, third: 2})
    pool = RecipientPool([first, second, third], loads)
    assert pool.find_least_loaded({second}) == first
    assert pool.find_least_loaded({second, first, None}) == third
    assert pool.find_least_loaded({second, first, third}) is None
    loads[second] += 3
    assert pool.find_least_loaded({first}) == third
    assert pool.find_least_loaded() == first


def _list_event_artifact_ids(workspace: Workspace) -> list[list[str]]:
    """Return the documents of each event of their assignment; an event has them in no order."""
    return [sorted(event["artifact_ids"]) for event in workspace.events("artifacts.assigned")]


def test_each_transaction_emits_an_event_about_its_own_documents(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.kit.bulk.BATCH_SIZE", 2)
    schema = workspace.schema()
    ids = [str(workspace.artifact(schema)) for _ in range(3)]
    body = {"filter": {}, "expected_count": 3, "user_ids": get_user_ids(workspace, "labeler")}
    assert _bulk_assign(workspace, **body).status_code == 200
    assert _list_event_artifact_ids(workspace) == [ids[:2], ids[2:]]


def test_nobody_is_notified_of_documents_that_they_had_already(workspace: Workspace) -> None:
    schema, users = workspace.schema(), get_user_ids(workspace, "labeler", "reviewer")
    ids = [str(workspace.artifact(schema)) for _ in range(3)]

    def assign_all(ids: list[str], people: list[str]) -> list[list[str]]:
        before = len(_list_event_artifact_ids(workspace))
        result = _bulk_assign(workspace, artifact_ids=ids, user_ids=people).json["data"]
        assert result["succeeded"] == len(ids)
        return _list_event_artifact_ids(workspace)[before:]

    assert assign_all(ids[:2], users) == [ids[:2]]
    assert assign_all(ids, users[::-1]) == [ids[2:]]
    assert assign_all(ids, users) == []
    # The remaining assignee had them too, and nobody is notified of an unassignment.
    assert assign_all(ids, users[:1]) == []
    assert assign_all(ids[2:], []) == []
    assert assign_all(ids[2:], users[:1]) == [ids[2:]]
    assert workspace.org.api("labeler").post(f"/artifacts/{ids[1]}/claim").status_code == 200
    answer = workspace.org.api("labeler").post(
        f"/artifacts/{ids[1]}/release", {"reason": "Blurred"}
    )
    assert answer.status_code == 200, answer.json
    assert assign_all(ids, users[:1]) == [ids[1:2]]
