"""Submitting."""

from hashlib import sha256
from uuid import UUID

from app.kit.ids import uuid7
from app.workflow.tag_sets.service.submitting import is_sampled
from tests.factories.errors import check_error, check_invalid_field, check_stale
from tests.factories.orgs import get_data
from tests.factories.workspace import Workspace, counts, tag
from tests.workflow.actions import get_tag_set, submit


def test_submission_hands_a_draft_to_review(workspace: Workspace) -> None:
    draft = workspace.saved()
    sent = get_data(submit(workspace, draft))
    assert (sent["status"], sent["revision"], sent["decided_at"]) == ("submitted", 3, None)
    assert sent["submitted_at"] is not None
    assert sent["tags"] == draft["tags"]
    row = workspace.artifact_row(draft["artifact_id"])
    assert (row.status, row.label_counts) == ("in_review", counts(submitted=1))
    assert (row.claim_user_id, row.claim_expires_at) == (None, None)
    assert [(r.number, r.kind) for r in workspace.revisions(draft["id"])] == [
        (1, "create"), (2, "save"), (3, "submit"),
    ]  # fmt: skip
    (event,) = workspace.events("tag_set.submitted")
    assert event["tag_set_id"] == draft["id"]
    assert workspace.events("tag_set.accepted") == []


def test_submission_needs_every_required_field(workspace: Workspace) -> None:
    draft = workspace.draft()
    saved = workspace.save(draft, [tag("note", "x")]).json["data"]
    answer = submit(workspace, saved)
    check_error(answer, 400, "required_fields_missing", details={"fields": ["number"]})
    assert get_tag_set(workspace, draft) == saved


def test_submission_checks_against_the_document_as_it_is_now(workspace: Workspace) -> None:
    draft = workspace.draft()
    tags = [tag("number", "A", evidence=[{"start": 900, "end": 903}])]
    saved = workspace.save(draft, tags).json["data"]
    workspace.sql("UPDATE artifacts SET text_length = 100 WHERE id = :id", id=draft["artifact_id"])
    check_invalid_field(submit(workspace, saved), "tags.0.evidence.0.start")


def test_submission_may_name_the_revision(workspace: Workspace) -> None:
    draft = workspace.saved()
    check_stale(submit(workspace, draft, headers={"If-Match": '"1"'}), 2)
    assert submit(workspace, draft, headers={"If-Match": '"2"'}).status_code == 200


def test_what_sampling_passes_by_is_accepted_by_itself(workspace: Workspace) -> None:
    sent = workspace.submitted(workspace.artifact(workspace.schema(sample_rate=0.0)))
    assert sent["status"] == "accepted"
    assert sent["reviewer"] is None
    assert sent["decided_at"] is not None
    (event,) = workspace.events("tag_set.accepted")
    assert (event["reviewer_id"], event["corrected"]) == (None, False)
    assert len(workspace.events("tag_set.submitted")) == 1
    kinds = [(r.number, r.kind) for r in workspace.revisions(sent["id"])]
    assert kinds[-2:] == [(3, "submit"), (4, "accept")]
    assert workspace.artifact_row(sent["artifact_id"]).status == "done"


def test_the_sample_is_decided_by_document_and_labeler(workspace: Workspace) -> None:
    schema_id = workspace.schema(sample_rate=0.5)
    sent = [workspace.submitted(workspace.artifact(schema_id)) for _ in range(8)]
    labeler_id = workspace.org.users["labeler"]
    for tag_set in sent:
        with workspace.org.app.app_context():
            lot = is_sampled(UUID(tag_set["artifact_id"]), labeler_id, 0.5)
        assert tag_set["status"] == ("submitted" if lot else "accepted")


def test_nobody_is_spared_by_beginning_again(workspace: Workspace) -> None:
    schema_id = workspace.schema(sample_rate=0.5)
    api = workspace.org.api("labeler")
    sent = []
    for _ in range(16):
        artifact_id = workspace.artifact(schema_id)
        draft = workspace.draft(artifact_id)
        # A hash that anybody could work out, of something that changes with each draft.
        while sha256(UUID(draft["id"]).bytes).digest()[0] < 128:
            answer = api.delete(f"/tag-sets/{draft['id']}?revision=1")
            assert answer.status_code == 204, answer.json
            draft = workspace.draft(artifact_id)
        workspace.save(draft, [tag("number", "A")])
        sent.append(api.post(f"/tag-sets/{draft['id']}/submit").json["data"]["status"])
    assert "submitted" in sent


def test_the_sample_is_of_the_rate_and_grows_with_it(workspace: Workspace) -> None:
    pairs = [(uuid7(), uuid7()) for _ in range(4000)]
    with workspace.org.app.app_context():
        low = {i for i in pairs if is_sampled(*i, 0.2)}
        high = {i for i in pairs if is_sampled(*i, 0.6)}
        assert low < high
        assert 600 < len(low) < 1000
        assert 2200 < len(high) < 2600
        assert all(is_sampled(*i, 1.0) for i in pairs)
        assert not any(is_sampled(*i, 0.0) for i in pairs)
        assert low == {i for i in pairs if is_sampled(*i, 0.2)}


def test_the_revision_counts_in_the_body_too(workspace: Workspace) -> None:
    saved = workspace.saved()
    path, api = f"/tag-sets/{saved['id']}", workspace.org.api("labeler")
    old = {"revision": saved["revision"] - 1}
    for stale in (api.post(f"{path}/submit", old), api.delete(path, json=old)):
        check_stale(stale, saved["revision"])
    sent = api.post(f"{path}/submit", {"revision": saved["revision"]})
    assert sent.json["data"]["status"] == "submitted"


def test_a_doubtful_prediction_is_flagged(workspace: Workspace) -> None:
    draft = workspace.draft()
    saved = workspace.save(draft, [tag("number", "A", confidence=0.4)]).json["data"]
    workspace.mark_tags_as_predicted(saved)
    submit(workspace, saved)
    (queued,) = workspace.org.api("reviewer").get("/review-queue?flag=low_confidence").json["data"]
    assert queued["id"] == draft["id"]
    assert queued["flags"] == ["low_confidence"]
