"""Taking a verdict back."""

from typing import Any
from uuid import UUID

import pytest

from tests.factories.desk import Desk, counts, tag


def _reopen(desk: Desk, tag_set: dict[str, Any], *, by: str = "reviewer", **body: Any) -> Any:
    body = {"reason": "The total is wrong.", **body}
    return desk.org.api(by).post(f"/tag-sets/{tag_set['id']}/reopen", json=body)


def _accepted(desk: Desk, artifact_id: UUID | None = None, **body: Any) -> dict[str, Any]:
    sent = desk.submitted(artifact_id)
    answer = desk.org.api("reviewer").post(f"/tag-sets/{sent['id']}/accept", json=body)
    assert answer.status_code == 200, answer.json
    return dict(answer.json["data"])


def _rejected(desk: Desk) -> dict[str, Any]:
    body = {"reason": "No.", "send_to": "pool"}
    sent = desk.submitted()
    answer = desk.org.api("reviewer").post(f"/tag-sets/{sent['id']}/reject", json=body)
    return dict(answer.json["data"])


def test_an_accepted_one_waits_for_review_again(desk: Desk) -> None:
    accepted = _accepted(desk, note="Fine")
    answer = _reopen(desk, accepted)
    assert answer.status_code == 200
    again = answer.json["data"]
    assert (again["status"], again["reviewer"], again["decided_at"]) == ("submitted", None, None)
    assert again["submitted_at"] == accepted["submitted_at"]
    assert again["reason"] == "The total is wrong."
    row = desk.artifact_row(accepted["artifact_id"])
    assert (row.status, row.label_counts) == ("in_review", counts(submitted=1))
    (queued,) = desk.org.api("reviewer").get("/review-queue").json["data"]
    assert (queued["id"], queued["flags"]) == (accepted["id"], ["resubmitted"])
    last = desk.revisions(accepted["id"])[-1]
    assert (last.number, last.kind, last.note) == (5, "reopen", "The total is wrong.")
    assert last.author_id == desk.org.users["reviewer"]
    (told,) = desk.events("tag_set.reopened")
    assert (told["tag_set_id"], told["to"]) == (accepted["id"], "review")
    assert (told["reason"], told["reviewer_id"]) == (
        "The total is wrong.", str(desk.org.users["reviewer"]),
    )  # fmt: skip


def test_each_acceptance_is_told_once(desk: Desk) -> None:
    accepted = _accepted(desk)
    path = f"/tag-sets/{accepted['id']}/accept"
    for times in (2, 3):
        _reopen(desk, accepted)
        assert desk.org.api("reviewer").post(path, json={}).status_code == 200
        assert len(desk.events("tag_set.accepted")) == times
    assert desk.artifact_row(accepted["artifact_id"]).status == "done"


@pytest.mark.parametrize("make", [_accepted, _rejected])
def test_it_may_go_back_to_its_labeler(desk: Desk, make: Any) -> None:
    decided = make(desk)
    back = _reopen(desk, decided, to="labeler").json["data"]
    assert (back["status"], back["reason"]) == ("draft", "The total is wrong.")
    assert back["rejections"] == decided["rejections"]
    row = desk.artifact_row(decided["artifact_id"])
    assert (row.status, row.label_counts) == ("in_progress", counts(draft=1))
    assert row.claim_user_id == desk.org.users["labeler"]
    saved = desk.save(back, [tag("number", "B-1")])
    assert saved.status_code == 200
    sent = desk.org.api("labeler").post(f"/tag-sets/{decided['id']}/submit").json["data"]
    assert sent["status"] == "submitted"
    (queued,) = desk.org.api("reviewer").get("/review-queue").json["data"]
    assert queued["flags"] == ["resubmitted"]


def test_a_reopened_draft_is_not_its_labelers_to_discard(desk: Desk) -> None:
    accepted = _accepted(desk)
    _reopen(desk, accepted, to="labeler")
    path = f"/tag-sets/{accepted['id']}"
    assert desk.org.api("labeler").delete(path).status_code == 409
    assert desk.org.api("reviewer").get(path).json["data"]["tags"] == accepted["tags"]


def test_no_machine_accepts_what_was_reopened(desk: Desk) -> None:
    sent = desk.submitted(desk.artifact(desk.schema(sample_rate=0.0)))
    assert sent["status"] == "accepted"
    _reopen(desk, sent, to="labeler")
    again = desk.org.api("labeler").post(f"/tag-sets/{sent['id']}/submit").json["data"]
    assert again["status"] == "submitted"


@pytest.mark.parametrize("make", [Desk.saved, Desk.submitted])
def test_there_must_be_a_verdict(desk: Desk, make: Any) -> None:
    tag_set = make(desk)
    answer = _reopen(desk, tag_set)
    assert answer.status_code == 409
    assert answer.json["error"]["details"] == {"state": tag_set["status"]}


def test_the_revision_may_be_named(desk: Desk) -> None:
    accepted = _accepted(desk)
    stale = _reopen(desk, accepted, revision=3)
    assert stale.json["error"]["details"] == {"current_revision": 4}
    assert _reopen(desk, accepted, revision=4).status_code == 200


def test_nobody_reopens_their_own_unless_the_organization_allows(desk: Desk) -> None:
    sent = desk.submitted(by="reviewer")
    desk.org.api("admin").post(f"/tag-sets/{sent['id']}/accept", json={})
    assert _reopen(desk, sent).json["error"]["code"] == "permission_denied"
    desk.settings(allow_self_review=True)
    assert _reopen(desk, sent).status_code == 200


def test_a_reason_and_a_place_to_go(desk: Desk) -> None:
    accepted = _accepted(desk)
    for body in ({"reason": " \n"}, {"to": "pool"}, {"reason": None}):
        assert _reopen(desk, accepted, **body).status_code == 422
    assert desk.events("tag_set.reopened") == []


def test_a_rejected_one_whose_place_was_taken_stays(desk: Desk) -> None:
    rejected = _rejected(desk)
    desk.org.add_user("second", "labeler")
    other = desk.submitted(rejected["artifact_id"], by="second")
    for to in ("review", "labeler"):
        answer = _reopen(desk, rejected, to=to)
        assert answer.status_code == 409
        assert answer.json["error"]["details"] == {
            "standing": [other["id"]], "labels_per_artifact": 1,
        }  # fmt: skip


def test_a_new_draft_of_its_labelers_is_in_the_way(desk: Desk) -> None:
    rejected = _rejected(desk)
    draft = desk.draft(rejected["artifact_id"])
    answer = _reopen(desk, rejected, to="labeler")
    assert answer.status_code == 409
    assert answer.json["error"]["details"] == {"tag_set_id": draft["id"]}


def test_a_labeler_who_left_gets_nothing(desk: Desk) -> None:
    second = desk.org.add_user("second", "labeler")
    sent = desk.submitted(by="second")
    desk.org.api("reviewer").post(f"/tag-sets/{sent['id']}/accept", json={})
    path = f"/organizations/{desk.org.slug}/members/{second}"
    assert desk.org.api("owner").delete(path).status_code == 204
    answer = _reopen(desk, sent, to="labeler")
    assert answer.status_code == 400
    assert answer.json["error"]["field"] == "to"
    assert _reopen(desk, sent).status_code == 200
