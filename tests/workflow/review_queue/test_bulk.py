"""Verdicts on many items at once, and handing many out: each by the rules of a single one."""

from typing import Any

import pytest
from flask import Flask

from app.kit.ids import uuid7
from tests.factories import Org
from tests.factories.orgs import get_data
from tests.factories.statements import record_statements
from tests.factories.teams import create_team, make_team
from tests.factories.workspace import Workspace, counts
from tests.workflow.actions import accept, get_tag_set
from tests.workflow.review_queue.conftest import assign, list_items, update_tag_set


@pytest.fixture
def schema(workspace: Workspace) -> Any:
    """What the items are labeled by; there are two reviewers."""
    workspace.org.add_user("other", "reviewer")
    return workspace.schema()


def _bulk(
    workspace: Workspace, what: str, ids: list[str], by: str = "reviewer", **body: Any
) -> Any:
    body = {"tag_set_ids": ids, **body}
    result = get_data(workspace.org.api(by).post(f"/review-queue/bulk-{what}", json=body))
    assert [outcome["id"] for outcome in result["outcomes"]] == list(dict.fromkeys(ids))
    assert result["succeeded"] + result["failed"] == result["matched"] == len(result["outcomes"])
    return result


def _list_codes(result: Any) -> list[str | None]:
    return [outcome["code"] for outcome in result["outcomes"]]


def _get_status(workspace: Workspace, tag_set: dict[str, Any]) -> str:
    return str(get_tag_set(workspace, tag_set)["status"])


def test_many_are_accepted_as_one_is(workspace: Workspace, schema: Any) -> None:
    sent = [workspace.submitted(workspace.artifact(schema)) for _ in range(3)]
    ids = [one["id"] for one in sent]
    result = _bulk(workspace, "accept", [*ids, ids[0]], note="Good")
    assert (result["succeeded"], _list_codes(result)) == (3, [None] * 3)
    for one in sent:
        read = get_tag_set(workspace, one)
        assert (read["status"], read["reason"]) == ("accepted", "Good")
        assert read["reviewer"]["id"] == str(workspace.org.users["reviewer"])
        assert read["revision"] == one["revision"] + 1
        kept = workspace.revisions(one["id"])
        assert [r.number for r in kept] == [1, 2, 3, 4]
        assert (kept[-1].kind, kept[-1].note, kept[-1].tags) == ("accept", "Good", one["tags"])
        assert kept[-1].author_id == workspace.org.users["reviewer"]
        row = workspace.artifact_row(one["artifact_id"])
        assert (row.status, row.label_counts) == ("done", counts(accepted=1))
    names = ("artifact_id", "schema_id", "schema_version_id")
    events = sorted(
        workspace.events("tag_set.accepted"), key=lambda data: ids.index(data["tag_set_id"])
    )
    assert events == [
        {
            "tag_set_id": one["id"],
            **{name: one[name] for name in names},
            "labeler_id": str(workspace.org.users["labeler"]),
            "reviewer_id": str(workspace.org.users["reviewer"]),
            "corrected": False,
        }
        for one in sent
    ]


def test_each_that_may_not_be_accepted_says_why_and_undoes_no_other(
    workspace: Workspace, schema: Any, other_org: Org
) -> None:
    good, claimed, assigned, team, decided = (
        workspace.submitted(workspace.artifact(schema)) for _ in range(5)
    )
    own = workspace.submitted(workspace.artifact(schema), by="reviewer")
    workspace.org.api("other").post(f"/review-queue/{claimed['id']}/claim")
    update_tag_set(workspace, assigned["id"], assignee_id=workspace.org.users["other"])
    update_tag_set(workspace, team["id"], assignee_team_id=make_team(workspace.org)["id"])
    accept(workspace, decided, by="other")
    foreign = Workspace(other_org).submitted()
    draft = workspace.draft(workspace.artifact(schema))
    asked = [foreign, own, claimed, assigned, team, decided, draft, good]
    result = _bulk(workspace, "accept", [one["id"] for one in asked] + [str(uuid7())])
    conflicts = ["conflict"] * 5
    assert _list_codes(result) == ["not_found", "permission_denied", *conflicts, None, "not_found"]
    messages = [outcome["message"] for outcome in result["outcomes"]]
    assert len(set(messages[1:7])) == 6
    assert [_get_status(workspace, one) for one in (claimed, assigned, team, own)] == [
        "submitted"
    ] * 4
    assert _get_status(workspace, good) == "accepted"
    accepted = [data["tag_set_id"] for data in workspace.events("tag_set.accepted")]
    assert accepted == [decided["id"], good["id"]]


def test_no_more_are_accepted_than_the_schema_asks_for_within_the_call_too(
    workspace: Workspace,
) -> None:
    for name in ("second", "third"):
        workspace.org.add_user(name, "labeler")
    artifact_id = workspace.artifact(workspace.schema(labels_per_artifact=3))
    sent = [workspace.submitted(artifact_id, by=name) for name in ("labeler", "second", "third")]
    # The schema asks for fewer by now.
    workspace.sql(
        "UPDATE schema_versions SET review_policy = review_policy || '{\"labels_per_artifact\": 2}'"
        " WHERE id = :id",
        id=sent[0]["schema_version_id"],
    )
    result = _bulk(workspace, "accept", [sent[i]["id"] for i in (2, 0, 1)])
    assert _list_codes(result) == [None, None, "conflict"]
    assert _get_status(workspace, sent[1]) == "submitted"
    assert workspace.artifact_row(artifact_id).label_counts == counts(accepted=2, submitted=1)


def test_the_number_of_statements_does_not_grow(
    workspace: Workspace, schema: Any, app: Flask
) -> None:
    other_schema = workspace.schema()
    ran = []
    for number in (2, 12):
        sent = [workspace.submitted(workspace.artifact(s)) for s in (schema, other_schema)]
        sent += [workspace.submitted(workspace.artifact(schema)) for _ in range(number - 2)]
        with record_statements(app) as statements:
            assert _bulk(workspace, "accept", [one["id"] for one in sent])["failed"] == 0
        ran.append(len(statements))
    assert ran[0] == ran[1] < 12


def test_a_key_answers_again_what_it_answered(workspace: Workspace, schema: Any) -> None:
    sent = workspace.submitted(workspace.artifact(schema))
    body = {"tag_set_ids": [sent["id"]]}
    for path, more in (("accept", {}), ("reject", {"reason": "x"})):
        headers = {"Idempotency-Key": path}
        url = f"/review-queue/bulk-{path}"
        first, again = (
            workspace.org.api("reviewer").post(url, {**body, **more}, headers=headers)
            for _ in range(2)
        )
        assert first.data == again.data
        assert again.headers["Idempotency-Replayed"] == "true"
    assert len(workspace.events("tag_set.accepted")) == 1
    assert workspace.events("tag_set.rejected") == []


def test_many_go_back_to_their_labelers(workspace: Workspace, schema: Any) -> None:
    workspace.org.add_user("second", "labeler")
    sent = {
        by: workspace.submitted(workspace.artifact(schema), by=by) for by in ("labeler", "second")
    }
    result = _bulk(workspace, "reject", [one["id"] for one in sent.values()], reason="Look again")
    assert result["failed"] == 0
    for by, one in sent.items():
        read = workspace.org.api(by).get(f"/tag-sets/{one['id']}").json["data"]
        assert (read["status"], read["reason"], read["rejections"]) == ("draft", "Look again", 1)
        row = workspace.artifact_row(one["artifact_id"])
        assert (row.status, row.claim_user_id) == ("in_progress", workspace.org.users[by])
        assert workspace.revisions(one["id"])[-1].kind == "reject"
    events = workspace.events("tag_set.rejected")
    assert {data["tag_set_id"] for data in events} == {one["id"] for one in sent.values()}
    for data in events:
        assert (data["reason"], data["send_to"]) == ("Look again", "labeler")
        assert data["draft_id"] is None


def test_many_go_to_the_pool(workspace: Workspace, schema: Any) -> None:
    sent = [workspace.submitted(workspace.artifact(schema)) for _ in range(2)]
    ids = [one["id"] for one in sent]
    assert _bulk(workspace, "reject", ids, reason="No", send_to="pool")["failed"] == 0
    for one in sent:
        assert _get_status(workspace, one) == "rejected"
        row = workspace.artifact_row(one["artifact_id"])
        assert (row.status, row.claim_user_id) == ("ready", None)


def test_what_cannot_go_back_says_why(workspace: Workspace) -> None:
    strict, lax = workspace.schema(max_rejections=0), workspace.schema(labels_per_artifact=2)
    often = workspace.submitted(workspace.artifact(strict))
    nobodys = workspace.submitted(workspace.artifact(lax))
    update_tag_set(workspace, nobodys["id"], labeler_id=None)
    twice = [workspace.submitted(workspace.artifact(lax)) for _ in range(2)]
    update_tag_set(workspace, twice[1]["id"], artifact_id=twice[0]["artifact_id"])
    ids = [one["id"] for one in (often, nobodys, *twice)]
    result = _bulk(workspace, "reject", ids, reason="x")
    assert _list_codes(result) == ["conflict", "validation_error", "conflict", "conflict"]
    assert _bulk(workspace, "reject", ids, reason="x", send_to="pool")["failed"] == 0


def test_items_are_spread_evenly_but_never_to_their_labeler(
    workspace: Workspace, schema: Any
) -> None:
    sent = [workspace.submitted(workspace.artifact(schema)) for _ in range(4)]
    own = [workspace.submitted(workspace.artifact(schema), by="reviewer") for _ in range(2)]
    people = [str(workspace.org.users[name]) for name in ("reviewer", "other")]
    ids = [one["id"] for one in (*own, *sent)]
    assert _bulk(workspace, "assign", ids, by="admin", user_ids=people)["failed"] == 0
    assignees = {item_id: item["assignee_id"] for item_id, item in list_items(workspace).items()}
    assert {assignees[tag_set["id"]] for tag_set in own} == {people[1]}
    assert sorted(assignees.values()) == sorted(people * 3)
    events = {data["user_ids"][0]: data for data in workspace.events("reviews.assigned")}
    assert set(events) == set(people)
    for user, data in events.items():
        assigned_ids = [item_id for item_id, assignee in assignees.items() if assignee == user]
        assert sorted(data["tag_set_ids"]) == sorted(assigned_ids)
        assert (data["by"], data["escalated"]) == (str(workspace.org.users["admin"]), False)


def test_a_due_time_moves_an_item_up(workspace: Workspace, schema: Any) -> None:
    first, second = (workspace.submitted(workspace.artifact(schema)) for _ in range(2))
    due = "2020-01-01T00:00:00Z"
    reviewer = str(workspace.org.users["reviewer"])
    _bulk(workspace, "assign", [second["id"]], by="admin", user_ids=[reviewer], due_at=due)
    items = workspace.org.api("admin").get("/review-queue").json["data"]
    assert [item["id"] for item in items] == [second["id"], first["id"]]
    assert [item["due_at"] for item in items] == [due, None]
    # The document's own due time does not move it back.
    path = f"/artifacts/{second['artifact_id']}"
    body = {"due_at": "2099-01-01T00:00:00Z"}
    assert workspace.org.api("admin").patch(path, json=body).status_code == 200
    items = workspace.org.api("admin").get("/review-queue").json["data"]
    assert [(item["id"], item["due_at"]) for item in items] == [
        (second["id"], due),
        (first["id"], None),
    ]


def test_what_others_work_on_is_not_assigned_away(workspace: Workspace, schema: Any) -> None:
    ids = [workspace.submitted(workspace.artifact(schema))["id"] for _ in range(2)]
    for item_id, by in zip(ids, ("other", "admin"), strict=True):
        workspace.org.api(by).post(f"/review-queue/{item_id}/claim")
    reviewer, other = (str(workspace.org.users[name]) for name in ("reviewer", "other"))
    result = _bulk(workspace, "assign", ids, by="admin", user_ids=[reviewer])
    assert _list_codes(result) == ["conflict", None]
    result = _bulk(workspace, "assign", ids, by="admin", user_ids=[reviewer, other])
    assert _list_codes(result) == [None, None]
    items = list_items(workspace)
    assert items[ids[0]]["assignee_id"] == items[ids[0]]["claim"]["user_id"] == other
    assert (items[ids[1]]["assignee_id"], items[ids[1]]["claim"]) == (reviewer, None)


def test_many_are_assigned_to_a_team(workspace: Workspace, schema: Any) -> None:
    team = create_team(workspace.org, "reviewer", "labeler")
    sent = workspace.submitted(workspace.artifact(schema))
    own = workspace.submitted(workspace.artifact(schema), by="reviewer")
    ids = [sent["id"], own["id"], str(uuid7())]
    result = _bulk(workspace, "assign", ids, by="admin", team_id=team)
    assert _list_codes(result) == [None, "conflict", "not_found"]
    (item,) = workspace.org.api("admin").get(f"/review-queue?team_id={team}").json["data"]
    assert (item["id"], item["assignee_id"]) == (sent["id"], None)
    (event,) = workspace.events("reviews.assigned")
    assert (event["team_id"], event["user_ids"], event["tag_set_ids"]) == (team, [], [sent["id"]])


def test_to_whom_nothing_is_assigned(workspace: Workspace, schema: Any, other_org: Org) -> None:
    sent = workspace.submitted(workspace.artifact(schema))
    reviewer = str(workspace.org.users["reviewer"])
    for unknown in (workspace.org.users["labeler"], other_org.users["reviewer"], uuid7()):
        error = assign(workspace, sent["id"], user_ids=[reviewer, str(unknown)]).json["error"]
        assert (error["code"], error["field"]) == ("validation_error", "user_ids.1")
        assert error["details"] == {"user_ids": [str(unknown)]}
    for team in (str(uuid7()), create_team(workspace.org, "labeler")):
        error = assign(workspace, sent["id"], team_id=team).json["error"]
        assert (error["code"], error["field"]) == ("validation_error", "team_id")
    assert workspace.events("reviews.assigned") == []


def test_only_admins_assign(workspace: Workspace) -> None:
    body = {"tag_set_ids": [], "user_ids": [str(workspace.org.users["reviewer"])]}
    answer = workspace.org.api("reviewer").post("/review-queue/bulk-assign", json=body)
    assert (answer.status_code, answer.json["error"]["code"]) == (403, "insufficient_role")


@pytest.mark.parametrize(
    ("what", "field", "body"),
    [
        ("accept", "tag_set_ids", {}),
        ("accept", "tag_set_ids", {"tag_set_ids": [str(uuid7())] * 1001}),
        ("reject", "reason", {"tag_set_ids": []}),
        ("reject", "send_to", {"tag_set_ids": [], "reason": "x", "send_to": str(uuid7())}),
        ("assign", "user_ids", {"tag_set_ids": []}),
        ("assign", "user_ids", {"tag_set_ids": [], "user_ids": []}),
    ],
)
def test_garbled_bodies_are_refused(workspace: Workspace, what: str, field: str, body: Any) -> None:
    answer = workspace.org.api("admin").post(f"/review-queue/bulk-{what}", json=body)
    assert (answer.status_code, answer.json["error"]["field"]) == (422, field)
