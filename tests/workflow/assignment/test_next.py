"""Which document is claimed next, in which order, and which documents are withheld."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.factories.statements import record_statements
from tests.factories.teams import add_members, create_team, make_team
from tests.factories.workspace import Workspace
from tests.workflow.assignment.conftest import claim_next, expire, reject_to, skip, to

_NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


def test_the_next_document_is_claimed_and_shown(workspace: Workspace) -> None:
    artifact = workspace.artifact()
    answer = workspace.org.api("labeler").post("/artifacts/next", json={})
    data = answer.json["data"]
    assert (data["id"], data["status"]) == (str(artifact), "in_progress")
    assert data["claim"]["user_id"] == str(workspace.org.users["labeler"])
    assert workspace.org.api("viewer").get(f"/artifacts/{artifact}").json["data"] == data
    assert answer.headers["ETag"] == '"1"'


def test_nothing_is_null(workspace: Workspace) -> None:
    answer = workspace.org.api("labeler").post("/artifacts/next", json={})
    assert (answer.status_code, answer.json) == (200, {"data": None, "meta": {}})


def test_the_most_urgent_comes_first(workspace: Workspace) -> None:
    schema = workspace.schema()
    old = workspace.artifact(schema, created_at=_NOON - timedelta(days=3))
    late = workspace.artifact(
        schema, created_at=_NOON, due_at=datetime.now(UTC) + timedelta(days=9)
    )
    due = workspace.artifact(schema, created_at=_NOON, due_at=_NOON - timedelta(days=9))
    high = workspace.artifact(schema, priority=90)
    other = workspace.artifact(workspace.schema(), priority=60)
    wanted = [due, high, other, old, late, None]
    assert [claim_next(workspace, skip_held=True) for _ in wanted] == wanted


def test_one_s_own_come_before_what_is_assigned_and_the_pool(workspace: Workspace) -> None:
    org, schema = workspace.org, workspace.schema()
    team = create_team(org, "labeler")
    pool = workspace.artifact(schema, priority=100)
    by_team = workspace.artifact(schema, priority=90, assignees=to(team_id=team))
    by_name = workspace.artifact(schema, priority=80, assignees=to(user_id=org.users["labeler"]))
    begun = workspace.artifact(schema, priority=1)
    workspace.draft(begun)
    workspace.release(begun)
    wanted = [begun, by_name, by_team, pool, None]
    assert [claim_next(workspace, skip_held=True) for _ in wanted] == wanted
    # All of it is begun now.
    assert claim_next(workspace) == pool


def test_a_lost_answer_strands_nothing(workspace: Workspace) -> None:
    schema = workspace.schema()
    first, second = workspace.artifact(schema), workspace.artifact(schema)
    assert [claim_next(workspace), claim_next(workspace)] == [first, first]
    assert claim_next(workspace, exclude=[str(first)]) == second
    assert claim_next(workspace, exclude=[str(first), str(second)]) is None
    assert claim_next(workspace, skip_held=True) is None
    workspace.release(first)
    assert claim_next(workspace) == second


def test_what_is_labeled_is_not_handed_out_again(workspace: Workspace) -> None:
    artifact = workspace.artifact()
    assert claim_next(workspace) == artifact
    workspace.submitted(artifact)
    assert claim_next(workspace) is claim_next(workspace, "admin") is None


@pytest.mark.parametrize(
    "members",
    [
        {"archived": True},
        {"status": "processing"},
        {"status": "failed"},
        {"status": "in_review"},
        {"status": "done"},
    ],
)
def test_what_is_not_open_stays(workspace: Workspace, members: dict[str, Any]) -> None:
    workspace.artifact(**members)
    assert claim_next(workspace) is None


def test_a_schema_is_needed_and_active(workspace: Workspace) -> None:
    workspace.artifact(workspace.schema(status="inactive"))
    workspace.artifact(workspace.schema(status="draft"))
    bare = workspace.artifact()
    workspace.sql("UPDATE artifacts SET schema_id = NULL WHERE id = :id", id=bare)
    assert claim_next(workspace) is None
    # Nor is one handed out again that was claimed by name, and cannot be begun.
    assert workspace.org.api("labeler").post(f"/artifacts/{bare}/claim").status_code == 200
    assert claim_next(workspace) is None


def test_a_claim_keeps_others_out_until_it_ends(workspace: Workspace) -> None:
    workspace.org.add_user("second", "labeler")
    artifact = workspace.artifact()
    assert claim_next(workspace) == artifact
    assert claim_next(workspace, "second") is None
    expire(workspace, artifact)
    assert claim_next(workspace, "second") == artifact
    assert claim_next(workspace) is None


def test_assigned_documents_are_for_their_assignees(workspace: Workspace) -> None:
    org = workspace.org
    org.add_user("second", "labeler")
    team = create_team(org, "second")
    schema = workspace.schema()
    named = workspace.artifact(schema, assignees=to(user_id=org.users["labeler"]))
    teams = workspace.artifact(schema, assignees=to(team_id=team))
    assert claim_next(workspace, "admin") is None
    assert claim_next(workspace, "second", skip_held=True) == teams
    assert claim_next(workspace, "second", skip_held=True) is None
    assert claim_next(workspace, skip_held=True) == named
    expire(workspace, teams)
    assert claim_next(workspace, skip_held=True) is None
    assert claim_next(workspace, "second") == teams


def test_a_schema_s_skills_are_those_of_the_teams(workspace: Workspace) -> None:
    org, schema = workspace.org, workspace.schema()
    workspace.require_skills(schema, "french", "law")
    artifact = workspace.artifact(schema)
    create_team(org, "labeler", "reviewer", skills=["French"])
    law = make_team(org, "Law", skills=["LAW", "Maths"])
    assert claim_next(workspace) is None
    add_members(org, law, "labeler")
    assert claim_next(workspace, "reviewer") is None
    assert claim_next(workspace) == artifact


def test_whom_a_document_is_assigned_to_by_name_needs_no_skill(workspace: Workspace) -> None:
    org, schema = workspace.org, workspace.schema()
    workspace.require_skills(schema, "law")
    team = create_team(org, "labeler", skills=["French"])
    workspace.artifact(schema, assignees=to(team_id=team))
    assert claim_next(workspace) is None
    named = workspace.artifact(schema, assignees=to(user_id=org.users["labeler"]))
    assert claim_next(workspace) == named


def test_overlapping_documents_go_to_each_once_and_to_one_at_a_time(workspace: Workspace) -> None:
    for name in ("second", "third"):
        workspace.org.add_user(name, "labeler")
    artifact = workspace.artifact(workspace.schema(labels_per_artifact=2))
    assert claim_next(workspace) == artifact
    assert claim_next(workspace, "second") is None
    workspace.submitted(artifact)
    assert claim_next(workspace) is None
    assert claim_next(workspace, "second") == artifact
    workspace.submitted(artifact, by="second")
    assert claim_next(workspace, "third") is None


def test_what_was_sent_back_waits_for_its_labeler(workspace: Workspace) -> None:
    workspace.org.add_user("second", "labeler")
    artifact = workspace.artifact(priority=1)
    sent = workspace.submitted(artifact)
    other = workspace.artifact(priority=99)
    reject_to(workspace, sent, "labeler")
    expire(workspace, artifact)
    assert claim_next(workspace, "second", skip_held=True) == other
    assert claim_next(workspace, "second", skip_held=True) is None
    assert claim_next(workspace) == artifact
    # Given back with a reason it is for all others.
    skip(workspace, artifact)
    assert claim_next(workspace) is None
    assert claim_next(workspace, "second", skip_held=True) == artifact


def test_what_was_handed_to_somebody_waits_for_them(workspace: Workspace) -> None:
    next_labeler = workspace.org.add_user("second", "labeler")
    artifact = workspace.artifact()
    reject_to(workspace, workspace.submitted(artifact), str(next_labeler))
    expire(workspace, artifact)
    assert claim_next(workspace) is None
    assert claim_next(workspace, "second") == artifact


def test_of_overlapping_documents_a_place_is_kept(workspace: Workspace) -> None:
    workspace.org.add_user("second", "labeler")
    artifact = workspace.artifact(workspace.schema(labels_per_artifact=2))
    reject_to(workspace, workspace.submitted(artifact), "labeler")
    expire(workspace, artifact)
    assert claim_next(workspace, "second") == artifact
    workspace.submitted(artifact, by="second")
    assert claim_next(workspace, "admin") is None
    assert claim_next(workspace) == artifact


def test_begun_work_that_was_left_is_for_all_again(workspace: Workspace) -> None:
    workspace.org.add_user("second", "labeler")
    artifact = workspace.artifact()
    workspace.draft(artifact)
    expire(workspace, artifact)
    assert claim_next(workspace, "second") == artifact


def test_wishes(workspace: Workspace) -> None:
    org = workspace.org
    schema, other = workspace.schema(), workspace.schema()
    team = create_team(org, "labeler")
    german = workspace.artifact(schema, language="de", priority=1)
    english = workspace.artifact(other, language="en", priority=2)
    teams = workspace.artifact(other, assignees=to(team_id=team))
    assert claim_next(workspace, language="fr") is None
    assert claim_next(workspace, language="de", skip_held=True) == german
    assert claim_next(workspace, schema_ids=[], skip_held=True) is None
    assert claim_next(workspace, schema_ids=[str(schema)], skip_held=True) is None
    # What is held answers to the same wishes.
    assert claim_next(workspace, schema_ids=[str(schema)]) == german
    assert claim_next(workspace, schema_ids=[str(other)], language="en") == english
    assert claim_next(workspace, team_id=team) == teams
    workspace.release(teams)
    assert claim_next(workspace, "admin", team_id=team) is None
    assert claim_next(workspace, team_id=str(org.id)) is None


def test_other_organizations_are_not_seen(workspace: Workspace, other_org: Any) -> None:
    other = Workspace(other_org)
    schema = other.schema()
    other.artifact(schema, priority=100)
    assert claim_next(workspace) is None
    assert claim_next(workspace, schema_ids=[str(schema)]) is None


def test_the_claim_lasts_as_the_organization_says(workspace: Workspace) -> None:
    workspace.settings(claim_minutes=5)
    workspace.artifact()
    data = workspace.org.api("labeler").post("/artifacts/next", json={}).json["data"]
    remaining_time = datetime.fromisoformat(data["claim"]["expires_at"]) - datetime.now(UTC)
    assert timedelta(minutes=4) < remaining_time <= timedelta(minutes=5)


def test_a_viewer_draws_nothing(workspace: Workspace) -> None:
    answer = workspace.org.api("viewer").post("/artifacts/next", json={})
    assert (answer.status_code, answer.json["error"]["code"]) == (403, "insufficient_role")


def test_an_idempotency_key_answers_the_same_document(workspace: Workspace) -> None:
    schema = workspace.schema()
    for _ in range(2):
        workspace.artifact(schema)
    api, headers = workspace.org.api("labeler"), {"Idempotency-Key": "one"}
    body = {"skip_held": True}
    first, again = (api.post("/artifacts/next", json=body, headers=headers) for _ in range(2))
    assert first.json == again.json
    assert again.headers["Idempotency-Replayed"] == "true"


def test_the_draw_takes_as_many_statements_however_much_waits(workspace: Workspace) -> None:
    schema = workspace.schema()
    workspace.artifact(schema)
    claim_next(workspace)
    with record_statements(workspace.org.app) as few:
        claim_next(workspace, skip_held=True)
    for _ in range(30):
        workspace.artifact(schema)
    with record_statements(workspace.org.app) as many:
        claim_next(workspace, skip_held=True)
    assert len(many) == len(few) <= 1
