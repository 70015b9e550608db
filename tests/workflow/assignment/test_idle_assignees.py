"""Assignees who have done their part do not keep a document from those who can do the rest."""

from typing import Any
from uuid import UUID

import orjson
import pytest

from tests.factories.errors import check_conflict
from tests.factories.orgs import get_data
from tests.factories.teams import add_members, create_team
from tests.factories.workspace import Workspace, tag
from tests.intake.conftest import Imports
from tests.workflow.actions import publish
from tests.workflow.assignment.conftest import (
    assign,
    claim_next,
    get_assignees,
    get_user_ids,
    reject_to,
    skip,
    to,
)


@pytest.fixture(autouse=True)
def others(workspace: Workspace) -> None:
    for name in ("second", "third"):
        workspace.org.add_user(name, "labeler")


def test_who_has_submitted_is_named_no_more_while_others_are_wanted(workspace: Workspace) -> None:
    schema = workspace.schema(labels_per_artifact=3)
    second = to(user_id=workspace.org.users["second"])
    artifact = workspace.artifact(
        schema, assignees=to(user_id=workspace.org.users["labeler"]) + second
    )
    workspace.submitted(artifact)
    assert get_assignees(workspace, artifact) == second
    assert claim_next(workspace, "third") is None
    workspace.submitted(artifact, by="second")
    assert get_assignees(workspace, artifact) == []
    assert claim_next(workspace) is claim_next(workspace, "second") is None
    assert claim_next(workspace, "third") == artifact
    workspace.submitted(artifact, by="third")
    assert workspace.artifact_row(artifact).status == "in_review"


def test_who_has_submitted_the_last_stays_named(workspace: Workspace) -> None:
    mine = to(user_id=workspace.org.users["labeler"])
    artifact = workspace.artifact(assignees=mine)
    workspace.submitted(artifact)
    assert get_assignees(workspace, artifact) == mine


def test_a_team_that_has_done_its_part_is_named_no_more(workspace: Workspace) -> None:
    team = create_team(workspace.org, "labeler", "second", "viewer")
    schema = workspace.schema(labels_per_artifact=3)
    artifact = workspace.artifact(schema, assignees=to(team_id=team))
    workspace.submitted(artifact)
    assert get_assignees(workspace, artifact) == to(team_id=team)
    assert claim_next(workspace, "third") is None
    workspace.submitted(artifact, by="second")
    assert get_assignees(workspace, artifact) == []
    assert claim_next(workspace, "third") == artifact


def test_a_team_that_has_skipped_it_is_named_no_more(workspace: Workspace) -> None:
    team = create_team(workspace.org, "labeler", "second")
    artifact = workspace.artifact(assignees=to(team_id=team))
    assert claim_next(workspace) == artifact
    skip(workspace, artifact)
    assert claim_next(workspace, "third") is None
    reject_to(workspace, workspace.submitted(artifact, by="second"), "pool")
    assert get_assignees(workspace, artifact) == []
    assert claim_next(workspace) is claim_next(workspace, "second") is None
    assert claim_next(workspace, "third") == artifact


def test_a_team_that_has_skipped_it_is_not_assigned(workspace: Workspace) -> None:
    org = workspace.org
    team = create_team(org, "labeler", "second")
    artifact = workspace.artifact()
    for name in ("labeler", "second"):
        assert org.api(name).post(f"/artifacts/{artifact}/claim").status_code == 200
        skip(workspace, artifact, by=name)
    check_conflict(assign(workspace, artifact, team_id=team))
    assert get_assignees(workspace, artifact) == []


def test_when_more_are_wanted_others_get_it(workspace: Workspace) -> None:
    schema = workspace.schema()
    artifact = workspace.artifact(schema, assignees=to(user_id=workspace.org.users["labeler"]))
    workspace.submitted(artifact)
    publish(workspace, schema, labels_per_artifact=2)
    assert get_assignees(workspace, artifact) == []
    assert claim_next(workspace, "second") == artifact


@pytest.fixture
def imported(workspace: Workspace) -> UUID:
    """Return a document that requires three tag sets, one of which was imported with it."""
    schema_id = str(workspace.schema(labels_per_artifact=3))
    imports = Imports(workspace.org)
    line = orjson.dumps({"text": "Invoice A-1", "tags": [tag("number", "A-1")]})
    job = imports.make(line, schema_id=schema_id)
    (item,) = imports.items(job["id"])
    return UUID(item["artifact_id"])


def test_an_imported_tag_set_unassigns_no_team(workspace: Workspace, imported: UUID) -> None:
    team = create_team(workspace.org, "labeler", "second")
    assert assign(workspace, imported, team_id=team).status_code == 200
    workspace.submitted(imported)
    assert get_assignees(workspace, imported) == to(team_id=team)
    assert claim_next(workspace, "third") is None
    assert claim_next(workspace, "second") == imported


def test_an_imported_tag_set_unassigns_no_user(workspace: Workspace, imported: UUID) -> None:
    both = get_user_ids(workspace, "labeler", "second")
    assert assign(workspace, imported, user_ids=both).status_code == 200
    workspace.submitted(imported)
    assert get_assignees(workspace, imported) == to(user_id=both[1])
    assert claim_next(workspace, "third") is None
    assert claim_next(workspace, "second") == imported


def test_only_those_who_have_not_labeled_it_are_assigned(workspace: Workspace) -> None:
    artifact = workspace.artifact(workspace.schema(labels_per_artifact=2))
    workspace.submitted(artifact)
    me, second = get_user_ids(workspace, "labeler", "second")
    check_conflict(assign(workspace, artifact, user_ids=[me]))
    assert get_assignees(workspace, artifact) == []
    answer = assign(workspace, artifact, user_ids=[me, second])
    assert answer.json["data"]["assignees"] == to(user_id=second)
    (event,) = workspace.events("artifacts.assigned")
    assert (event["user_ids"], event["counts"]) == ([second], {second: 1})
    assert claim_next(workspace, "third") is None
    assert claim_next(workspace, "second") == artifact


def test_who_has_labeled_it_cannot_claim_it(workspace: Workspace) -> None:
    artifact = workspace.artifact(workspace.schema(labels_per_artifact=2))
    sent = workspace.submitted(artifact)
    path = f"/artifacts/{artifact}/claim"
    check_conflict(workspace.org.api("labeler").post(path), labeled=True)
    assert claim_next(workspace, "second") == artifact
    workspace.release(artifact, by="second")
    reject_to(workspace, sent, "labeler")
    assert workspace.org.api("labeler").post(path).status_code == 200


def test_a_team_is_assigned_if_one_of_it_has_not_labeled_it(workspace: Workspace) -> None:
    team = create_team(workspace.org, "labeler", "viewer")
    artifact = workspace.artifact(workspace.schema(labels_per_artifact=2))
    workspace.submitted(artifact)
    check_conflict(assign(workspace, artifact, team_id=team))
    add_members(workspace.org, {"id": team}, "second")
    assert assign(workspace, artifact, team_id=team).status_code == 200
    assert claim_next(workspace, "third") is None
    assert claim_next(workspace, "second") == artifact


def test_who_labels_a_document_in_review_may_be_named(workspace: Workspace) -> None:
    artifact = workspace.artifact()
    workspace.submitted(artifact)
    me = get_user_ids(workspace, "labeler")
    assert assign(workspace, artifact, user_ids=me).status_code == 200


def _distribute(workspace: Workspace, *artifacts: UUID, users: list[str], strategy: str) -> Any:
    ids = [str(artifact) for artifact in artifacts]
    body = {"artifact_ids": ids, "user_ids": users, "strategy": strategy}
    data = get_data(workspace.org.api("reviewer").post("/artifacts/bulk-assign", json=body))
    return [outcome["code"] for outcome in data["outcomes"]]


@pytest.mark.parametrize("strategy", ["round_robin", "least_loaded"])
def test_each_strategy_passes_over_those_who_have_labeled_it(
    workspace: Workspace, strategy: str
) -> None:
    schema = workspace.schema(labels_per_artifact=2)
    labeled = [workspace.artifact(schema) for _ in range(2)]
    fresh = workspace.artifact(schema)
    for artifact in labeled:
        workspace.submitted(artifact)
    me, second = get_user_ids(workspace, "labeler", "second")
    codes = _distribute(workspace, *labeled, fresh, users=[me, second], strategy=strategy)
    assert codes == [None] * 3
    assert [get_assignees(workspace, one) for one in labeled] == [to(user_id=second)] * 2
    assert get_assignees(workspace, fresh) == to(user_id=me)
    codes = _distribute(workspace, *labeled, fresh, users=[me], strategy=strategy)
    assert codes == ["conflict", "conflict", None]
    assert claim_next(workspace, "third") is None
    assert claim_next(workspace, "second") in labeled


@pytest.mark.parametrize("strategy", ["round_robin", "least_loaded"])
def test_a_strategy_does_not_return_rejected_work_to_its_labeler(
    workspace: Workspace, strategy: str
) -> None:
    artifact = workspace.artifact()
    reject_to(workspace, workspace.submitted(artifact), "pool")
    me, second = get_user_ids(workspace, "labeler", "second")
    assert _distribute(workspace, artifact, users=[me], strategy=strategy) == ["conflict"]
    assert _distribute(workspace, artifact, users=[me, second], strategy=strategy) == [None]
    assert get_assignees(workspace, artifact) == to(user_id=second)
    # A reviewer who names the labeler has decided.
    assert _distribute(workspace, artifact, users=[me], strategy="everyone") == [None]
    assert claim_next(workspace) == artifact
