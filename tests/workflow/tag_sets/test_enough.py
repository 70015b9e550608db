"""No more label sets of a document than its schema asks for."""

from typing import Any
from uuid import UUID

import pytest

from tests.factories.errors import check_conflict
from tests.factories.workspace import Workspace, counts, tag
from tests.workflow.actions import accept, get_tag_set, reject, start_draft, submit


def _two_drafts(workspace: Workspace, artifact_id: UUID) -> tuple[dict[str, Any], dict[str, Any]]:
    """Drafts of two people on one document, which the first one has released."""
    workspace.org.add_user("second", "labeler")
    first = workspace.saved(artifact_id)
    workspace.release(artifact_id)
    return first, workspace.saved(artifact_id, by="second")


@pytest.mark.parametrize("accepted", [False, True])
def test_a_document_with_enough_takes_no_further_draft(
    workspace: Workspace, accepted: bool
) -> None:
    workspace.org.add_user("second", "labeler")
    sent = workspace.submitted()
    if accepted:
        assert accept(workspace, sent).status_code == 200
    for by in ("labeler", "second"):
        error = check_conflict(start_draft(workspace, sent["artifact_id"], by=by))
        assert error["details"]["state"] == ("done" if accepted else "in_review")
    assert workspace.artifact_row(sent["artifact_id"]).label_counts in (
        counts(submitted=1), counts(accepted=1),
    )  # fmt: skip


def test_a_rejected_one_makes_room(workspace: Workspace) -> None:
    workspace.org.add_user("second", "labeler")
    sent = workspace.submitted()
    assert reject(workspace, sent, send_to="pool").status_code == 200
    assert workspace.submitted(sent["artifact_id"], by="second")["status"] == "submitted"


def test_overlapping_label_sets_are_as_many_as_asked_for(workspace: Workspace) -> None:
    artifact_id = workspace.artifact(workspace.schema(labels_per_artifact=2))
    for name in ("second", "third"):
        workspace.org.add_user(name, "labeler")
    for name in ("labeler", "second"):
        assert accept(workspace, workspace.submitted(artifact_id, by=name)).status_code == 200
    check_conflict(start_draft(workspace, artifact_id, by="third"), state="done")


def test_no_more_are_accepted_than_asked_for(workspace: Workspace) -> None:
    first, second = _two_drafts(workspace, workspace.artifact())
    submit(workspace, first)
    submit(workspace, second, by="second")
    assert accept(workspace, first).status_code == 200
    check_conflict(accept(workspace, second), accepted=[first["id"]], labels_per_artifact=1)
    row = workspace.artifact_row(first["artifact_id"])
    assert (row.status, row.label_counts) == ("done", counts(accepted=1, submitted=1))
    assert len(workspace.events("tag_set.accepted")) == 1


def test_what_sampling_passes_by_waits_for_a_reviewer_when_there_are_enough(
    workspace: Workspace,
) -> None:
    first, second = _two_drafts(workspace, workspace.artifact(workspace.schema(sample_rate=0.0)))
    assert submit(workspace, first).json["data"]["status"] == "accepted"
    assert submit(workspace, second, by="second").json["data"]["status"] == "submitted"
    assert len(workspace.events("tag_set.accepted")) == 1


def test_what_was_begun_is_handed_out_and_handed_in_when_others_were_faster(
    workspace: Workspace,
) -> None:
    first, second = _two_drafts(workspace, workspace.artifact())
    assert submit(workspace, second, by="second").status_code == 200
    next_artifact = workspace.org.api("labeler").post("/artifacts/next", json={}).json["data"]
    assert next_artifact["id"] == first["artifact_id"]
    assert workspace.save(first, [tag("number", "A-2")]).status_code == 200
    sent = submit(workspace, first)
    assert sent.json["data"]["status"] == "submitted"
    body = {"tag_set_ids": [first["id"], second["id"]], "strategy": "majority", "accept": True}
    body["choices"] = [{"field": "number", "tag_set_id": first["id"]}]
    merged = workspace.org.api("reviewer").post("/tag-sets/merge", json=body)
    assert merged.json["data"]["status"] == "accepted"
    assert workspace.artifact_row(first["artifact_id"]).status == "done"


def test_what_was_begun_is_not_handed_out_when_the_document_is_done(workspace: Workspace) -> None:
    first, second = _two_drafts(workspace, workspace.artifact())
    assert submit(workspace, second, by="second").status_code == 200
    assert accept(workspace, second).status_code == 200
    assert workspace.org.api("labeler").post("/artifacts/next", json={}).json["data"] is None
    # Nothing that was saved is lost by that: handed in after all, it waits for a reviewer.
    assert submit(workspace, first).json["data"]["status"] == "submitted"
    assert workspace.artifact_row(first["artifact_id"]).status == "done"


@pytest.mark.parametrize("accepted", [False, True])
def test_none_is_sent_to_a_person_who_has_an_independent_one(
    workspace: Workspace, accepted: bool
) -> None:
    artifact_id = workspace.artifact(workspace.schema(labels_per_artifact=2))
    second = str(workspace.org.add_user("second", "labeler"))
    third = str(workspace.org.add_user("third", "labeler"))
    sent, other = workspace.submitted(artifact_id), workspace.submitted(artifact_id, by="second")
    if accepted:
        assert accept(workspace, other).status_code == 200
    check_conflict(reject(workspace, sent, send_to=second), tag_set_id=other["id"])
    assert get_tag_set(workspace, sent) == sent
    assert reject(workspace, sent, send_to=third).status_code == 200


def test_an_independent_one_goes_back_to_its_own_labeler(workspace: Workspace) -> None:
    sent = workspace.submitted(workspace.artifact(workspace.schema(labels_per_artifact=2)))
    answer = reject(workspace, sent, send_to="labeler")
    assert answer.json["data"]["status"] == "draft"


def test_its_labeler_cannot_discard_what_was_sent_back(workspace: Workspace) -> None:
    sent = workspace.submitted()
    back = reject(workspace, sent).json["data"]
    path = f"/tag-sets/{sent['id']}"
    check_conflict(workspace.org.api("labeler").delete(path), rejections=1)
    assert workspace.org.api("labeler").get(path).json["data"] == back
    assert [r.kind for r in workspace.revisions(sent["id"])] == [
        "create",
        "save",
        "submit",
        "reject",
    ]
    assert workspace.org.api("admin").delete(path).status_code == 204
