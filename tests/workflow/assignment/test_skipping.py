"""Documents that somebody gave back with a reason: not handed to them again, never lost."""

import json
from typing import Any
from uuid import UUID

import pytest

from app.kit import db, tenancy
from app.workflow.assignment import service as assignment
from tests.factories.desk import Desk
from tests.factories.teams import add_members, make_team
from tests.workflow.assignment.conftest import Draw, expire, reject, skip, to


def claim(desk: Desk, artifact_id: UUID, by: str = "labeler") -> dict[str, Any]:
    answer = desk.org.api(by).post(f"/artifacts/{artifact_id}/claim")
    assert answer.status_code == 200, answer.json
    return dict(answer.json["data"])


def reserved_for(desk: Desk, artifact_id: UUID) -> list[UUID]:
    (row,) = desk.sql("SELECT reserved_for FROM artifacts WHERE id = :id", id=artifact_id)
    return list(row.reserved_for)


def test_a_skipped_document_is_handed_to_others(desk: Desk, draw: Draw) -> None:
    org = desk.org
    org.add_user("second", "labeler")
    artifact = desk.artifact()
    skip(desk, draw())
    assert draw() is None
    assert draw("second") == artifact
    desk.release(artifact, by="second")
    assert draw("second") == artifact
    desk.release(artifact, by="second")
    # Whoever asks for it by name has it, and goes on with it later.
    assert org.api("labeler").post(f"/artifacts/{artifact}/claim").status_code == 200
    desk.release(artifact)
    assert draw() == artifact


def test_a_skip_ends_when_the_document_is_assigned_or_sent_by_name(desk: Desk, draw: Draw) -> None:
    org = desk.org
    org.add_user("second", "labeler")
    team = make_team(org)
    add_members(org, team, "labeler")
    artifact = desk.artifact()
    skip(desk, draw())
    path = f"/artifacts/{artifact}/assign"
    assert org.api("reviewer").post(path, {"team_id": team["id"]}).status_code == 200
    assert draw() is None
    me = str(org.users["labeler"])
    assert org.api("reviewer").post(path, {"user_ids": [me]}).status_code == 200
    assert draw() == artifact
    skip(desk, artifact)
    assert draw() is None
    assert org.api("reviewer").post(path, {"user_ids": []}).status_code == 200
    assert draw("second") == artifact
    reject(desk, desk.submitted(artifact, by="second"), me)
    expire(desk, artifact)
    assert draw() == artifact


def test_an_admin_who_takes_a_document_away_skips_nothing(desk: Desk, draw: Draw) -> None:
    artifact = desk.artifact()
    assert draw() == artifact
    skip(desk, artifact, by="admin")
    assert draw() == artifact


def test_who_is_named_and_skips_is_named_no_more(desk: Desk, draw: Draw) -> None:
    org = desk.org
    second = org.add_user("second", "labeler")
    assignees = to(user_id=org.users["labeler"]) + to(user_id=second)
    artifact = desk.artifact(assignees=assignees)
    assert draw() == artifact
    path = f"/artifacts/{artifact}/release"
    answer = org.api("labeler").post(path, json={"reason": "Not in my language"})
    assert answer.json["data"]["assignees"] == to(user_id=second)
    assert draw() is draw("admin") is None
    assert draw("second") == artifact
    answer = org.api("second").post(path, json={"reason": "Nor in mine"})
    # With nobody left it is for all others.
    assert answer.json["data"]["assignees"] == []
    assert draw() is draw("second") is None
    assert draw("admin") == artifact


def test_a_team_stays_assigned_when_one_of_it_skips(desk: Desk, draw: Draw) -> None:
    org = desk.org
    org.add_user("second", "labeler")
    team = make_team(org)
    add_members(org, team, "labeler", "second")
    both = to(team_id=team["id"]) + to(user_id=org.users["labeler"])
    artifact = desk.artifact(assignees=both)
    assert draw() == artifact
    skip(desk, artifact)
    assert draw() is draw("admin") is None
    found = org.api("viewer").get(f"/artifacts/{artifact}").json["data"]
    assert found["assignees"] == to(team_id=team["id"])
    assert draw("second") == artifact


@pytest.mark.parametrize("reason", [None, "", " \n"])
def test_who_gives_a_document_back_without_a_reason_stays_named(
    desk: Desk, draw: Draw, reason: str | None
) -> None:
    artifact = desk.artifact(assignees=to(user_id=desk.org.users["labeler"]))
    assert draw() == artifact
    path = f"/artifacts/{artifact}/release"
    answer = desk.org.api("labeler").post(path, json={"reason": reason})
    assert answer.status_code == 200
    assert draw("admin") is None
    assert draw() == artifact


@pytest.mark.parametrize("verdict", ["accept", "reject"])
def test_what_is_reopened_after_a_skip_reaches_its_labeler(
    desk: Desk, draw: Draw, verdict: str
) -> None:
    desk.org.add_user("second", "labeler")
    artifact = desk.artifact()
    saved = desk.saved(artifact)
    skip(desk, artifact)
    api, path = desk.org.api("reviewer"), f"/tag-sets/{saved['id']}"
    assert desk.org.api("labeler").post(f"{path}/submit").status_code == 200
    body = {"reason": "No", "send_to": "pool"} if verdict == "reject" else {}
    assert api.post(f"{path}/{verdict}", json=body).status_code == 200
    again = api.post(f"{path}/reopen", json={"reason": "Look again", "to": "labeler"})
    assert again.status_code == 200, again.json
    expire(desk, artifact)
    assert reserved_for(desk, artifact) == [desk.org.users["labeler"]]
    assert draw("second") is None
    assert draw() == artifact


def test_what_is_sent_back_after_a_skip_reaches_its_labeler(desk: Desk, draw: Draw) -> None:
    desk.org.add_user("second", "labeler")
    artifact = desk.artifact()
    saved = desk.saved(artifact)
    skip(desk, artifact)
    assert desk.org.api("labeler").post(f"/tag-sets/{saved['id']}/submit").status_code == 200
    reject(desk, saved, "labeler")
    expire(desk, artifact)
    assert draw("second") is None
    assert draw() == artifact


def sent_back_and_skipped(desk: Desk) -> UUID:
    artifact = desk.artifact()
    reject(desk, desk.submitted(artifact), "labeler")
    assert reserved_for(desk, artifact) == [desk.org.users["labeler"]]
    skip(desk, artifact)
    assert reserved_for(desk, artifact) == []
    return artifact


def test_whoever_claims_what_they_skipped_has_it_kept_again(desk: Desk, draw: Draw) -> None:
    desk.org.add_user("second", "labeler")
    artifact = sent_back_and_skipped(desk)
    shown = claim(desk, artifact)
    assert shown["claim"]["user_id"] == str(desk.org.users["labeler"])
    expire(desk, artifact)
    assert reserved_for(desk, artifact) == [desk.org.users["labeler"]]
    assert draw("second") is None
    assert draw() == artifact


def assign(desk: Desk, artifact_id: UUID, user_id: UUID) -> None:
    body = {"user_ids": [str(user_id)]}
    answer = desk.org.api("reviewer").post(f"/artifacts/{artifact_id}/assign", body)
    assert answer.status_code == 200, answer.json


def assign_in_bulk(desk: Desk, artifact_id: UUID, user_id: UUID) -> None:
    body = {
        "filter": {},
        "expected_count": 1,
        "user_ids": [str(user_id)],
        "strategy": "least_loaded",
    }
    answer = desk.org.api("reviewer").post("/artifacts/bulk-assign", body)
    assert answer.json["data"]["succeeded"] == 1, answer.json


def assign_as_rules_do(desk: Desk, artifact_id: UUID, user_id: UUID) -> None:
    given = [assignment.Assigned(artifact_id, to(user_id=user_id))]
    with desk.org.app.app_context(), tenancy.organization(desk.org.id), db.transaction():
        assert set(assignment.assign_many(given)) == {artifact_id}


@pytest.mark.parametrize("give", [assign, assign_in_bulk, assign_as_rules_do])
def test_what_is_assigned_by_name_after_a_skip_is_handed_out(
    desk: Desk, draw: Draw, give: Any
) -> None:
    me = desk.org.users["labeler"]
    fresh = desk.artifact()
    skip(desk, draw())
    give(desk, fresh, me)
    assert draw() == fresh
    desk.submitted(fresh)
    desk.sql("UPDATE artifacts SET archived = true")

    begun = sent_back_and_skipped(desk)
    give(desk, begun, me)
    assert reserved_for(desk, begun) == [me]
    assert draw() == begun


def test_a_name_outweighs_a_skip_that_came_in_while_it_was_written(desk: Desk, draw: Draw) -> None:
    org = desk.org
    artifact = desk.artifact()
    assert draw() == artifact
    # What is left when the assignment has looked for skips before this one was there.
    skip(desk, artifact)
    desk.sql(
        "UPDATE artifacts SET assignees = CAST(:named AS jsonb) WHERE id = :id",
        named=json.dumps(to(user_id=org.users["labeler"])),
        id=artifact,
    )
    listed = org.api("labeler").get("/users/me/assignments").json["data"]
    assert [one["id"] for one in listed] == [str(artifact)]
    assert draw("admin") is None
    assert draw() == artifact
    skip(desk, artifact)
    assert org.api("labeler").get("/users/me/assignments").json["data"] == []
    assert draw("admin") == artifact
