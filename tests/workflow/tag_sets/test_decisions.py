"""Accepting, and the moves that are none."""

from typing import Any

import pytest

from tests.factories.desk import Desk, counts, tag


def _act(desk: Desk, tag_set: dict[str, Any], verb: str, *, by: str, **sent: Any) -> Any:
    return desk.org.api(by).post(f"/tag-sets/{tag_set['id']}/{verb}", **sent)


def _accept(desk: Desk, tag_set: dict[str, Any], *, by: str = "reviewer", **body: Any) -> Any:
    return _act(desk, tag_set, "accept", by=by, json=body)


def _reject(desk: Desk, tag_set: dict[str, Any], *, by: str = "reviewer", **body: Any) -> Any:
    return _act(desk, tag_set, "reject", by=by, json={"reason": "Look again.", **body})


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
    assert desk.org.api("reviewer").get(f"/tag-sets/{sent['id']}").json["data"] == sent
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
        read = desk.org.api("reviewer").get(f"/tag-sets/{tag_set['id']}").json["data"]
        assert read["status"] == state
