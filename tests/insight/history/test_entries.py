"""History entries for assignments, skips, claims, reviews, routing rules and merges."""

from collections.abc import Callable
from typing import Any

import pytest

from app.kit import db, tenancy
from app.workflow.assignment import service as assignment
from tests.factories.routing import Router
from tests.factories.teams import make_team
from tests.factories.workspace import Workspace, tag
from tests.insight.history.conftest import actions, entry, history, sent

Work = Callable[[], None]


def test_rule_assignments_and_skips_with_their_reasons(workspace: Workspace) -> None:
    org, router = workspace.org, Router(workspace)
    first = router.rule(name="Urgent", stop=False, priority=70)
    second = router.rule(name="To Lea", user_id=str(org.users["labeler"]))
    artifact_id = workspace.artifact()
    router.route(artifact_id)
    sent(org.api("labeler").post("/artifacts/next", {}))
    path = f"/artifacts/{artifact_id}"
    sent(org.api("labeler").post(f"{path}/release", {"reason": "Cannot read it"}))
    sent(org.api("admin").post(f"{path}/assign", {"user_ids": [str(org.users["reviewer"])]}))
    told = history(org, artifact_id)
    assert {one["action"] for one in told[-3:-1]} == {
        "routing_rules.match", "routing_rules.assign",
    }  # fmt: skip
    assert [one["action"] for one in told[-4::-1]] == [
        "artifacts.update",
        "artifacts.claim",
        "artifacts.release",
        "artifacts.release",
        "artifacts.skip",
        "artifacts.assign",
    ]
    by = entry(org, artifact_id, "routing_rules.assign")
    assert (by["rule"], by["actor"]["kind"]) == ({"id": second["id"], "name": "To Lea"}, "system")
    matched = entry(org, artifact_id, "routing_rules.match")
    assert matched["rule"] == {"id": first["id"], "name": "Urgent"}
    skipped = entry(org, artifact_id, "artifacts.skip")
    assert skipped["note"] == "Cannot read it"
    assert skipped["actor"]["id"] == str(org.users["labeler"])
    named = [{"user_id": str(org.users["reviewer"]), "team_id": None}]
    assert entry(org, artifact_id, "artifacts.assign")["changes"]["assignees"] == [[], named]


def test_a_deleted_rule_is_shown_by_its_name(workspace: Workspace) -> None:
    router = Router(workspace)
    rule = router.rule(name="Old", user_id=str(workspace.org.users["labeler"]))
    artifact_id = workspace.artifact()
    router.route(artifact_id)
    assert workspace.org.api("admin").delete(f"/routing-rules/{rule['id']}").status_code == 204
    assert entry(workspace.org, artifact_id, "routing_rules.assign")["rule"]["name"] == "Old"


def test_the_reason_of_a_forced_release(workspace: Workspace) -> None:
    org, artifact_id = workspace.org, workspace.artifact()
    path = f"/artifacts/{artifact_id}"
    sent(org.api("labeler").post(f"{path}/claim"))
    sent(org.api("admin").post(f"{path}/release", {"reason": "On leave"}))
    assert actions(org, artifact_id)[1:] == [
        "artifacts.claim", "artifacts.release", "artifacts.release",
    ]  # fmt: skip
    reason, taken = history(org, artifact_id)[:2]
    assert (reason["note"], reason["actor"]["id"]) == ("On leave", str(org.users["admin"]))
    assert taken["changes"] == {"claim_user_id": [str(org.users["labeler"]), None]}


def test_claims_that_expire(workspace: Workspace) -> None:
    artifact_id = workspace.artifact()
    sent(workspace.org.api("labeler").post(f"/artifacts/{artifact_id}/claim"))
    workspace.sql("UPDATE artifacts SET claim_expires_at = now() WHERE id = :id", id=artifact_id)
    across = tenancy.across_organizations(reason="claims of every organization run out")
    with workspace.org.app.app_context(), across, db.transaction():
        assignment.expire_claims()
    last = history(workspace.org, artifact_id)[0]
    assert last["actor"]["kind"] == "system"
    assert last["changes"]["claim_user_id"] == [str(workspace.org.users["labeler"]), None]


def test_a_draft_that_was_discarded(workspace: Workspace) -> None:
    draft = workspace.saved()
    answer = workspace.org.api("labeler").delete(f"/tag-sets/{draft['id']}")
    assert answer.status_code == 204
    gone = history(workspace.org, draft["artifact_id"])[0]
    assert (gone["action"], gone["kind"]) == ("tag_sets.delete", "tag_set")
    assert gone["tag_set_id"] == draft["id"]
    assert gone["actor"]["id"] == str(workspace.org.users["labeler"])


def test_reviewers_and_escalations(workspace: Workspace) -> None:
    org = workspace.org
    org.add_user("second", "reviewer")
    done = workspace.submitted()
    item = f"/review-queue/{done['id']}"
    sent(org.api("reviewer").post(f"{item}/claim"))
    body = {"reason": "Two totals", "user_id": str(org.users["second"])}
    sent(org.api("reviewer").post(f"{item}/escalate", body))
    asked = entry(org, done["artifact_id"], "tag_sets.escalate")
    assert (asked["note"], asked["tag_set_id"]) == ("Two totals", done["id"])
    assert asked["changes"]["assignee_id"] == [None, str(org.users["second"])]
    team = make_team(org)["id"]
    sent(org.api("admin").post(f"/teams/{team}/members", _members(org.users["second"])))
    body = {"tag_set_ids": [done["id"]], "team_id": team}
    sent(org.api("admin").post("/review-queue/bulk-assign", body))
    given = history(org, done["artifact_id"])[0]
    assert given["action"] == "tag_sets.assign"
    assert given["changes"]["assignee_team_id"] == [None, team]
    answer = org.api("second").post(
        f"/tag-sets/{done['id']}/reject",
        {"reason": "Wrong one", "send_to": str(org.users["admin"])},
    )
    sent(answer)
    handed, rejected = history(org, done["artifact_id"])[:2]
    assert (rejected["action"], rejected["note"]) == ("tag_sets.reject", "Wrong one")
    assert handed["changes"] == {"labeler_id": [None, str(org.users["admin"])]}


def _members(user_id: Any) -> dict[str, Any]:
    return {"members": [{"user_id": str(user_id)}]}


@pytest.mark.parametrize("by", ["labeler", "viewer"])
def test_users_below_reviewer_do_not_see_reviewers(workspace: Workspace, by: str) -> None:
    org = workspace.org
    done = workspace.submitted()
    sent(org.api("reviewer").post(f"/review-queue/{done['id']}/claim"))
    body = {"reason": "Suspicious", "user_id": str(org.users["admin"])}
    sent(org.api("reviewer").post(f"/review-queue/{done['id']}/escalate", body))
    assert "Suspicious" not in str(history(org, done["artifact_id"], by))
    assert actions(org, done["artifact_id"], by)[-1] == "tag_sets.submit"


def test_the_reason_of_an_automatic_acceptance(workspace: Workspace) -> None:
    lucky = workspace.submitted(workspace.artifact(workspace.schema(sample_rate=0.0)))
    assert history(workspace.org, lucky["artifact_id"])[0]["note"] == "sampling"
    assert lucky["reason"] is None

    draft = workspace.draft(workspace.artifact(workspace.schema(auto_accept_confidence=0.9)))
    assert workspace.save(draft, [tag("number", "A-1", confidence=0.95)]).status_code == 200
    workspace.mark_as_models(draft)
    sure = sent(workspace.org.api("labeler").post(f"/tag-sets/{draft['id']}/submit"))
    assert history(workspace.org, sure["artifact_id"])[0]["note"] == "confidence"

    workspace.org.add_user("second", "labeler")
    both = workspace.artifact(workspace.schema(labels_per_artifact=2, auto_accept_agreement=0.9))
    workspace.submitted(both)
    workspace.submitted(both, by="second")
    accepted = [one for one in history(workspace.org, both) if one["action"] == "tag_sets.accept"]
    assert [one["note"] for one in accepted] == ["agreement"] * 2
    assert {one["actor"]["kind"] for one in accepted} == {"system"}


def test_a_disagreement_is_shown(workspace: Workspace) -> None:
    workspace.org.add_user("second", "labeler")
    both = workspace.artifact(workspace.schema(labels_per_artifact=2, auto_accept_agreement=0.9))
    workspace.submitted(both)
    draft = workspace.draft(both, by="second")
    assert workspace.save(draft, [tag("number", "B-2")], by="second").status_code == 200
    sent(workspace.org.api("second").post(f"/tag-sets/{draft['id']}/submit"))
    flagged = [one for one in history(workspace.org, both) if one["action"] == "tag_sets.flag"]
    assert [one["changes"]["flags"] for one in flagged] == [[[], ["disagreement"]]] * 2


def test_the_sources_of_a_merge(workspace: Workspace) -> None:
    workspace.org.add_user("second", "labeler")
    both = workspace.artifact(workspace.schema(labels_per_artifact=2))
    sources = [workspace.submitted(both)["id"], workspace.submitted(both, by="second")["id"]]
    body = {"tag_set_ids": sources, "strategy": "majority", "accept": True}
    merge = sent(workspace.org.api("reviewer").post("/tag-sets/merge", body))
    made = entry(workspace.org, both, "tag_sets.merge")
    assert made["tag_set_id"] == merge["id"]
    assert made["changes"] == {"merged_from": [None, sources]}
    assert actions(workspace.org, both).count("tag_sets.supersede") == 2
