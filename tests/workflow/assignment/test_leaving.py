"""What becomes of documents that wait for somebody who leaves, or does not label any more."""

from collections.abc import Callable

import pytest
from sqlalchemy import text

from app.kit import db
from app.workflow.assignment.queries import assignees
from app.workflow.assignment.service import assigning
from tests.factories.errors import check_invalid_field
from tests.factories.teams import create_team
from tests.factories.workspace import Workspace, tag
from tests.workflow.actions import reject, set_role
from tests.workflow.assignment.conftest import (
    assign,
    claim_next,
    get_assignees,
    get_reserved_for,
    get_user_ids,
    to,
)

pytestmark = pytest.mark.usefixtures("second")
_HOWS = pytest.mark.parametrize("role", [None, "viewer"])


@_HOWS
def test_what_was_sent_back_to_them_is_free_for_others(
    workspace: Workspace, work: Callable[[], None], role: str | None
) -> None:
    sent = workspace.submitted()
    assert reject(workspace, sent).status_code == 200
    workspace.release(sent["artifact_id"])
    assert claim_next(workspace, "second") is None
    set_role(workspace, "labeler", role)
    work()
    assert get_reserved_for(workspace, sent["artifact_id"]) == []
    assert str(claim_next(workspace, "second")) == sent["artifact_id"]


def test_who_labels_on_in_another_role_keeps_it(
    workspace: Workspace, work: Callable[[], None]
) -> None:
    sent = workspace.submitted()
    assert reject(workspace, sent).status_code == 200
    set_role(workspace, "labeler", "reviewer")
    work()
    assert get_reserved_for(workspace, sent["artifact_id"]) == [workspace.org.users["labeler"]]
    row = workspace.artifact_row(sent["artifact_id"])
    assert row.claim_user_id == workspace.org.users["labeler"]
    assert claim_next(workspace, "second") is None


def test_who_becomes_a_viewer_holds_and_is_assigned_nothing(
    workspace: Workspace, work: Callable[[], None]
) -> None:
    schema_id = workspace.schema()
    claimed, assigned = workspace.artifact(schema_id), workspace.artifact(schema_id)
    assert workspace.org.api("labeler").post(f"/artifacts/{claimed}/claim").status_code == 200
    user_ids = get_user_ids(workspace, "labeler")
    assert assign(workspace, assigned, user_ids=user_ids).status_code == 200
    set_role(workspace, "labeler", "viewer")
    work()
    assert workspace.artifact_row(claimed).claim_user_id is None
    assert workspace.events("artifact.released")[-1]["reason"] == "role_changed"
    assert get_assignees(workspace, assigned) == []


@_HOWS
def test_an_admin_who_saves_their_draft_keeps_nothing_for_them(
    workspace: Workspace, work: Callable[[], None], role: str | None
) -> None:
    saved = workspace.saved()
    set_role(workspace, "labeler", role)
    work()
    assert workspace.save(saved, [tag("number", "B")], by="admin").status_code == 200
    assert workspace.artifact_row(saved["artifact_id"]).claim_user_id is None
    assert get_reserved_for(workspace, saved["artifact_id"]) == []
    assert str(claim_next(workspace, "second")) == saved["artifact_id"]


def test_an_admin_who_saves_the_draft_of_a_labeler_renews_their_claim(workspace: Workspace) -> None:
    saved = workspace.saved()
    workspace.release(saved["artifact_id"])
    assert workspace.save(saved, [tag("number", "B")], by="admin").status_code == 200
    labeler = workspace.org.users["labeler"]
    assert workspace.artifact_row(saved["artifact_id"]).claim_user_id == labeler
    assert get_reserved_for(workspace, saved["artifact_id"]) == [labeler]
    assert claim_next(workspace, "admin") is None


@_HOWS
def test_nothing_is_sent_back_to_who_does_not_label_any_more(
    workspace: Workspace, work: Callable[[], None], role: str | None
) -> None:
    sent = workspace.submitted()
    set_role(workspace, "labeler", role)
    work()
    check_invalid_field(reject(workspace, sent), "send_to")
    body = {"tag_set_ids": [sent["id"]], "reason": "x", "send_to": "labeler"}
    answer = workspace.org.api("reviewer").post("/review-queue/bulk-reject", json=body)
    (outcome,) = answer.json["data"]["outcomes"]
    assert (outcome["ok"], outcome["code"]) == (False, "validation_error")
    assert reject(workspace, sent, send_to="pool").status_code == 200


def test_a_disabled_account_holds_and_is_assigned_nothing(
    workspace: Workspace, work: Callable[[], None]
) -> None:
    labeler = str(workspace.org.users["labeler"])
    schema_id = workspace.schema()
    claimed, assigned = workspace.artifact(schema_id), workspace.artifact(schema_id)
    kept = workspace.submitted(workspace.artifact(schema_id))
    assert reject(workspace, kept).status_code == 200
    workspace.release(kept["artifact_id"])
    assert workspace.org.api("labeler").post(f"/artifacts/{claimed}/claim").status_code == 200
    assert assign(workspace, assigned, user_ids=[labeler]).status_code == 200
    workspace.disable("labeler")
    work()
    assert workspace.artifact_row(claimed).claim_user_id is None
    assert workspace.events("artifact.released")[-1]["reason"] == "account_disabled"
    assert get_assignees(workspace, assigned) == []
    assert assign(workspace, assigned, user_ids=[labeler]).status_code == 400
    assert get_reserved_for(workspace, kept["artifact_id"]) == []


def test_nothing_is_sent_back_to_a_disabled_account(workspace: Workspace) -> None:
    sent = workspace.submitted()
    workspace.disable("labeler")
    check_invalid_field(reject(workspace, sent), "send_to")
    assert reject(workspace, sent, send_to="pool").status_code == 200
    assert get_reserved_for(workspace, sent["artifact_id"]) == []


def test_a_late_event_takes_nothing_from_who_labels_again(
    workspace: Workspace, work: Callable[[], None]
) -> None:
    team = create_team(workspace.org, "labeler")
    labeler = str(workspace.org.users["labeler"])
    schema_id = workspace.schema()
    claimed, named, teams = (workspace.artifact(schema_id) for _ in range(3))
    assert workspace.org.api("labeler").post(f"/artifacts/{claimed}/claim").status_code == 200
    assert assign(workspace, named, user_ids=[labeler]).status_code == 200
    assert assign(workspace, teams, team_id=team).status_code == 200
    set_role(workspace, "labeler", "viewer")
    set_role(workspace, "labeler", "labeler")
    work()
    assert workspace.artifact_row(claimed).claim_user_id == workspace.org.users["labeler"]
    assert get_assignees(workspace, named) == to(user_id=labeler)
    assert get_assignees(workspace, teams) == to(team_id=team)
    assert workspace.events("artifact.released") == workspace.events("artifacts.unassigned") == []


def test_who_labels_again_between_two_batches_keeps_the_rest(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(assignees, "BATCH_SIZE", 1)
    labeler, schema_id = workspace.org.users["labeler"], workspace.schema()
    ids = [workspace.artifact(schema_id) for _ in range(2)]
    for artifact_id in ids:
        assert assign(workspace, artifact_id, user_ids=[str(labeler)]).status_code == 200
    set_role(workspace, "labeler", "viewer")

    def checkpoint() -> None:
        statement = "UPDATE memberships SET role = 'labeler' WHERE user_id = :id"
        db.session().execute(text(statement), {"id": labeler})
        db.checkpoint()

    with workspace.transaction():
        assigning.unassign(labeler, checkpoint, reason="role_changed")
    assert sorted(len(get_assignees(workspace, artifact_id)) for artifact_id in ids) == [0, 1]
