"""Begun drafts keep their document; rejected work does not come back to its labeler as new."""

from typing import Any
from uuid import UUID

import pytest

from app.kit import db, tenancy
from app.workflow.tag_sets import jobs
from tests.factories.work import make_job, run_jobs_of
from tests.factories.workspace import Workspace, tag
from tests.workflow.actions import submit
from tests.workflow.assignment.conftest import claim_next, expire, reject_to, to

CLAIM_MINUTES = 30
pytestmark = pytest.mark.usefixtures("second")


def _begin_draft(workspace: Workspace, **members: Any) -> tuple[UUID, dict[str, Any]]:
    """A document with a saved draft whose claim has ended."""
    artifact = workspace.artifact(**members)
    draft = workspace.saved(artifact)
    expire(workspace, artifact)
    return artifact, draft


def _assert_reserved(workspace: Workspace, artifact: UUID) -> None:
    """Neither a claim nor a draft by somebody else goes through."""
    api = workspace.org.api("second")
    for path in ("claim", "tag-sets"):
        answer = api.post(f"/artifacts/{artifact}/{path}", json={} if path == "tag-sets" else None)
        assert answer.status_code == 409, answer.json
        assert answer.json["error"]["details"] == {"reserved": True}


def test_a_begun_draft_keeps_its_document_when_the_claim_ends(workspace: Workspace) -> None:
    artifact, draft = _begin_draft(workspace)
    assert claim_next(workspace, "second") is None
    _assert_reserved(workspace, artifact)
    assert claim_next(workspace) == artifact
    assert submit(workspace, draft).status_code == 200


def test_an_empty_save_does_not_begin(workspace: Workspace) -> None:
    artifact = workspace.artifact()
    workspace.save(workspace.draft(artifact), [])
    expire(workspace, artifact)
    assert claim_next(workspace, "second") == artifact


def test_an_empty_draft_does_not_take_what_another_has_begun(workspace: Workspace) -> None:
    artifact = workspace.artifact()
    workspace.draft(artifact)
    expire(workspace, artifact)
    assert claim_next(workspace, "second") == artifact
    draft = workspace.saved(artifact, by="second")
    expire(workspace, artifact)
    assert claim_next(workspace) is None
    assert claim_next(workspace, "second") == artifact
    assert submit(workspace, draft, by="second").status_code == 200


@pytest.mark.parametrize("by", ["labeler", "admin"])
def test_a_release_frees_it_even_without_a_claim(workspace: Workspace, by: str) -> None:
    artifact, draft = _begin_draft(workspace)
    refused = workspace.org.api("second").post(f"/artifacts/{artifact}/release", json={})
    assert refused.status_code == 409, refused.json
    workspace.release(artifact, by=by)
    assert claim_next(workspace, "second") == artifact
    assert workspace.org.api("labeler").get(f"/tag-sets/{draft['id']}").status_code == 200


def test_discarding_and_submitting_free_it(workspace: Workspace) -> None:
    artifact, draft = _begin_draft(workspace)
    answer = workspace.org.api("labeler").delete(
        f"/tag-sets/{draft['id']}?revision={draft['revision']}"
    )
    assert answer.status_code == 204, answer.json
    assert claim_next(workspace, "second") == artifact


def test_a_draft_that_was_left_for_long_frees_it(workspace: Workspace) -> None:
    workspace.settings(draft_hours=2)
    artifact, draft = _begin_draft(workspace)
    (row,) = workspace.sql(
        "SELECT reserved_until - updated_at AS kept FROM tag_sets WHERE id = :id", id=draft["id"]
    )
    assert row.kept.total_seconds() == (2 * 60 + CLAIM_MINUTES) * 60
    _run_due(workspace)
    assert claim_next(workspace, "second") is None
    workspace.sql("UPDATE tag_sets SET reserved_until = now() WHERE id = :id", id=draft["id"])
    _run_due(workspace)
    assert claim_next(workspace, "second") == artifact
    # A save of the draft that stayed begins anew, once nobody else has the document.
    workspace.release(artifact, by="second")
    assert workspace.save(draft, [tag("number", "A-2")]).status_code == 200
    expire(workspace, artifact)
    assert claim_next(workspace, "second") is None


def _run_due(workspace: Workspace) -> None:
    """Run the periodic job for this organization."""
    everything = tenancy.across_organizations(reason="as the job")
    with workspace.org.app.app_context(), everything, db.transaction():
        jobs.enqueue_expired_reservation_jobs(make_job(None, {}))
    run_jobs_of(workspace.org, "bulk")


def test_of_overlapping_documents_a_begun_draft_keeps_one_place(workspace: Workspace) -> None:
    workspace.org.add_user("third", "labeler")
    artifact = workspace.artifact(workspace.schema(labels_per_artifact=2))
    workspace.saved(artifact)
    expire(workspace, artifact)
    workspace.submitted(artifact, by="second")
    assert claim_next(workspace, "third") is None
    assert claim_next(workspace) == artifact


def test_a_rejected_document_goes_to_others(workspace: Workspace) -> None:
    schema = workspace.schema()
    rejected = workspace.artifact(schema, priority=90)
    reject_to(workspace, workspace.submitted(rejected), "pool")
    other = workspace.artifact(schema)
    assert claim_next(workspace) == other
    assert claim_next(workspace, "second") == rejected


def test_a_rejected_document_is_not_given_to_its_labeler_again(workspace: Workspace) -> None:
    mine = to(user_id=workspace.org.users["labeler"])
    schema = workspace.schema()
    rejected = workspace.artifact(schema, priority=90, assignees=mine)
    body = {"tag_set_ids": [workspace.submitted(rejected)["id"]], "reason": "No", "send_to": "pool"}
    answer = workspace.org.api("reviewer").post("/review-queue/bulk-reject", json=body)
    assert answer.json["data"]["succeeded"] == 1, answer.json
    other = workspace.artifact(schema)
    assert [claim_next(workspace, skip_held=True) for _ in range(2)] == [other, None]
    # By name they may have it all the same.
    assert workspace.org.api("labeler").post(f"/artifacts/{rejected}/claim").status_code == 200


def test_rejections_are_counted_by_document(workspace: Workspace) -> None:
    artifact = workspace.artifact(workspace.schema(max_rejections=2))
    first = workspace.submitted(artifact)
    reject_to(workspace, first, "pool")
    second = workspace.submitted(artifact, by="second")
    assert second["rejections"] == 1
    reject_to(workspace, second, "pool")
    third = workspace.draft(artifact)
    assert third["rejections"] == 2
    assert workspace.save(third, [tag("number", "A")]).json["data"]["rejections"] == 2
    assert submit(workspace, third).status_code == 200
    body = {"reason": "Again", "send_to": "labeler"}
    answer = workspace.org.api("reviewer").post(f"/tag-sets/{third['id']}/reject", json=body)
    assert (answer.status_code, answer.json["error"]["details"]["rejections"]) == (409, 2)
    selection = {"tag_set_ids": [third["id"]], **body}
    many = workspace.org.api("reviewer").post("/review-queue/bulk-reject", json=selection)
    assert many.json["data"]["failed"] == 1, many.json


def test_independent_label_sets_count_their_own_rejections(workspace: Workspace) -> None:
    artifact = workspace.artifact(workspace.schema(labels_per_artifact=2))
    reject_to(workspace, workspace.submitted(artifact), "pool")
    assert workspace.draft(artifact, by="second")["rejections"] == 0
    assert workspace.draft(artifact)["rejections"] == 1
