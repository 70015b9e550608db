"""Submitting, accepting and rejecting."""

from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest

from app.kit.ids import uuid7
from app.labeling.tag_sets.service.automatic import sampled
from app.labeling.tag_sets.service.decisions import review_rank
from tests.factories import Org
from tests.factories.desk import Desk, counts, tag


def _act(desk: Desk, tag_set: dict[str, Any], verb: str, *, by: str, **sent: Any) -> Any:
    return desk.org.api(by).post(f"/tag-sets/{tag_set['id']}/{verb}", **sent)


def _accept(desk: Desk, tag_set: dict[str, Any], *, by: str = "reviewer", **body: Any) -> Any:
    return _act(desk, tag_set, "accept", by=by, json=body)


def _reject(desk: Desk, tag_set: dict[str, Any], *, by: str = "reviewer", **body: Any) -> Any:
    return _act(desk, tag_set, "reject", by=by, json={"reason": "Look again.", **body})


def test_submission_hands_a_draft_to_review(desk: Desk) -> None:
    draft = desk.saved()
    answer = _act(desk, draft, "submit", by="labeler")
    assert answer.status_code == 200
    sent = answer.json["data"]
    assert (sent["status"], sent["revision"], sent["decided_at"]) == ("submitted", 3, None)
    assert sent["submitted_at"] is not None
    assert sent["tags"] == draft["tags"]
    row = desk.artifact_row(draft["artifact_id"])
    assert (row.status, row.label_counts) == ("in_review", counts(submitted=1))
    assert (row.claim_user_id, row.claim_expires_at) == (None, None)
    assert [(r.number, r.kind) for r in desk.revisions(draft["id"])] == [
        (1, "create"), (2, "save"), (3, "submit"),
    ]  # fmt: skip
    (told,) = desk.events("tag_set.submitted")
    assert told["tag_set_id"] == draft["id"]
    assert desk.events("tag_set.accepted") == []


def test_submission_needs_every_required_field(desk: Desk) -> None:
    draft = desk.draft()
    saved = desk.save(draft, [tag("note", "x")]).json["data"]
    answer = _act(desk, saved, "submit", by="labeler")
    assert answer.status_code == 400
    assert answer.json["error"]["code"] == "required_fields_missing"
    assert answer.json["error"]["details"] == {"fields": ["number"]}
    assert desk.org.api("viewer").get(f"/tag-sets/{draft['id']}").json["data"] == saved


def test_submission_checks_against_the_document_as_it_is_now(desk: Desk) -> None:
    draft = desk.draft()
    tags = [tag("number", "A", evidence=[{"start": 900, "end": 903}])]
    saved = desk.save(draft, tags).json["data"]
    desk.sql("UPDATE artifacts SET text_length = 100 WHERE id = :id", id=draft["artifact_id"])
    answer = _act(desk, saved, "submit", by="labeler")
    assert answer.status_code == 400
    assert answer.json["error"]["field"] == "tags.0.evidence.0.start"


def test_submission_may_name_the_revision(desk: Desk) -> None:
    draft = desk.saved()
    stale = _act(desk, draft, "submit", by="labeler", headers={"If-Match": '"1"'})
    assert stale.status_code == 409
    assert stale.json["error"]["details"] == {"current_revision": 2}
    good = _act(desk, draft, "submit", by="labeler", headers={"If-Match": '"2"'})
    assert good.status_code == 200


def test_acceptance(desk: Desk) -> None:
    sent = desk.submitted()
    answer = _accept(desk, sent, note="Well done.")
    assert answer.status_code == 200
    accepted = answer.json["data"]
    assert accepted["status"] == "accepted"
    assert accepted["reviewer"]["id"] == str(desk.org.users["reviewer"])
    assert accepted["reason"] == "Well done."
    assert accepted["decided_at"] is not None
    assert accepted["tags"] == sent["tags"]
    row = desk.artifact_row(sent["artifact_id"])
    assert (row.status, row.label_counts) == ("done", counts(accepted=1))
    last = desk.revisions(sent["id"])[-1]
    assert (last.number, last.kind, last.note) == (4, "accept", "Well done.")
    assert desk.events("tag_set.accepted") == [
        {
            "tag_set_id": sent["id"],
            "artifact_id": sent["artifact_id"],
            "schema_id": sent["schema_id"],
            "schema_version_id": sent["schema_version_id"],
            "labeler_id": str(desk.org.users["labeler"]),
            "reviewer_id": str(desk.org.users["reviewer"]),
            "corrected": False,
        }
    ]


def test_corrections_are_a_revision_in_the_reviewers_name(desk: Desk) -> None:
    sent = desk.submitted()
    answer = _accept(desk, sent, tags=[tag("number", "A-2"), tag("pages", "3")])
    accepted = answer.json["data"]
    assert [t["value"] for t in accepted["tags"]] == ["A-2", 3]
    before, last = desk.revisions(sent["id"])[-2:]
    assert (last.kind, last.author_id) == ("correction", desk.org.users["reviewer"])
    assert last.tags == accepted["tags"]
    assert before.tags == sent["tags"]
    assert desk.events("tag_set.accepted")[0]["corrected"] is True


def test_the_same_tags_are_no_correction(desk: Desk) -> None:
    sent = desk.submitted()
    _accept(desk, sent, tags=sent["tags"])
    assert desk.revisions(sent["id"])[-1].kind == "accept"
    assert desk.events("tag_set.accepted")[0]["corrected"] is False


@pytest.mark.parametrize(
    ("tags", "code"),
    [
        ([tag("note", "x")], "required_fields_missing"),
        ([tag("number", "A"), tag("nope", 1)], "validation_error"),
        ([tag("number", "A", evidence=[{"page": 9}])], "validation_error"),
    ],
)
def test_corrections_are_checked(tags: list[Any], code: str, desk: Desk) -> None:
    sent = desk.submitted()
    answer = _accept(desk, sent, tags=tags)
    assert answer.status_code == 400
    assert answer.json["error"]["code"] == code
    assert desk.org.api("viewer").get(f"/tag-sets/{sent['id']}").json["data"] == sent
    assert desk.events("tag_set.accepted") == []


def test_nobody_reviews_their_own_unless_the_organization_allows(desk: Desk) -> None:
    sent = desk.submitted(by="reviewer")
    for answer in (_accept(desk, sent), _reject(desk, sent)):
        assert answer.status_code == 403
        assert answer.json["error"]["code"] == "permission_denied"
    desk.settings(allow_self_review=True)
    assert _accept(desk, sent).status_code == 200


def test_another_reviewers_live_claim_stands(desk: Desk) -> None:
    sent = desk.submitted()
    claim = (
        "UPDATE tag_sets SET claim_user_id = :user, claim_expires_at = now() + :left * interval"
        " '1 minute' WHERE id = :id"
    )
    desk.sql(claim, user=desk.org.users["admin"], left=5, id=sent["id"])
    for answer in (_accept(desk, sent), _reject(desk, sent)):
        assert answer.status_code == 409
        holder = answer.json["error"]["details"]["claim"]["user_id"]
        assert holder == str(desk.org.users["admin"])
    desk.sql(claim, user=desk.org.users["admin"], left=-1, id=sent["id"])
    assert _accept(desk, sent).status_code == 200
    (row,) = desk.sql("SELECT claim_user_id FROM tag_sets WHERE id = :id", id=sent["id"])
    assert row.claim_user_id is None


def test_every_other_move_is_a_conflict(desk: Desk) -> None:
    draft = desk.saved()
    submitted, accepted, rejected = desk.submitted(), desk.submitted(), desk.submitted()
    _accept(desk, accepted)
    _reject(desk, rejected, send_to="pool")
    allowed = {("draft", "save"), ("draft", "submit"), ("draft", "delete")}
    allowed |= {("submitted", "accept"), ("submitted", "reject")}
    moves: dict[str, Any] = {
        "save": lambda t: desk.save(t, [], by="admin"),
        "submit": lambda t: _act(desk, t, "submit", by="admin"),
        "delete": lambda t: desk.org.api("admin").delete(f"/tag-sets/{t['id']}"),
        "accept": lambda t: _accept(desk, t),
        "reject": lambda t: _reject(desk, t),
    }
    states = {"draft": draft, "submitted": submitted, "accepted": accepted, "rejected": rejected}
    for state, tag_set in states.items():
        for move, run in moves.items():
            if (state, move) in allowed:
                continue
            answer = run(tag_set)
            assert answer.status_code == 409, (state, move)
            assert answer.json["error"]["code"] == "conflict"
            assert answer.json["error"]["details"] == {"state": state}
    for state, tag_set in states.items():
        read = desk.org.api("viewer").get(f"/tag-sets/{tag_set['id']}").json["data"]
        assert read["status"] == state


def test_rejected_to_its_labeler_it_is_a_draft_again(desk: Desk) -> None:
    sent = desk.submitted()
    answer = _reject(desk, sent, reason="The total is missing.")
    assert answer.status_code == 200
    back = answer.json["data"]
    assert (back["status"], back["rejections"]) == ("draft", 1)
    assert back["reason"] == "The total is missing."
    assert back["reviewer"]["id"] == str(desk.org.users["reviewer"])
    row = desk.artifact_row(sent["artifact_id"])
    assert row.label_counts == counts(draft=1)
    assert row.claim_user_id == desk.org.users["labeler"]
    last = desk.revisions(sent["id"])[-1]
    assert (last.kind, last.note) == ("reject", "The total is missing.")
    saved = desk.save(back, [tag("number", "A-3")]).json["data"]
    again = _act(desk, saved, "submit", by="labeler").json["data"]
    assert (again["status"], again["reason"], again["reviewer"]) == ("submitted", None, None)
    (queued,) = desk.org.api("reviewer").get("/review-queue").json["data"]
    assert queued["flags"] == ["resubmitted"]
    (told,) = desk.events("tag_set.rejected")
    assert told["send_to"] == "labeler"
    assert told["reason"] == "The total is missing."


def test_rejected_to_the_pool_the_document_is_free(desk: Desk) -> None:
    sent = desk.submitted()
    answer = _reject(desk, sent, send_to="pool")
    assert answer.json["data"]["status"] == "rejected"
    row = desk.artifact_row(sent["artifact_id"])
    assert (row.status, row.label_counts) == ("ready", counts(rejected=1))
    assert row.claim_user_id is None
    desk.org.add_user("second", "labeler")
    assert desk.draft(sent["artifact_id"], by="second")["status"] == "draft"


def test_rejected_to_a_person_they_get_a_draft_of_it(desk: Desk) -> None:
    sent = desk.submitted()
    second = desk.org.add_user("second", "labeler")
    answer = _reject(desk, sent, send_to=str(second))
    assert answer.json["data"]["status"] == "rejected"
    (told,) = desk.events("tag_set.rejected")
    draft = desk.org.api("second").get(f"/tag-sets/{told['draft_id']}").json["data"]
    assert draft["labeler"]["id"] == str(second)
    assert (draft["status"], draft["tags"], draft["reason"]) == (
        "draft", sent["tags"], "Look again.",
    )  # fmt: skip
    row = desk.artifact_row(sent["artifact_id"])
    assert row.label_counts == counts(draft=1, rejected=1)
    assert row.claim_user_id == second
    assert desk.save(draft, [tag("number", "B")], by="second").status_code == 200


def test_sent_to_its_own_labeler_by_id_it_goes_back(desk: Desk) -> None:
    sent = desk.submitted()
    answer = _reject(desk, sent, send_to=str(desk.org.users["labeler"]))
    assert answer.json["data"]["status"] == "draft"


def test_it_is_sent_to_those_who_label(desk: Desk, other_org: Org) -> None:
    sent = desk.submitted()
    for user_id in (desk.org.users["viewer"], other_org.users["labeler"], uuid7()):
        answer = _reject(desk, sent, send_to=str(user_id))
        assert answer.status_code == 400
        assert answer.json["error"]["field"] == "send_to"
    assert _reject(desk, sent, send_to="nobody").status_code == 422
    assert _reject(desk, sent, reason=" \n").status_code == 422


def test_a_draft_in_the_way_is_named(desk: Desk) -> None:
    second = desk.org.add_user("second", "labeler")
    draft = desk.saved()
    desk.release(draft["artifact_id"])
    other = desk.draft(draft["artifact_id"], by="second")
    sent = _act(desk, draft, "submit", by="labeler").json["data"]
    answer = _reject(desk, sent, send_to=str(second))
    assert answer.status_code == 409
    assert answer.json["error"]["details"] == {"tag_set_id": other["id"]}
    assert _reject(desk, sent, send_to="pool").status_code == 200


def test_it_goes_back_no_more_often_than_the_schema_allows(desk: Desk) -> None:
    sent = desk.submitted(desk.artifact(desk.schema(max_rejections=1)))
    assert _reject(desk, sent).json["data"]["rejections"] == 1
    _act(desk, sent, "submit", by="labeler")
    answer = _reject(desk, sent)
    assert answer.status_code == 409
    assert answer.json["error"]["details"] == {"rejections": 1, "max_rejections": 1}
    assert _reject(desk, sent, send_to="pool").json["data"]["rejections"] == 2


def test_without_a_limit_it_goes_back_as_often_as_needed(desk: Desk) -> None:
    sent = desk.submitted(desk.artifact(desk.schema(max_rejections=None)))
    for count in range(1, 6):
        assert _reject(desk, sent).json["data"]["rejections"] == count
        _act(desk, sent, "submit", by="labeler")


def test_what_sampling_passes_by_is_accepted_by_itself(desk: Desk) -> None:
    sent = desk.submitted(desk.artifact(desk.schema(sample_rate=0.0)))
    assert sent["status"] == "accepted"
    assert sent["reviewer"] is None
    assert sent["decided_at"] is not None
    (told,) = desk.events("tag_set.accepted")
    assert (told["reviewer_id"], told["corrected"]) == (None, False)
    assert len(desk.events("tag_set.submitted")) == 1
    kinds = [(r.number, r.kind) for r in desk.revisions(sent["id"])]
    assert kinds[-2:] == [(3, "submit"), (4, "accept")]
    assert desk.artifact_row(sent["artifact_id"]).status == "done"


def test_the_sample_is_decided_by_the_id(desk: Desk) -> None:
    schema_id = desk.schema(sample_rate=0.5)
    sent = [desk.submitted(desk.artifact(schema_id)) for _ in range(8)]
    for tag_set in sent:
        lot = sampled(UUID(tag_set["id"]), 0.5)
        assert tag_set["status"] == ("submitted" if lot else "accepted")


def test_the_sample_is_of_the_rate_and_grows_with_it() -> None:
    ids = [uuid7() for _ in range(4000)]
    low = {i for i in ids if sampled(i, 0.2)}
    high = {i for i in ids if sampled(i, 0.6)}
    assert low < high
    assert 600 < len(low) < 1000
    assert 2200 < len(high) < 2600
    assert all(sampled(i, 1.0) for i in ids)
    assert not any(sampled(i, 0.0) for i in ids)
    assert low == {i for i in ids if sampled(i, 0.2)}


def test_a_doubtful_prediction_is_flagged(desk: Desk) -> None:
    draft = desk.draft()
    doubtful = tag("number", "A", confidence=0.4, source="model")
    saved = desk.save(draft, [doubtful]).json["data"]
    _act(desk, saved, "submit", by="labeler")
    (queued,) = desk.org.api("reviewer").get("/review-queue?flag=low_confidence").json["data"]
    assert queued["id"] == draft["id"]
    assert queued["flags"] == ["low_confidence"]


def test_the_rank_is_priority_then_time() -> None:
    early, late = datetime(2026, 1, 1, tzinfo=UTC), datetime(2027, 1, 1, tzinfo=UTC)
    never, ancient = datetime.max.replace(tzinfo=UTC), datetime.min.replace(tzinfo=UTC)
    assert review_rank(90, late) < review_rank(50, early) < review_rank(50, late)
    assert review_rank(51, never) < review_rank(50, ancient) == 50 * 10**13
    assert review_rank(50, early) == 50 * 10**13 + 1_767_225_600_000
