"""Documents that somebody gave back with a reason: not handed to them again, never lost."""

import json
from typing import Any
from uuid import UUID

import pytest

from app.workflow.assignment.queries.assignees import ArtifactAssignment
from app.workflow.assignment.service import assigning
from tests.factories.teams import create_team
from tests.factories.workspace import Workspace, tag
from tests.workflow.actions import accept, get_data, reopen, submit
from tests.workflow.assignment.conftest import (
    assign,
    claim_next,
    expire,
    get_assignees,
    get_reserved_for,
    reject_to,
    skip,
    to,
)

pytestmark = pytest.mark.usefixtures("second")


def _submit_after_skipping(workspace: Workspace, artifact: UUID) -> dict[str, Any]:
    """Save a draft, skip its document, and submit the draft all the same."""
    saved = workspace.saved(artifact)
    skip(workspace, artifact)
    return get_data(submit(workspace, saved))


def test_a_skipped_document_is_handed_to_others(workspace: Workspace) -> None:
    artifact = workspace.artifact()
    skip(workspace, claim_next(workspace))
    assert claim_next(workspace) is None
    assert claim_next(workspace, "second") == artifact
    workspace.release(artifact, by="second")
    assert claim_next(workspace, "second") == artifact
    workspace.release(artifact, by="second")
    # Whoever asks for it by name has it, and goes on with it later.
    assert workspace.org.api("labeler").post(f"/artifacts/{artifact}/claim").status_code == 200
    workspace.release(artifact)
    assert claim_next(workspace) == artifact


def test_a_skip_ends_when_the_document_is_assigned_or_sent_by_name(workspace: Workspace) -> None:
    team = create_team(workspace.org, "labeler", "second")
    artifact = workspace.artifact()
    skip(workspace, claim_next(workspace))
    assert assign(workspace, artifact, team_id=team).status_code == 200
    assert claim_next(workspace) is None
    me = str(workspace.org.users["labeler"])
    assert assign(workspace, artifact, user_ids=[me]).status_code == 200
    assert claim_next(workspace) == artifact
    skip(workspace, artifact)
    assert claim_next(workspace) is None
    assert assign(workspace, artifact, user_ids=[]).status_code == 200
    assert claim_next(workspace, "second") == artifact
    reject_to(workspace, workspace.submitted(artifact, by="second"), me)
    expire(workspace, artifact)
    assert claim_next(workspace) == artifact


def test_an_admin_who_takes_a_document_away_skips_nothing(workspace: Workspace) -> None:
    artifact = workspace.artifact()
    assert claim_next(workspace) == artifact
    skip(workspace, artifact, by="admin")
    assert claim_next(workspace) == artifact


def test_who_is_named_and_skips_is_named_no_more(workspace: Workspace) -> None:
    org = workspace.org
    second = org.users["second"]
    assignees = to(user_id=org.users["labeler"]) + to(user_id=second)
    artifact = workspace.artifact(assignees=assignees)
    assert claim_next(workspace) == artifact
    path = f"/artifacts/{artifact}/release"
    answer = org.api("labeler").post(path, json={"reason": "Not in my language"})
    assert answer.json["data"]["assignees"] == to(user_id=second)
    assert claim_next(workspace) is claim_next(workspace, "admin") is None
    assert claim_next(workspace, "second") == artifact
    answer = org.api("second").post(path, json={"reason": "Nor in mine"})
    # With nobody left it is for all others.
    assert answer.json["data"]["assignees"] == []
    assert claim_next(workspace) is claim_next(workspace, "second") is None
    assert claim_next(workspace, "admin") == artifact


def test_a_team_stays_assigned_when_one_of_it_skips(workspace: Workspace) -> None:
    org = workspace.org
    team = create_team(org, "labeler", "second")
    both = to(team_id=team) + to(user_id=org.users["labeler"])
    artifact = workspace.artifact(assignees=both)
    assert claim_next(workspace) == artifact
    skip(workspace, artifact)
    assert claim_next(workspace) is claim_next(workspace, "admin") is None
    assert get_assignees(workspace, artifact) == to(team_id=team)
    assert claim_next(workspace, "second") == artifact


@pytest.mark.parametrize("reason", [None, "", " \n"])
def test_who_gives_a_document_back_without_a_reason_stays_named(
    workspace: Workspace, reason: str | None
) -> None:
    artifact = workspace.artifact(assignees=to(user_id=workspace.org.users["labeler"]))
    assert claim_next(workspace) == artifact
    path = f"/artifacts/{artifact}/release"
    assert workspace.org.api("labeler").post(path, json={"reason": reason}).status_code == 200
    assert claim_next(workspace, "admin") is None
    assert claim_next(workspace) == artifact


@pytest.mark.parametrize("decision", ["accept", "reject"])
def test_what_is_reopened_after_a_skip_reaches_its_labeler(
    workspace: Workspace, decision: str
) -> None:
    artifact = workspace.artifact()
    sent = _submit_after_skipping(workspace, artifact)
    if decision == "accept":
        assert accept(workspace, sent).status_code == 200
    else:
        reject_to(workspace, sent, "pool")
    reopened = reopen(workspace, sent, to="labeler")
    assert reopened.status_code == 200, reopened.json
    expire(workspace, artifact)
    assert get_reserved_for(workspace, artifact) == [workspace.org.users["labeler"]]
    assert claim_next(workspace, "second") is None
    assert claim_next(workspace) == artifact


def test_what_is_sent_back_after_a_skip_reaches_its_labeler(workspace: Workspace) -> None:
    artifact = workspace.artifact()
    reject_to(workspace, _submit_after_skipping(workspace, artifact), "labeler")
    expire(workspace, artifact)
    assert claim_next(workspace, "second") is None
    assert claim_next(workspace) == artifact


def sent_back_and_skipped(workspace: Workspace) -> UUID:
    artifact = workspace.artifact()
    reject_to(workspace, workspace.submitted(artifact), "labeler")
    assert get_reserved_for(workspace, artifact) == [workspace.org.users["labeler"]]
    skip(workspace, artifact)
    assert get_reserved_for(workspace, artifact) == []
    return artifact


def test_what_was_sent_back_can_be_skipped_after_the_claim_has_expired(
    workspace: Workspace,
) -> None:
    artifact = workspace.artifact()
    reject_to(workspace, workspace.submitted(artifact), "labeler")
    expire(workspace, artifact)
    workspace.sql("UPDATE tag_sets SET reserved_until = now() - interval '1 hour'")
    path = f"/artifacts/{artifact}/release"
    for by, body in (("labeler", {}), ("second", {"reason": "Not theirs"})):
        assert workspace.org.api(by).post(path, json=body).status_code == 409
    assert claim_next(workspace, "second") is None
    skip(workspace, artifact)
    assert get_reserved_for(workspace, artifact) == []
    assert claim_next(workspace) is None
    assert claim_next(workspace, "second") == artifact


def test_whoever_claims_what_they_skipped_has_it_kept_again(workspace: Workspace) -> None:
    artifact = sent_back_and_skipped(workspace)
    claimed = get_data(workspace.org.api("labeler").post(f"/artifacts/{artifact}/claim"))
    assert claimed["claim"]["user_id"] == str(workspace.org.users["labeler"])
    expire(workspace, artifact)
    assert get_reserved_for(workspace, artifact) == [workspace.org.users["labeler"]]
    assert claim_next(workspace, "second") is None
    assert claim_next(workspace) == artifact


def test_a_save_in_another_tab_after_a_skip_keeps_nothing(workspace: Workspace) -> None:
    artifact = workspace.artifact()
    saved = workspace.saved(artifact)
    skip(workspace, artifact)
    assert workspace.save(saved, [tag("number", "B")]).status_code == 200
    assert get_reserved_for(workspace, artifact) == []
    assert workspace.artifact_row(artifact).claim_user_id is None
    assert claim_next(workspace) is None
    assert claim_next(workspace, "second") == artifact


def test_a_save_of_what_came_back_after_a_skip_keeps_it(workspace: Workspace) -> None:
    artifact = workspace.artifact()
    sent = _submit_after_skipping(workspace, artifact)
    reject_to(workspace, sent, "labeler")
    workspace.release(artifact)
    assert workspace.artifact_row(artifact).claim_user_id is None
    returned = workspace.org.api("labeler").get(f"/tag-sets/{sent['id']}").json["data"]
    assert workspace.save(returned, [tag("number", "B")]).status_code == 200
    me = workspace.org.users["labeler"]
    assert workspace.artifact_row(artifact).claim_user_id == me
    assert get_reserved_for(workspace, artifact) == [me]


def assign_alone(workspace: Workspace, artifact_id: UUID, user_id: UUID) -> None:
    answer = assign(workspace, artifact_id, user_ids=[str(user_id)])
    assert answer.status_code == 200, answer.json


def assign_in_bulk(workspace: Workspace, artifact_id: UUID, user_id: UUID) -> None:
    body = {
        "filter": {},
        "expected_count": 1,
        "user_ids": [str(user_id)],
        "strategy": "least_loaded",
    }
    answer = workspace.org.api("reviewer").post("/artifacts/bulk-assign", body)
    assert answer.json["data"]["succeeded"] == 1, answer.json


def assign_as_rules_do(workspace: Workspace, artifact_id: UUID, user_id: UUID) -> None:
    assignments = [ArtifactAssignment(artifact_id, to(user_id=user_id))]
    with workspace.transaction():
        assert set(assigning.update_assignments(assignments)) == {artifact_id}


@pytest.mark.parametrize("give", [assign_alone, assign_in_bulk, assign_as_rules_do])
def test_what_is_assigned_by_name_after_a_skip_is_handed_out(
    workspace: Workspace, give: Any
) -> None:
    me = workspace.org.users["labeler"]
    fresh = workspace.artifact()
    skip(workspace, claim_next(workspace))
    give(workspace, fresh, me)
    assert claim_next(workspace) == fresh
    workspace.submitted(fresh)
    workspace.sql("UPDATE artifacts SET archived = true")

    begun = sent_back_and_skipped(workspace)
    give(workspace, begun, me)
    assert get_reserved_for(workspace, begun) == [me]
    assert claim_next(workspace) == begun


def test_a_name_outweighs_a_skip_that_came_in_while_it_was_written(workspace: Workspace) -> None:
    org = workspace.org
    artifact = workspace.artifact()
    assert claim_next(workspace) == artifact
    # What is left when the assignment has looked for skips before this one was there.
    skip(workspace, artifact)
    workspace.sql(
        "UPDATE artifacts SET assignees = CAST(:named AS jsonb) WHERE id = :id",
        named=json.dumps(to(user_id=org.users["labeler"])),
        id=artifact,
    )
    listed = org.api("labeler").get("/users/me/assignments").json["data"]
    assert [one["id"] for one in listed] == [str(artifact)]
    assert claim_next(workspace, "admin") is None
    assert claim_next(workspace) == artifact
    skip(workspace, artifact)
    assert org.api("labeler").get("/users/me/assignments").json["data"] == []
    assert claim_next(workspace, "admin") == artifact
