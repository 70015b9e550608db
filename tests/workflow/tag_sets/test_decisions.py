"""Accepting, and the moves that are none."""

from typing import Any

import pytest

from tests.factories.errors import check_error
from tests.factories.orgs import get_data
from tests.factories.workspace import Workspace, counts, tag
from tests.workflow.actions import accept, get_tag_set, reject, set_review_claim, submit


def test_acceptance(workspace: Workspace) -> None:
    sent = workspace.submitted()
    accepted = get_data(accept(workspace, sent, note="Well done."))
    assert accepted["status"] == "accepted"
    assert accepted["reviewer"]["id"] == str(workspace.org.users["reviewer"])
    assert accepted["reason"] == "Well done."
    assert accepted["decided_at"] is not None
    assert accepted["tags"] == sent["tags"]
    row = workspace.artifact_row(sent["artifact_id"])
    assert (row.status, row.label_counts) == ("done", counts(accepted=1))
    last = workspace.revisions(sent["id"])[-1]
    assert (last.number, last.kind, last.note) == (4, "accept", "Well done.")
    assert workspace.events("tag_set.accepted") == [
        {
            "tag_set_id": sent["id"],
            "artifact_id": sent["artifact_id"],
            "schema_id": sent["schema_id"],
            "schema_version_id": sent["schema_version_id"],
            "labeler_id": str(workspace.org.users["labeler"]),
            "reviewer_id": str(workspace.org.users["reviewer"]),
            "corrected": False,
        }
    ]


def test_corrections_are_a_revision_in_the_reviewers_name(workspace: Workspace) -> None:
    sent = workspace.submitted()
    answer = accept(workspace, sent, tags=[tag("number", "A-2"), tag("pages", "3")])
    accepted = answer.json["data"]
    assert [t["value"] for t in accepted["tags"]] == ["A-2", 3]
    before, last = workspace.revisions(sent["id"])[-2:]
    assert (last.kind, last.author_id) == ("correction", workspace.org.users["reviewer"])
    assert last.tags == accepted["tags"]
    assert before.tags == sent["tags"]
    assert workspace.events("tag_set.accepted")[0]["corrected"] is True


def test_the_same_tags_are_no_correction(workspace: Workspace) -> None:
    sent = workspace.submitted()
    accept(workspace, sent, tags=sent["tags"])
    assert workspace.revisions(sent["id"])[-1].kind == "accept"
    assert workspace.events("tag_set.accepted")[0]["corrected"] is False


@pytest.mark.parametrize(
    ("tags", "code"),
    [
        ([tag("note", "x")], "required_fields_missing"),
        ([tag("number", "A"), tag("nope", 1)], "validation_error"),
        ([tag("number", "A", evidence=[{"page": 9}])], "validation_error"),
    ],
)
def test_corrections_are_checked(tags: list[Any], code: str, workspace: Workspace) -> None:
    sent = workspace.submitted()
    check_error(accept(workspace, sent, tags=tags), 400, code)
    assert get_tag_set(workspace, sent) == sent
    assert workspace.events("tag_set.accepted") == []


def test_nobody_reviews_their_own_unless_the_organization_allows(workspace: Workspace) -> None:
    sent = workspace.submitted(by="reviewer")
    for answer in (accept(workspace, sent), reject(workspace, sent)):
        assert answer.status_code == 403
        assert answer.json["error"]["code"] == "permission_denied"
    workspace.settings(allow_self_review=True)
    assert accept(workspace, sent).status_code == 200


def test_a_live_claim_of_another_reviewer_blocks_a_decision(workspace: Workspace) -> None:
    sent = workspace.submitted()
    set_review_claim(workspace, sent["id"], "admin", minutes=5)
    for answer in (accept(workspace, sent), reject(workspace, sent)):
        assert answer.status_code == 409
        claim = answer.json["error"]["details"]["claim"]
        assert claim["user_id"] == str(workspace.org.users["admin"])
    set_review_claim(workspace, sent["id"], "admin", minutes=-1)
    assert accept(workspace, sent).status_code == 200
    (row,) = workspace.sql("SELECT claim_user_id FROM tag_sets WHERE id = :id", id=sent["id"])
    assert row.claim_user_id is None


def test_every_other_move_is_a_conflict(workspace: Workspace) -> None:
    draft = workspace.saved()
    submitted, accepted, rejected = (workspace.submitted() for _ in range(3))
    accept(workspace, accepted)
    reject(workspace, rejected, send_to="pool")
    allowed = {("draft", "save"), ("draft", "submit"), ("draft", "delete")}
    allowed |= {("submitted", "accept"), ("submitted", "reject")}
    moves: dict[str, Any] = {
        "save": lambda t: workspace.save(t, [], by="admin"),
        "submit": lambda t: submit(workspace, t, by="admin"),
        "delete": lambda t: workspace.org.api("admin").delete(f"/tag-sets/{t['id']}"),
        "accept": lambda t: accept(workspace, t),
        "reject": lambda t: reject(workspace, t),
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
        assert get_tag_set(workspace, tag_set)["status"] == state
