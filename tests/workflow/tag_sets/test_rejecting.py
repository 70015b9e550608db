"""Rejecting: back to the labeler, to the pool, to a person."""

from app.kit.ids import uuid7
from tests.factories import Org
from tests.factories.errors import check_conflict, check_invalid_field
from tests.factories.orgs import get_data
from tests.factories.workspace import Workspace, counts, tag
from tests.workflow.actions import reject, submit


def test_rejected_to_its_labeler_it_is_a_draft_again(workspace: Workspace) -> None:
    sent = workspace.submitted()
    back = get_data(reject(workspace, sent, reason="The total is missing."))
    assert (back["status"], back["rejections"]) == ("draft", 1)
    assert back["reason"] == "The total is missing."
    assert back["reviewer"]["id"] == str(workspace.org.users["reviewer"])
    row = workspace.artifact_row(sent["artifact_id"])
    assert row.label_counts == counts(draft=1)
    assert row.claim_user_id == workspace.org.users["labeler"]
    last = workspace.revisions(sent["id"])[-1]
    assert (last.kind, last.note) == ("reject", "The total is missing.")
    saved = workspace.save(back, [tag("number", "A-3")]).json["data"]
    again = submit(workspace, saved).json["data"]
    assert (again["status"], again["reason"], again["reviewer"]) == ("submitted", None, None)
    (queued,) = workspace.org.api("reviewer").get("/review-queue").json["data"]
    assert queued["flags"] == ["resubmitted"]
    (event,) = workspace.events("tag_set.rejected")
    assert event["send_to"] == "labeler"
    assert event["reason"] == "The total is missing."


def test_a_rejection_claims_no_archived_document(workspace: Workspace) -> None:
    sent = workspace.submitted()
    workspace.sql("UPDATE artifacts SET archived = true, claim_user_id = NULL")
    answer = reject(workspace, sent)
    assert answer.json["data"]["status"] == "draft"
    assert workspace.artifact_row(sent["artifact_id"]).claim_user_id is None


def test_rejected_to_the_pool_the_document_is_free(workspace: Workspace) -> None:
    sent = workspace.submitted()
    answer = reject(workspace, sent, send_to="pool")
    assert answer.json["data"]["status"] == "rejected"
    row = workspace.artifact_row(sent["artifact_id"])
    assert (row.status, row.label_counts) == ("ready", counts(rejected=1))
    assert row.claim_user_id is None
    workspace.org.add_user("second", "labeler")
    assert workspace.draft(sent["artifact_id"], by="second")["status"] == "draft"


def test_rejected_to_a_person_they_get_a_draft_of_it(workspace: Workspace) -> None:
    sent = workspace.submitted()
    second = workspace.org.add_user("second", "labeler")
    answer = reject(workspace, sent, send_to=str(second))
    assert answer.json["data"]["status"] == "rejected"
    (event,) = workspace.events("tag_set.rejected")
    draft = workspace.org.api("second").get(f"/tag-sets/{event['draft_id']}").json["data"]
    assert draft["labeler"]["id"] == str(second)
    assert (draft["status"], draft["tags"], draft["reason"]) == (
        "draft", sent["tags"], "Look again.",
    )  # fmt: skip
    row = workspace.artifact_row(sent["artifact_id"])
    assert row.label_counts == counts(draft=1, rejected=1)
    assert row.claim_user_id == second
    assert workspace.save(draft, [tag("number", "B")], by="second").status_code == 200


def test_sent_to_its_own_labeler_by_id_it_goes_back(workspace: Workspace) -> None:
    sent = workspace.submitted()
    labeler = str(workspace.org.users["labeler"])
    answer = reject(workspace, sent, send_to=labeler.upper())
    assert answer.json["data"]["status"] == "draft"
    (event,) = workspace.events("tag_set.rejected")
    assert event["send_to"] == event["labeler_id"] == labeler, (
        "in one spelling: people are told by it"
    )


def test_it_is_sent_to_those_who_label(workspace: Workspace, other_org: Org) -> None:
    sent = workspace.submitted()
    for user_id in (workspace.org.users["viewer"], other_org.users["labeler"], uuid7()):
        check_invalid_field(reject(workspace, sent, send_to=str(user_id)), "send_to")
    assert reject(workspace, sent, send_to="nobody").status_code == 422
    assert reject(workspace, sent, reason=" \n").status_code == 422


def test_a_draft_in_the_way_is_named(workspace: Workspace) -> None:
    second = workspace.org.add_user("second", "labeler")
    draft = workspace.saved()
    workspace.release(draft["artifact_id"])
    other = workspace.draft(draft["artifact_id"], by="second")
    sent = submit(workspace, draft).json["data"]
    check_conflict(reject(workspace, sent, send_to=str(second)), tag_set_id=other["id"])
    assert reject(workspace, sent, send_to="pool").status_code == 200


def test_it_goes_back_no_more_often_than_the_schema_allows(workspace: Workspace) -> None:
    sent = workspace.submitted(workspace.artifact(workspace.schema(max_rejections=1)))
    assert reject(workspace, sent).json["data"]["rejections"] == 1
    submit(workspace, sent)
    check_conflict(reject(workspace, sent), rejections=1, max_rejections=1)
    assert reject(workspace, sent, send_to="pool").json["data"]["rejections"] == 2


def test_without_a_limit_it_goes_back_as_often_as_needed(workspace: Workspace) -> None:
    sent = workspace.submitted(workspace.artifact(workspace.schema(max_rejections=None)))
    for count in range(1, 6):
        assert reject(workspace, sent).json["data"]["rejections"] == count
        submit(workspace, sent)
