"""Rejecting: back to the labeler, to the pool, to a person."""

from typing import Any

from app.kit.ids import uuid7
from tests.factories import Org
from tests.factories.desk import Desk, counts, tag


def _act(desk: Desk, tag_set: dict[str, Any], verb: str, *, by: str, **sent: Any) -> Any:
    return desk.org.api(by).post(f"/tag-sets/{tag_set['id']}/{verb}", **sent)


def _reject(desk: Desk, tag_set: dict[str, Any], *, by: str = "reviewer", **body: Any) -> Any:
    return _act(desk, tag_set, "reject", by=by, json={"reason": "Look again.", **body})


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
    labeler = str(desk.org.users["labeler"])
    answer = _reject(desk, sent, send_to=labeler.upper())
    assert answer.json["data"]["status"] == "draft"
    (told,) = desk.events("tag_set.rejected")
    assert told["send_to"] == told["labeler_id"] == labeler, (
        "in one spelling: people are told by it"
    )


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
