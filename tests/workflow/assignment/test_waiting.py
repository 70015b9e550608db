"""Statements that wait for a lock see what the transaction that they waited for has changed."""

from typing import Any

from sqlalchemy import text

from app.identity.control_plane import accounts
from app.kit import db, tenancy
from app.workflow.assignment.service import claims
from tests.factories.errors import check_conflict, check_invalid_field
from tests.factories.queueing import hold_lock
from tests.factories.workspace import Workspace, counts

_LOCK = text("SELECT FROM artifacts WHERE id = :id FOR NO KEY UPDATE")


def _lock(workspace: Workspace, artifact_id: Any) -> None:
    with tenancy.organization(workspace.org.id):
        db.session().execute(_LOCK, {"id": artifact_id})


def test_a_claim_renewed_during_the_submission_is_not_kept(workspace: Workspace) -> None:
    draft = workspace.saved(workspace.artifact(workspace.schema(labels_per_artifact=2)))
    artifact_id, labeler = draft["artifact_id"], workspace.org.api("labeler")
    with hold_lock(workspace.org.app, lambda: _lock(workspace, artifact_id)) as start:
        start(lambda: labeler.post(f"/tag-sets/{draft['id']}/submit"))
        renewed = start(
            lambda: workspace.org.api("labeler").post(f"/artifacts/{artifact_id}/claim")
        )
    check_conflict(renewed.result(), labeled=True)
    row = workspace.artifact_row(artifact_id)
    assert (row.claim_user_id, row.label_counts) == (None, counts(submitted=1))


def test_a_draft_begun_while_its_labeler_leaves_keeps_the_document_in_progress(
    workspace: Workspace,
) -> None:
    artifact_id, org = workspace.artifact(), workspace.org
    labeler = org.api("labeler")
    assert labeler.post(f"/artifacts/{artifact_id}/claim").status_code == 200

    def release() -> None:
        with workspace.transaction():
            claims.release_all_claims(org.users["labeler"], reason="account_disabled")

    with hold_lock(workspace.org.app, lambda: _lock(workspace, artifact_id)) as start:
        begun = start(lambda: labeler.post(f"/artifacts/{artifact_id}/tag-sets", json={}))
        # The account is disabled after the request was authenticated.
        workspace.disable("labeler")
        start(release)
    assert begun.result().status_code == 201
    row = workspace.artifact_row(artifact_id)
    assert (row.status, row.claim_user_id) == ("in_progress", None)
    assert row.label_counts == counts(draft=1)


def test_nothing_is_assigned_to_an_account_that_is_being_disabled(workspace: Workspace) -> None:
    artifact_id, org = workspace.artifact(), workspace.org
    email, body = org.email("labeler"), {"user_ids": [str(org.users["labeler"])]}
    with hold_lock(workspace.org.app, lambda: accounts.disable_user(email)) as start:
        assigned = start(lambda: org.api("admin").post(f"/artifacts/{artifact_id}/assign", body))
    check_invalid_field(assigned.result(), "user_ids.0")
