"""No more label sets of a document than its schema asks for."""

from typing import Any
from uuid import UUID

import pytest

from tests.factories.desk import Desk, counts, tag


def _act(desk: Desk, tag_set: dict[str, Any], verb: str, *, by: str, **body: Any) -> Any:
    return desk.org.api(by).post(f"/tag-sets/{tag_set['id']}/{verb}", json=body or None)


def _accept(desk: Desk, tag_set: dict[str, Any]) -> Any:
    return desk.org.api("reviewer").post(f"/tag-sets/{tag_set['id']}/accept", json={})


def _two_drafts(desk: Desk, artifact_id: UUID) -> tuple[dict[str, Any], dict[str, Any]]:
    """Drafts of two people on one document, which the first one has released."""
    desk.org.add_user("second", "labeler")
    first = desk.saved(artifact_id)
    desk.release(artifact_id)
    return first, desk.saved(artifact_id, by="second")


@pytest.mark.parametrize("accepted", [False, True])
def test_a_document_with_enough_takes_no_further_draft(desk: Desk, accepted: bool) -> None:
    desk.org.add_user("second", "labeler")
    sent = desk.submitted()
    if accepted:
        assert _accept(desk, sent).status_code == 200
    path = f"/artifacts/{sent['artifact_id']}/tag-sets"
    for by in ("labeler", "second"):
        answer = desk.org.api(by).post(path, json={})
        assert answer.status_code == 409
        assert answer.json["error"]["code"] == "conflict"
        assert answer.json["error"]["details"]["state"] == ("done" if accepted else "in_review")
    assert desk.artifact_row(sent["artifact_id"]).label_counts in (
        counts(submitted=1), counts(accepted=1),
    )  # fmt: skip


def test_a_rejected_one_makes_room(desk: Desk) -> None:
    desk.org.add_user("second", "labeler")
    sent = desk.submitted()
    body = {"reason": "No.", "send_to": "pool"}
    assert _act(desk, sent, "reject", by="reviewer", **body).status_code == 200
    assert desk.submitted(sent["artifact_id"], by="second")["status"] == "submitted"


def test_overlapping_label_sets_are_as_many_as_asked_for(desk: Desk) -> None:
    artifact_id = desk.artifact(desk.schema(labels_per_artifact=2))
    for name in ("second", "third"):
        desk.org.add_user(name, "labeler")
    for name in ("labeler", "second"):
        assert _accept(desk, desk.submitted(artifact_id, by=name)).status_code == 200
    answer = desk.org.api("third").post(f"/artifacts/{artifact_id}/tag-sets", json={})
    assert answer.status_code == 409
    assert answer.json["error"]["details"] == {"state": "done"}


def test_no_more_are_accepted_than_asked_for(desk: Desk) -> None:
    first, second = _two_drafts(desk, desk.artifact())
    _act(desk, first, "submit", by="labeler")
    _act(desk, second, "submit", by="second")
    assert _accept(desk, first).status_code == 200
    answer = _accept(desk, second)
    assert answer.status_code == 409
    assert answer.json["error"]["code"] == "conflict"
    assert answer.json["error"]["details"] == {"accepted": [first["id"]], "labels_per_artifact": 1}
    row = desk.artifact_row(first["artifact_id"])
    assert (row.status, row.label_counts) == ("done", counts(accepted=1, submitted=1))
    assert len(desk.events("tag_set.accepted")) == 1


def test_what_sampling_passes_by_waits_for_a_reviewer_when_there_are_enough(desk: Desk) -> None:
    first, second = _two_drafts(desk, desk.artifact(desk.schema(sample_rate=0.0)))
    assert _act(desk, first, "submit", by="labeler").json["data"]["status"] == "accepted"
    assert _act(desk, second, "submit", by="second").json["data"]["status"] == "submitted"
    assert len(desk.events("tag_set.accepted")) == 1


def test_what_was_begun_is_handed_out_and_handed_in_when_others_were_faster(desk: Desk) -> None:
    first, second = _two_drafts(desk, desk.artifact())
    assert _act(desk, second, "submit", by="second").status_code == 200
    drawn = desk.org.api("labeler").post("/artifacts/next", json={}).json["data"]
    assert drawn["id"] == first["artifact_id"]
    assert desk.save(first, [tag("number", "A-2")]).status_code == 200
    sent = _act(desk, first, "submit", by="labeler")
    assert sent.json["data"]["status"] == "submitted"
    body = {"tag_set_ids": [first["id"], second["id"]], "strategy": "majority", "accept": True}
    body["choices"] = [{"field": "number", "tag_set_id": first["id"]}]
    merged = desk.org.api("reviewer").post("/tag-sets/merge", json=body)
    assert merged.json["data"]["status"] == "accepted"
    assert desk.artifact_row(first["artifact_id"]).status == "done"


def test_what_was_begun_is_not_handed_out_when_the_document_is_done(desk: Desk) -> None:
    first, second = _two_drafts(desk, desk.artifact())
    assert _act(desk, second, "submit", by="second").status_code == 200
    assert _accept(desk, second).status_code == 200
    assert desk.org.api("labeler").post("/artifacts/next", json={}).json["data"] is None
    # Nothing that was saved is lost by that: handed in after all, it waits for a reviewer.
    assert _act(desk, first, "submit", by="labeler").json["data"]["status"] == "submitted"
    assert desk.artifact_row(first["artifact_id"]).status == "done"


@pytest.mark.parametrize("accepted", [False, True])
def test_none_is_sent_to_a_person_who_has_an_independent_one(desk: Desk, accepted: bool) -> None:
    artifact_id = desk.artifact(desk.schema(labels_per_artifact=2))
    second = desk.org.add_user("second", "labeler")
    third = desk.org.add_user("third", "labeler")
    sent, other = desk.submitted(artifact_id), desk.submitted(artifact_id, by="second")
    if accepted:
        assert _accept(desk, other).status_code == 200
    body = {"reason": "No.", "send_to": str(second)}
    answer = _act(desk, sent, "reject", by="reviewer", **body)
    assert answer.status_code == 409
    assert answer.json["error"]["details"] == {"tag_set_id": other["id"]}
    assert desk.org.api("reviewer").get(f"/tag-sets/{sent['id']}").json["data"] == sent
    body["send_to"] = str(third)
    assert _act(desk, sent, "reject", by="reviewer", **body).status_code == 200


def test_an_independent_one_goes_back_to_its_own_labeler(desk: Desk) -> None:
    sent = desk.submitted(desk.artifact(desk.schema(labels_per_artifact=2)))
    answer = _act(desk, sent, "reject", by="reviewer", reason="No.", send_to="labeler")
    assert answer.json["data"]["status"] == "draft"


def test_its_labeler_cannot_discard_what_was_sent_back(desk: Desk) -> None:
    sent = desk.submitted()
    back = _act(desk, sent, "reject", by="reviewer", reason="No.").json["data"]
    path = f"/tag-sets/{sent['id']}"
    answer = desk.org.api("labeler").delete(path)
    assert answer.status_code == 409
    assert answer.json["error"]["code"] == "conflict"
    assert answer.json["error"]["details"] == {"rejections": 1}
    assert desk.org.api("labeler").get(path).json["data"] == back
    assert [r.kind for r in desk.revisions(sent["id"])] == ["create", "save", "submit", "reject"]
    assert desk.org.api("admin").delete(path).status_code == 204
