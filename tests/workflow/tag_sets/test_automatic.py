"""Label sets that are accepted without a reviewer, and those that never are."""

import json
from typing import Any
from uuid import UUID

import pytest

from app.workflow.tag_sets.service import rules
from app.workflow.tag_sets.service.submitting import is_confident
from tests.factories.queueing import run_concurrently
from tests.factories.workspace import POLICY, Workspace, counts, rows, tag
from tests.workflow.actions import (
    accept,
    get_data,
    get_tag_set,
    publish,
    reject,
    start_draft,
    submit,
    submit_tags,
)

A, B = tag("number", "A"), tag("number", "B")
OVERLAP = {"labels_per_artifact": 2, "auto_accept_agreement": 0.8}


def _create_overlapping_artifact(workspace: Workspace, **policy: Any) -> UUID:
    workspace.org.add_user("second", "labeler")
    return workspace.artifact(workspace.schema(**{**OVERLAP, **policy}))


def _get_status(workspace: Workspace, tag_set: dict[str, Any]) -> str:
    return str(get_tag_set(workspace, tag_set)["status"])


def _list_flags(workspace: Workspace) -> dict[str, list[str]]:
    queue = workspace.org.api("reviewer").get("/review-queue").json["data"]
    return {item["id"]: item["flags"] for item in queue}


@pytest.mark.parametrize(
    ("confidences", "least", "enough"),
    [
        ([0.9, 0.8], 0.8, True),
        ([0.9, 0.79], 0.8, False),
        ([0.9, None], 0.8, False),
        ([], 0.0, False),
        ([1.0], None, False),
        ([0.0], 0.0, True),
    ],
)
def test_each_tag_must_be_as_sure(confidences: list[Any], least: Any, enough: bool) -> None:
    tags = [{"source": "model", "confidence": confidence} for confidence in confidences]
    assert is_confident(tags, least) is enough
    assert not is_confident([{**one, "source": "human"} for one in tags], least)
    assert not is_confident([{**one, "source": "import"} for one in tags], least)


def test_by_confidence(workspace: Workspace) -> None:
    schema = workspace.schema(auto_accept_confidence=0.8)
    sure = tag("number", "A", confidence=0.9)
    sent = submit_tags(workspace, workspace.artifact(schema), [sure], from_model=True)
    assert (sent["status"], sent["reviewer"]) == ("accepted", None)
    (event,) = workspace.events("tag_set.accepted")
    assert (event["tag_set_id"], event["reviewer_id"]) == (sent["id"], None)
    assert workspace.artifact_row(sent["artifact_id"]).status == "done"
    for doubtful in (A, tag("number", "A", confidence=0.7)):
        sent = submit_tags(workspace, workspace.artifact(schema), [doubtful], from_model=True)
        assert sent["status"] == "submitted"
    assert len(workspace.events("tag_set.accepted")) == 1


def _submit_prediction(workspace: Workspace, artifact: UUID) -> str:
    draft = get_data(start_draft(workspace, artifact, source="prediction"))
    return str(get_data(submit(workspace, draft))["status"])


def test_no_confidence_of_another_version_accepts(workspace: Workspace) -> None:
    schema = workspace.schema(auto_accept_confidence=0.8)
    sure = [tag("number", "A", confidence=0.9)]
    before, after = (workspace.artifact(schema) for _ in range(2))
    workspace.predict(before, sure)
    publish(workspace, schema, auto_accept_confidence=0.8)
    workspace.predict(after, sure)
    assert _submit_prediction(workspace, before) == "submitted"
    assert _submit_prediction(workspace, after) == "accepted"


def test_a_prediction_for_another_schema_is_not_offered(workspace: Workspace) -> None:
    first, second = (workspace.schema(auto_accept_confidence=0.8) for _ in range(2))
    artifact = workspace.artifact(first)
    workspace.predict(artifact, [tag("number", "A", confidence=0.9)])
    path, body = f"/artifacts/{artifact}", {"schema_id": str(second)}
    assert workspace.org.api("admin").patch(path, json=body).status_code == 200
    answer = start_draft(workspace, artifact, source="prediction")
    assert (answer.status_code, answer.json["error"]["field"]) == (400, "from")


def test_what_was_rejected_no_machine_accepts(workspace: Workspace) -> None:
    artifact_id = workspace.artifact(workspace.schema(auto_accept_confidence=0.8))
    sent = submit_tags(workspace, artifact_id, [A])
    rejected = reject(workspace, sent).json["data"]
    workspace.save(rejected, [tag("number", "A", confidence=1.0)])
    assert submit(workspace, sent).json["data"]["status"] == "submitted"


@pytest.mark.parametrize("policy", [{"sample_rate": 0.0}, {"auto_accept_confidence": 0.5}])
def test_what_was_rejected_is_reviewed_when_another_member_submits_it(
    workspace: Workspace, policy: dict[str, Any]
) -> None:
    second = str(workspace.org.add_user("second", "labeler"))
    sure = [tag("number", "A", confidence=0.9)]
    sent = submit_tags(workspace, workspace.artifact(), sure, from_model=True)
    answer = reject(workspace, sent, send_to=second)
    assert answer.status_code == 200, answer.json
    _ask(workspace, sent, {**POLICY, **policy})
    (draft,) = workspace.org.api("second").get("/tag-sets?status=draft").json["data"]
    answer = submit(workspace, draft, by="second")
    assert answer.json["data"]["status"] == "submitted", answer.json
    assert workspace.events("tag_set.accepted") == []


def test_by_agreement_once_the_last_is_submitted(workspace: Workspace) -> None:
    artifact_id = _create_overlapping_artifact(workspace)
    first = submit_tags(workspace, artifact_id, [A])
    assert first["status"] == "submitted"
    second = submit_tags(workspace, artifact_id, [A], by="second")
    assert second["status"] == "accepted"
    assert _get_status(workspace, first) == "accepted"
    events = workspace.events("tag_set.accepted")
    assert sorted(t["tag_set_id"] for t in events) == sorted([first["id"], second["id"]])
    assert {t["reviewer_id"] for t in events} == {None}
    row = workspace.artifact_row(artifact_id)
    assert (row.status, row.label_counts) == ("done", counts(accepted=2))
    assert workspace.revisions(first["id"])[-1].kind == "accept"
    assert _list_flags(workspace) == {}


def test_below_it_all_are_flagged_and_wait(workspace: Workspace) -> None:
    artifact_id = _create_overlapping_artifact(workspace)
    first = submit_tags(workspace, artifact_id, [A])
    assert _list_flags(workspace) == {first["id"]: []}
    second = submit_tags(workspace, artifact_id, [B], by="second")
    assert _list_flags(workspace) == {first["id"]: ["disagreement"], second["id"]: ["disagreement"]}
    assert workspace.artifact_row(artifact_id).status == "in_review"
    assert workspace.events("tag_set.accepted") == []
    # The flag is no change of the label set.
    assert get_tag_set(workspace, first) == first


def test_the_share_is_the_schemas(workspace: Workspace) -> None:
    artifact_id = _create_overlapping_artifact(workspace, auto_accept_agreement=0.5)
    submit_tags(workspace, artifact_id, [A, tag("pages", 1)])
    second = submit_tags(workspace, artifact_id, [A, tag("pages", 2)], by="second")
    assert second["status"] == "accepted"


def test_what_was_sent_back_agrees_with_what_its_labeler_saw(workspace: Workspace) -> None:
    artifact_id = _create_overlapping_artifact(workspace)
    first = submit_tags(workspace, artifact_id, [A])
    second = submit_tags(workspace, artifact_id, [B], by="second")
    rejected = reject(workspace, second).json["data"]
    workspace.save(rejected, [A], by="second")
    assert submit(workspace, second, by="second").json["data"]["status"] == "submitted"
    assert _list_flags(workspace) == {first["id"]: [], second["id"]: ["resubmitted"]}
    assert workspace.events("tag_set.accepted") == []


def test_one_in_a_reviewers_hands_is_left_to_them(workspace: Workspace) -> None:
    artifact_id = _create_overlapping_artifact(workspace)
    first = submit_tags(workspace, artifact_id, [A])
    claimed = workspace.org.api("reviewer").post(f"/review-queue/{first['id']}/claim", json={})
    assert claimed.status_code == 200, claimed.json
    second = submit_tags(workspace, artifact_id, [A], by="second")
    assert (second["status"], _get_status(workspace, first)) == ("accepted", "submitted")
    assert accept(workspace, first).status_code == 200


def test_one_that_was_escalated_is_left_to_whom_it_was_handed(workspace: Workspace) -> None:
    artifact_id = _create_overlapping_artifact(workspace)
    first = submit_tags(workspace, artifact_id, [A])
    body = {"user_id": str(workspace.org.users["admin"]), "reason": "Is A right?"}
    handed = workspace.org.api("reviewer").post(f"/review-queue/{first['id']}/escalate", json=body)
    assert handed.status_code == 200, handed.json
    second = submit_tags(workspace, artifact_id, [A], by="second")
    assert (second["status"], _get_status(workspace, first)) == ("accepted", "submitted")


def test_the_lot_spares_what_agreement_would_not(workspace: Workspace) -> None:
    artifact_id = _create_overlapping_artifact(workspace, sample_rate=0.0)
    assert submit_tags(workspace, artifact_id, [A])["status"] == "accepted"
    assert submit_tags(workspace, artifact_id, [B], by="second")["status"] == "accepted"
    assert workspace.artifact_row(artifact_id).status == "done"


@pytest.mark.parametrize("policy", [{}, {"sample_rate": 0.0}, {"auto_accept_confidence": 0.5}])
def test_whoever_was_rejected_may_have_seen_the_others(
    workspace: Workspace, policy: dict[str, Any]
) -> None:
    artifact_id = _create_overlapping_artifact(workspace)
    first = submit_tags(workspace, artifact_id, [A])
    rejected = submit_tags(workspace, artifact_id, [B], by="second")
    reject(workspace, rejected, send_to="pool")
    _ask(workspace, rejected, {**POLICY, **OVERLAP, **policy})
    draft = start_draft(workspace, artifact_id, source=first["id"], by="second").json["data"]
    sure = [tag("number", "A", confidence=0.9)]
    draft = get_data(workspace.save(draft, sure, by="second"))
    sent = submit(workspace, draft, by="second").json["data"]
    assert [_get_status(workspace, tag_set) for tag_set in (sent, first)] == ["submitted"] * 2
    assert "resubmitted" in _list_flags(workspace)[sent["id"]]
    assert workspace.events("tag_set.accepted") == []


def _ask(workspace: Workspace, of: dict[str, Any], policy: dict[str, Any]) -> None:
    """Ask something else of a schema, before the service has read what it asks."""
    workspace.sql(
        "UPDATE schema_versions SET review_policy = CAST(:policy AS jsonb) WHERE id = :id",
        policy=json.dumps(policy),
        id=of["schema_version_id"],
    )
    rules.get_version_rules.cache_clear()


def test_one_that_needs_no_review_still_agrees_with_those_that_wait(workspace: Workspace) -> None:
    artifact_id = _create_overlapping_artifact(workspace, auto_accept_confidence=0.9)
    first = submit_tags(workspace, artifact_id, [A])
    sure = tag("number", "A", confidence=0.95)
    second = submit_tags(workspace, artifact_id, [sure], by="second", from_model=True)
    assert second["status"] == "accepted"
    assert _get_status(workspace, first) == "accepted"
    assert len(workspace.events("tag_set.accepted")) == 2


def test_without_overlap_there_is_nobody_to_agree_with(workspace: Workspace) -> None:
    artifact_id = workspace.artifact(workspace.schema(auto_accept_agreement=0.1))
    assert submit_tags(workspace, artifact_id, [A])["status"] == "submitted"


def test_a_model_is_no_second_opinion(workspace: Workspace) -> None:
    artifact_id = _create_overlapping_artifact(workspace)
    first = submit_tags(workspace, artifact_id, [A])
    workspace.sql("UPDATE tag_sets SET source = 'model' WHERE id = :id", id=first["id"])
    assert submit_tags(workspace, artifact_id, [A], by="second")["status"] == "submitted"


@pytest.mark.parametrize("agree", [True, False])
def test_the_last_two_at_once_are_decided_once(workspace: Workspace, agree: bool) -> None:
    workspace.org.add_user("second", "labeler")
    schema_id = workspace.schema(**OVERLAP)
    for _ in range(5):
        artifact_id = workspace.artifact(schema_id)
        drafts = {
            name: workspace.save(
                workspace.draft(artifact_id, by=name),
                [A if agree or name == "second" else B],
                by=name,
            ).json["data"]
            for name in ("labeler", "second")
        }
        answers = run_concurrently(
            *(lambda n=name, d=draft: submit(workspace, d, by=n) for name, draft in drafts.items())
        )
        assert {answer.status_code for answer in answers} == {200}
        ids = {draft["id"] for draft in drafts.values()}
        accepted_ids = [event["tag_set_id"] for event in workspace.events("tag_set.accepted")]
        accepted_now = [tag_set_id for tag_set_id in accepted_ids if tag_set_id in ids]
        row = workspace.artifact_row(artifact_id)
        if agree:
            assert sorted(accepted_now) == sorted(ids)
            assert (row.status, row.label_counts) == ("done", counts(accepted=2))
        else:
            assert accepted_now == []
            assert {tuple(_list_flags(workspace)[item_id]) for item_id in ids} == {
                ("disagreement",)
            }
        for tag_set_id in ids:
            kinds = [revision.kind for revision in workspace.revisions(tag_set_id)]
            assert kinds.count("accept") == (1 if agree else 0)


def test_a_row_put_in_costs_the_agreement_no_more_than_itself(workspace: Workspace) -> None:
    artifact_id = _create_overlapping_artifact(workspace, auto_accept_agreement=0.8)
    first = submit_tags(workspace, artifact_id, [A, *rows("rope", "sail", "mast")])
    longer = [A, *rows("new", "rope", "sail", "mast")]
    second = submit_tags(workspace, artifact_id, longer, by="second")
    # 8 of 9 tags have their like.
    assert [_get_status(workspace, tag_set) for tag_set in (first, second)] == ["accepted"] * 2
