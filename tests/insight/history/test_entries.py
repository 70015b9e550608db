"""History entries for assignments, skips, claims, reviews, routing rules and merges."""

from collections.abc import Callable

import pytest

from app.workflow.assignment.queries import claims
from tests.factories.orgs import transaction_across_organizations
from tests.factories.routing import Router
from tests.factories.teams import add_members, make_team
from tests.factories.workspace import Workspace, tag
from tests.insight.history.conftest import (
    create_overlap,
    get_entry,
    list_actions,
    list_entries,
    list_history,
)
from tests.workflow.actions import get_data

Work = Callable[[], None]


def test_rule_assignments_and_skips_with_their_reasons(workspace: Workspace) -> None:
    org, router = workspace.org, Router(workspace)
    first = router.rule(name="Urgent", stop=False, priority=70)
    second = router.rule(name="To Lea", user_id=str(org.users["labeler"]))
    artifact_id = workspace.artifact()
    router.route(artifact_id)
    get_data(org.api("labeler").post("/artifacts/next", {}))
    path = f"/artifacts/{artifact_id}"
    get_data(org.api("labeler").post(f"{path}/release", {"reason": "Cannot read it"}))
    get_data(org.api("admin").post(f"{path}/assign", {"user_ids": [str(org.users["reviewer"])]}))
    entries = list_history(org, artifact_id)
    assert {entry["action"] for entry in entries[-3:-1]} == {
        "routing_rules.match", "routing_rules.assign",
    }  # fmt: skip
    assert [entry["action"] for entry in entries[-4::-1]] == [
        "artifacts.update",
        "artifacts.claim",
        "artifacts.release",
        "artifacts.release",
        "artifacts.skip",
        "artifacts.assign",
    ]
    assigned = get_entry(org, artifact_id, "routing_rules.assign")
    assert assigned["rule"] == {"id": second["id"], "name": "To Lea"}
    assert assigned["actor"]["kind"] == "system"
    matched = get_entry(org, artifact_id, "routing_rules.match")
    assert matched["rule"] == {"id": first["id"], "name": "Urgent"}
    skipped = get_entry(org, artifact_id, "artifacts.skip")
    assert skipped["note"] == "Cannot read it"
    assert skipped["actor"]["id"] == str(org.users["labeler"])
    assignees = [{"user_id": str(org.users["reviewer"]), "team_id": None}]
    changes = get_entry(org, artifact_id, "artifacts.assign")["changes"]
    assert changes["assignees"] == [[], assignees]


def test_a_deleted_rule_is_shown_by_its_name(workspace: Workspace) -> None:
    router = Router(workspace)
    rule = router.rule(name="Old", user_id=str(workspace.org.users["labeler"]))
    artifact_id = workspace.artifact()
    router.route(artifact_id)
    assert workspace.org.api("admin").delete(f"/routing-rules/{rule['id']}").status_code == 204
    assert get_entry(workspace.org, artifact_id, "routing_rules.assign")["rule"]["name"] == "Old"


def test_the_reason_of_a_forced_release(workspace: Workspace) -> None:
    org, artifact_id = workspace.org, workspace.artifact()
    path = f"/artifacts/{artifact_id}"
    get_data(org.api("labeler").post(f"{path}/claim"))
    get_data(org.api("admin").post(f"{path}/release", {"reason": "On leave"}))
    assert list_actions(org, artifact_id)[1:] == [
        "artifacts.claim", "artifacts.release", "artifacts.release",
    ]  # fmt: skip
    reason_entry, release = list_history(org, artifact_id)[:2]
    assert reason_entry["note"] == "On leave"
    assert reason_entry["actor"]["id"] == str(org.users["admin"])
    assert release["changes"] == {"claim_user_id": [str(org.users["labeler"]), None]}


def test_claims_that_expire(workspace: Workspace) -> None:
    artifact_id = workspace.artifact()
    get_data(workspace.org.api("labeler").post(f"/artifacts/{artifact_id}/claim"))
    workspace.sql("UPDATE artifacts SET claim_expires_at = now() WHERE id = :id", id=artifact_id)
    with transaction_across_organizations(workspace.org.app):
        claims.CLAIMABLE_ARTIFACTS.expire_claims()
    last = list_history(workspace.org, artifact_id)[0]
    assert last["actor"]["kind"] == "system"
    assert last["changes"]["claim_user_id"] == [str(workspace.org.users["labeler"]), None]


def test_a_draft_that_was_discarded(workspace: Workspace) -> None:
    draft = workspace.saved()
    answer = workspace.org.api("labeler").delete(f"/tag-sets/{draft['id']}")
    assert answer.status_code == 204
    deletion = list_history(workspace.org, draft["artifact_id"])[0]
    assert (deletion["action"], deletion["kind"]) == ("tag_sets.delete", "tag_set")
    assert deletion["tag_set_id"] == draft["id"]
    assert deletion["actor"]["id"] == str(workspace.org.users["labeler"])


def test_reviewers_and_escalations(workspace: Workspace) -> None:
    org = workspace.org
    org.add_user("second", "reviewer")
    tag_set = workspace.submitted()
    item = f"/review-queue/{tag_set['id']}"
    get_data(org.api("reviewer").post(f"{item}/claim"))
    body = {"reason": "Two totals", "user_id": str(org.users["second"])}
    get_data(org.api("reviewer").post(f"{item}/escalate", body))
    escalation = get_entry(org, tag_set["artifact_id"], "tag_sets.escalate")
    assert (escalation["note"], escalation["tag_set_id"]) == ("Two totals", tag_set["id"])
    assert escalation["changes"]["assignee_id"] == [None, str(org.users["second"])]
    team = add_members(org, make_team(org), "second")["id"]
    body = {"tag_set_ids": [tag_set["id"]], "team_id": team}
    get_data(org.api("admin").post("/review-queue/bulk-assign", body))
    assignment_entry = list_history(org, tag_set["artifact_id"])[0]
    assert assignment_entry["action"] == "tag_sets.assign"
    assert assignment_entry["changes"]["assignee_team_id"] == [None, team]
    body = {"reason": "Wrong one", "send_to": str(org.users["admin"])}
    get_data(org.api("second").post(f"/tag-sets/{tag_set['id']}/reject", body))
    transfer, rejected = list_history(org, tag_set["artifact_id"])[:2]
    assert (rejected["action"], rejected["note"]) == ("tag_sets.reject", "Wrong one")
    assert transfer["changes"] == {"labeler_id": [None, str(org.users["admin"])]}


@pytest.mark.parametrize("by", ["labeler", "viewer"])
def test_users_below_reviewer_do_not_see_reviewers(workspace: Workspace, by: str) -> None:
    org = workspace.org
    tag_set = workspace.submitted()
    get_data(org.api("reviewer").post(f"/review-queue/{tag_set['id']}/claim"))
    body = {"reason": "Suspicious", "user_id": str(org.users["admin"])}
    get_data(org.api("reviewer").post(f"/review-queue/{tag_set['id']}/escalate", body))
    assert "Suspicious" not in str(list_history(org, tag_set["artifact_id"], by))
    assert list_actions(org, tag_set["artifact_id"], by)[-1] == "tag_sets.submit"


def test_the_reason_of_an_automatic_acceptance(workspace: Workspace) -> None:
    sampled = workspace.submitted(workspace.artifact(workspace.schema(sample_rate=0.0)))
    assert list_history(workspace.org, sampled["artifact_id"])[0]["note"] == "sampling"
    assert sampled["reason"] is None

    draft = workspace.draft(workspace.artifact(workspace.schema(auto_accept_confidence=0.9)))
    assert workspace.save(draft, [tag("number", "A-1", confidence=0.95)]).status_code == 200
    workspace.mark_tags_as_predicted(draft)
    confident = get_data(workspace.org.api("labeler").post(f"/tag-sets/{draft['id']}/submit"))
    assert list_history(workspace.org, confident["artifact_id"])[0]["note"] == "confidence"

    artifact_id = create_overlap(workspace, auto_accept_agreement=0.9)
    workspace.submitted(artifact_id)
    workspace.submitted(artifact_id, by="second")
    accepted = list_entries(workspace.org, artifact_id, "tag_sets.accept")
    assert [entry["note"] for entry in accepted] == ["agreement"] * 2
    assert {entry["actor"]["kind"] for entry in accepted} == {"system"}


def test_a_disagreement_is_shown(workspace: Workspace) -> None:
    artifact_id = create_overlap(workspace, auto_accept_agreement=0.9)
    workspace.submitted(artifact_id)
    draft = workspace.draft(artifact_id, by="second")
    assert workspace.save(draft, [tag("number", "B-2")], by="second").status_code == 200
    get_data(workspace.org.api("second").post(f"/tag-sets/{draft['id']}/submit"))
    flagged = list_entries(workspace.org, artifact_id, "tag_sets.flag")
    assert [entry["changes"]["flags"] for entry in flagged] == [[[], ["disagreement"]]] * 2


def test_the_sources_of_a_merge(workspace: Workspace) -> None:
    artifact_id = create_overlap(workspace)
    sources = [workspace.submitted(artifact_id, by=by)["id"] for by in ("labeler", "second")]
    body = {"tag_set_ids": sources, "strategy": "majority", "accept": True}
    merge = get_data(workspace.org.api("reviewer").post("/tag-sets/merge", body))
    merge_entry = get_entry(workspace.org, artifact_id, "tag_sets.merge")
    assert merge_entry["tag_set_id"] == merge["id"]
    assert merge_entry["changes"] == {"merged_from": [None, sources]}
    assert list_actions(workspace.org, artifact_id).count("tag_sets.supersede") == 2
