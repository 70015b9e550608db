"""Taking a verdict back."""

from typing import Any
from uuid import UUID

import pytest

from tests.factories.errors import check_conflict, check_invalid_field, check_stale
from tests.factories.workspace import Workspace, counts, tag
from tests.workflow.actions import accept, get_data, get_tag_set, reject, reopen, set_role, submit


def _create_accepted(
    workspace: Workspace, artifact_id: UUID | None = None, **body: Any
) -> dict[str, Any]:
    return get_data(accept(workspace, workspace.submitted(artifact_id), **body))


def _create_rejected(workspace: Workspace) -> dict[str, Any]:
    return get_data(reject(workspace, workspace.submitted(), send_to="pool"))


def test_an_accepted_one_waits_for_review_again(workspace: Workspace) -> None:
    accepted = _create_accepted(workspace, note="Fine")
    answer = reopen(workspace, accepted, reason="The total is wrong.")
    assert answer.status_code == 200
    again = answer.json["data"]
    assert (again["status"], again["reviewer"], again["decided_at"]) == ("submitted", None, None)
    assert again["submitted_at"] == accepted["submitted_at"]
    assert again["reason"] == "The total is wrong."
    row = workspace.artifact_row(accepted["artifact_id"])
    assert (row.status, row.label_counts) == ("in_review", counts(submitted=1))
    (queued,) = workspace.org.api("reviewer").get("/review-queue").json["data"]
    assert (queued["id"], queued["flags"]) == (accepted["id"], ["resubmitted"])
    last = workspace.revisions(accepted["id"])[-1]
    assert (last.number, last.kind, last.note) == (5, "reopen", "The total is wrong.")
    assert last.author_id == workspace.org.users["reviewer"]
    (event,) = workspace.events("tag_set.reopened")
    assert (event["tag_set_id"], event["to"]) == (accepted["id"], "review")
    assert (event["reason"], event["reviewer_id"]) == (
        "The total is wrong.", str(workspace.org.users["reviewer"]),
    )  # fmt: skip


def test_each_acceptance_emits_one_event(workspace: Workspace) -> None:
    accepted = _create_accepted(workspace)
    for times in (2, 3):
        reopen(workspace, accepted)
        assert accept(workspace, accepted).status_code == 200
        assert len(workspace.events("tag_set.accepted")) == times
    assert workspace.artifact_row(accepted["artifact_id"]).status == "done"


@pytest.mark.parametrize("make", [_create_accepted, _create_rejected])
def test_it_may_go_back_to_its_labeler(workspace: Workspace, make: Any) -> None:
    decided = make(workspace)
    reopened = reopen(workspace, decided, to="labeler", reason="The total is wrong.")
    back = reopened.json["data"]
    assert (back["status"], back["reason"]) == ("draft", "The total is wrong.")
    assert back["rejections"] == decided["rejections"]
    row = workspace.artifact_row(decided["artifact_id"])
    assert (row.status, row.label_counts) == ("in_progress", counts(draft=1))
    assert row.claim_user_id == workspace.org.users["labeler"]
    assert workspace.save(back, [tag("number", "B-1")]).status_code == 200
    assert submit(workspace, decided).json["data"]["status"] == "submitted"
    (queued,) = workspace.org.api("reviewer").get("/review-queue").json["data"]
    assert queued["flags"] == ["resubmitted"]


def test_a_reopened_draft_is_not_its_labelers_to_discard(workspace: Workspace) -> None:
    accepted = _create_accepted(workspace)
    reopen(workspace, accepted, to="labeler")
    assert workspace.org.api("labeler").delete(f"/tag-sets/{accepted['id']}").status_code == 409
    assert get_tag_set(workspace, accepted)["tags"] == accepted["tags"]


def test_no_machine_accepts_what_was_reopened(workspace: Workspace) -> None:
    sent = workspace.submitted(workspace.artifact(workspace.schema(sample_rate=0.0)))
    assert sent["status"] == "accepted"
    reopen(workspace, sent, to="labeler")
    assert submit(workspace, sent).json["data"]["status"] == "submitted"


@pytest.mark.parametrize("make", [Workspace.saved, Workspace.submitted])
def test_there_must_be_a_verdict(workspace: Workspace, make: Any) -> None:
    tag_set = make(workspace)
    check_conflict(reopen(workspace, tag_set), state=tag_set["status"])


def test_the_revision_may_be_named(workspace: Workspace) -> None:
    accepted = _create_accepted(workspace)
    check_stale(reopen(workspace, accepted, revision=3), 4)
    assert reopen(workspace, accepted, revision=4).status_code == 200


def test_nobody_reopens_their_own_unless_the_organization_allows(workspace: Workspace) -> None:
    sent = workspace.submitted(by="reviewer")
    accept(workspace, sent, by="admin")
    assert reopen(workspace, sent).json["error"]["code"] == "permission_denied"
    workspace.settings(allow_self_review=True)
    assert reopen(workspace, sent).status_code == 200


def test_a_reason_and_a_place_to_go(workspace: Workspace) -> None:
    accepted = _create_accepted(workspace)
    for body in ({"reason": " \n"}, {"to": "pool"}, {"reason": None}):
        assert reopen(workspace, accepted, **body).status_code == 422
    assert workspace.events("tag_set.reopened") == []


def test_a_rejected_one_whose_place_was_taken_stays(workspace: Workspace) -> None:
    rejected = _create_rejected(workspace)
    workspace.org.add_user("second", "labeler")
    other = workspace.submitted(rejected["artifact_id"], by="second")
    for to in ("review", "labeler"):
        answer = reopen(workspace, rejected, to=to)
        assert answer.status_code == 409
        assert answer.json["error"]["details"] == {
            "standing": [other["id"]], "labels_per_artifact": 1,
        }  # fmt: skip


def test_a_new_draft_of_its_labelers_is_in_the_way(workspace: Workspace) -> None:
    rejected = _create_rejected(workspace)
    draft = workspace.draft(rejected["artifact_id"])
    check_conflict(reopen(workspace, rejected, to="labeler"), tag_set_id=draft["id"])


def test_a_labeler_who_left_gets_nothing(workspace: Workspace) -> None:
    workspace.org.add_user("second", "labeler")
    sent = workspace.submitted(by="second")
    accept(workspace, sent)
    set_role(workspace, "second", None)
    check_invalid_field(reopen(workspace, sent, to="labeler"), "to")
    assert reopen(workspace, sent).status_code == 200
