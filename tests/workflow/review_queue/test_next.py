"""The draw: who gets which item, and who gets none."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.factories import Org
from tests.factories.teams import create_team
from tests.factories.workspace import Workspace
from tests.workflow.actions import get_data, reject, set_review_claim
from tests.workflow.review_queue.conftest import (
    assign,
    claim_next,
    claim_next_id,
    update_tag_set,
)
from tests.workflow.tag_sets.merges import merge


def _set_required_skills(workspace: Workspace, schema_id: Any, *skills: str) -> None:
    body = {"required_skills": list(skills), "revision": 1}
    answer = workspace.org.api("admin").patch(f"/schemas/{schema_id}", json=body)
    assert answer.status_code == 200, answer.json


def test_the_most_urgent_is_handed_out_with_a_claim(workspace: Workspace) -> None:
    schema_id = workspace.schema()
    workspace.submitted(workspace.artifact(schema_id, priority=40))
    sent = workspace.submitted(workspace.artifact(schema_id, priority=60))
    workspace.settings(claim_minutes=45)
    item = claim_next(workspace)
    assert (item["id"], item["tag_set"]["id"]) == (sent["id"], sent["id"])
    assert item["tag_set"]["tags"] == sent["tags"]
    assert item["tag_set"]["revision"] == sent["revision"]
    assert item["claim"]["user_id"] == str(workspace.org.users["reviewer"])
    remaining_time = datetime.fromisoformat(item["claim"]["expires_at"]) - datetime.now(UTC)
    assert timedelta(minutes=44) < remaining_time < timedelta(minutes=46)


def test_nothing_to_review_is_null(workspace: Workspace) -> None:
    assert claim_next(workspace) is None
    workspace.draft()
    assert claim_next(workspace) is None


def test_what_one_holds_comes_back_before_all_else(workspace: Workspace) -> None:
    schema_id = workspace.schema()
    first = workspace.submitted(workspace.artifact(schema_id))["id"]
    assert claim_next_id(workspace) == first
    urgent = workspace.submitted(workspace.artifact(schema_id, priority=100))["id"]
    assert claim_next_id(workspace) == first
    workspace.org.api("reviewer").post(f"/tag-sets/{first}/accept", json={})
    assert claim_next_id(workspace) == urgent


def test_a_claim_that_ran_out_frees_the_item(workspace: Workspace) -> None:
    sent = workspace.submitted()["id"]
    set_review_claim(workspace, sent, "admin", minutes=5)
    assert claim_next_id(workspace) is None
    set_review_claim(workspace, sent, "admin", minutes=-5)
    assert claim_next_id(workspace) == sent


def test_what_is_assigned_comes_first_by_name_then_by_team_then_the_rest(
    workspace: Workspace,
) -> None:
    schema_id = workspace.schema()
    pooled, team, named = (
        workspace.submitted(workspace.artifact(schema_id, priority=p))["id"] for p in (90, 50, 10)
    )
    update_tag_set(workspace, team, assignee_team_id=create_team(workspace.org, "reviewer"))
    update_tag_set(workspace, named, assignee_id=workspace.org.users["reviewer"])
    for expected in (named, team, pooled):
        assert claim_next_id(workspace) == expected
        workspace.org.api("reviewer").post(f"/tag-sets/{expected}/accept", json={})


def test_what_is_assigned_to_others_is_not_handed_out(workspace: Workspace) -> None:
    workspace.org.add_user("other", "reviewer")
    named, team = workspace.submitted()["id"], workspace.submitted()["id"]
    update_tag_set(workspace, named, assignee_id=workspace.org.users["other"])
    update_tag_set(workspace, team, assignee_team_id=create_team(workspace.org, "other"))
    assert claim_next_id(workspace) is None
    assert claim_next_id(workspace, "admin") is None
    assert claim_next_id(workspace, "other") == named


def test_nobody_is_handed_their_own_unless_the_organization_allows_it(workspace: Workspace) -> None:
    own = workspace.submitted(by="reviewer")["id"]
    assert claim_next_id(workspace) is None
    update_tag_set(workspace, own, assignee_team_id=create_team(workspace.org, "reviewer"))
    assert claim_next_id(workspace) is None
    workspace.settings(allow_self_review=True)
    assert claim_next_id(workspace) == own


def test_what_is_of_archived_documents_does_not_wait(workspace: Workspace) -> None:
    schema_id = workspace.schema()
    archived = workspace.submitted(workspace.artifact(schema_id, priority=90))
    pending = workspace.submitted(workspace.artifact(schema_id))["id"]
    api = workspace.org.api("reviewer")
    update_tag_set(workspace, archived["id"], assignee_id=workspace.org.users["reviewer"])
    path = f"/artifacts/{archived['artifact_id']}"

    def archive(*, value: bool) -> None:
        answer = workspace.org.api("admin").patch(path, json={"archived": value})
        assert answer.status_code == 200, answer.json

    archive(value=True)
    listed = api.get("/review-queue").json
    assert ([record["id"] for record in listed["data"]], listed["meta"]["total"]) == ([pending], 1)
    stats = api.get("/review-queue/stats").json["data"]
    assert (stats["depth"], [one["depth"] for one in stats["by_schema"]]) == (1, [1])
    assert api.get("/users/me/assignments").json["data"] == []
    assert claim_next_id(workspace) == pending
    # By its id it is still there, to be decided or handed on.
    assert api.get(f"/review-queue/{archived['id']}").status_code == 200
    api.post(f"/review-queue/{pending}/release")
    archive(value=False)
    assert api.get("/review-queue").json["meta"]["total"] == 2
    assert api.get("/review-queue/stats").json["data"]["depth"] == 2
    assert claim_next_id(workspace) == archived["id"]


def test_the_pool_asks_for_the_schemas_skills(workspace: Workspace) -> None:
    german, plain = workspace.schema(), workspace.schema()
    needs = workspace.submitted(workspace.artifact(german, priority=90))["id"]
    free = workspace.submitted(workspace.artifact(plain))["id"]
    _set_required_skills(workspace, german, "German", "Law")
    assert claim_next_id(workspace) == free
    workspace.org.api("reviewer").post(f"/review-queue/{free}/release")
    create_team(workspace.org, "reviewer", name="Germanists", skills=["GERMAN"])
    assert claim_next_id(workspace) == free
    workspace.org.api("reviewer").post(f"/review-queue/{free}/release")
    create_team(workspace.org, "reviewer", name="Lawyers", skills=["law"])
    assert claim_next_id(workspace) == needs


def test_skills_hold_neither_admins_nor_whom_an_item_is_assigned_to(workspace: Workspace) -> None:
    schema_id = workspace.schema()
    pooled, named = (workspace.submitted(workspace.artifact(schema_id))["id"] for _ in range(2))
    _set_required_skills(workspace, schema_id, "German")
    update_tag_set(workspace, named, assignee_id=workspace.org.users["reviewer"])
    assert claim_next_id(workspace) == named
    workspace.org.api("reviewer").post(f"/tag-sets/{named}/accept", json={})
    assert claim_next_id(workspace) is None
    assert claim_next_id(workspace, "admin") == pooled


def test_the_draw_is_narrowed_by_schema_and_flags(workspace: Workspace) -> None:
    schema_id, other = workspace.schema(), workspace.schema()
    plain = workspace.submitted(workspace.artifact(schema_id))["id"]
    flagged = workspace.submitted(workspace.artifact(other, priority=90))["id"]
    update_tag_set(workspace, flagged, flags='["disagreement"]')
    assert claim_next_id(workspace, flags=["low_confidence"]) is None
    assert claim_next_id(workspace, "admin", flags=["low_confidence", "disagreement"]) == flagged
    assert claim_next_id(workspace, schema_id=str(other)) is None
    assert claim_next_id(workspace, schema_id=str(schema_id)) == plain
    assert claim_next_id(workspace, schema_id=str(other)) is None


@pytest.mark.parametrize(
    "body", [{"schema_id": "x"}, {"flags": ["odd"]}, {"flags": "disagreement"}, {"who": "me"}]
)
def test_garbled_wishes_are_refused(workspace: Workspace, body: dict[str, Any]) -> None:
    answer = workspace.org.api("reviewer").post("/review-queue/next", json=body)
    assert answer.status_code == 422
    assert answer.json["error"]["field"].startswith(next(iter(body)))


def test_a_head_full_of_what_one_may_not_have_hides_nothing(workspace: Workspace) -> None:
    """More of one's own than the head is long, before an item of each other labeler."""
    from app.workflow.review_queue.queries import next_item  # noqa: PLC0415

    workspace.org.add_user("second", "labeler")
    schema_id, other = workspace.schema(), workspace.schema()
    own = workspace.submitted(workspace.artifact(schema_id, priority=90), by="reviewer")["id"]
    others = [
        workspace.submitted(workspace.artifact(schema, priority=p), by=by)["id"]
        for schema, p, by in ((schema_id, 20, "labeler"), (other, 30, "second"))
    ]
    _copy(workspace, own, next_item.POOL_SCAN_SIZE + 50)
    update_tag_set(workspace, others[0], labeler_id=None)
    assert claim_next_id(workspace, schema_id=str(schema_id)) == others[0]
    workspace.org.api("reviewer").post(f"/review-queue/{others[0]}/release")
    assert claim_next_id(workspace) == others[1]
    workspace.org.api("reviewer").post(f"/tag-sets/{others[1]}/accept", json={})
    assert claim_next_id(workspace) == others[0]
    assert claim_next_id(workspace, "admin") not in (None, *others)


def _copy(workspace: Workspace, tag_set_id: str, times: int) -> None:
    """More label sets like one, of as many documents."""
    workspace.sql(
        """
        WITH more AS (
            SELECT d.*, gen_random_uuid() AS new_id
            FROM artifacts d JOIN tag_sets t ON t.artifact_id = d.id
            CROSS JOIN generate_series(1, :times) WHERE t.id = :id
        ), documents AS (
            INSERT INTO artifacts (organization_id, id, name, schema_id, metadata, priority, gold,
                archived, media_type, size_bytes, sha256, text_length, status, assignees,
                label_counts, created_at, updated_at, revision)
            SELECT organization_id, new_id, name, schema_id, metadata, priority, gold, archived,
                media_type, size_bytes,
                encode(sha256(convert_to(CAST(new_id AS text), 'UTF8')), 'hex'), text_length,
                status, assignees, label_counts, created_at, updated_at, revision FROM more
        )
        INSERT INTO tag_sets (organization_id, id, artifact_id, schema_id, schema_version_id,
            labeler_id, source, tags, status, submitted_at, seconds_spent, comment_count,
            rejections, review_rank, escalated, flags, created_at, updated_at, revision)
        SELECT t.organization_id, gen_random_uuid(), new_id, t.schema_id, t.schema_version_id,
            t.labeler_id, t.source, t.tags, t.status, t.submitted_at, 0, 0, 0, t.review_rank,
            false, t.flags, t.created_at, t.updated_at, 1
        FROM more JOIN tag_sets t ON t.artifact_id = more.id
        """,
        id=tag_set_id,
        times=times,
    )


def test_another_tenants_items_are_not_drawn(workspace: Workspace, other_org: Org) -> None:
    workspace.submitted()
    assert other_org.api("owner").post("/review-queue/next", json={}).json["data"] is None


def test_only_reviewers_draw(workspace: Workspace) -> None:
    answer = workspace.org.api("labeler").post("/review-queue/next", json={})
    assert (answer.status_code, answer.json["error"]["code"]) == (403, "insufficient_role")


def _create_merge(workspace: Workspace, *makers: str) -> str:
    """A merge of label sets of several people, the only thing that waits."""
    artifact_id = workspace.artifact(workspace.schema(labels_per_artifact=len(makers)))
    sets = [workspace.submitted(artifact_id, by=maker) for maker in makers]
    merged = get_data(merge(workspace, sets, by="admin"))
    for tag_set in sets:
        assert reject(workspace, tag_set, by="admin", send_to="pool").status_code == 200
    return str(merged["id"])


def test_a_merge_of_ones_own_label_set_is_no_item_for_oneself(workspace: Workspace) -> None:
    other = str(workspace.org.add_user("other", "reviewer"))
    merged = _create_merge(workspace, "labeler", "reviewer")
    api = workspace.org.api("reviewer")
    assert [record["id"] for record in api.get("/review-queue").json["data"]] == [merged]
    assert claim_next_id(workspace) is None
    me = str(workspace.org.users["reviewer"])
    refusals = [
        api.post(f"/review-queue/{merged}/claim"),
        api.post(f"/review-queue/{merged}/escalate", json={"user_id": other, "reason": "x"}),
        api.post(f"/tag-sets/{merged}/reject", json={"reason": "x", "send_to": "pool"}),
    ]
    assert {refusal.status_code for refusal in refusals} == {403}
    body = {"tag_set_ids": [merged], "reason": "x", "send_to": "pool"}
    outcome = api.post("/review-queue/bulk-reject", json=body).json["data"]["outcomes"][0]
    assert (outcome["ok"], outcome["code"]) == (False, "permission_denied")
    admin = workspace.org.api("admin")
    outcome = assign(workspace, merged, user_ids=[me]).json["data"]["outcomes"][0]
    assert (outcome["ok"], outcome["code"]) == (False, "conflict")
    handed = admin.post(f"/review-queue/{merged}/escalate", json={"user_id": me, "reason": "x"})
    assert (handed.status_code, handed.json["error"]["field"]) == (400, "user_id")
    assert claim_next_id(workspace, "other") == merged
    workspace.org.api("other").post(f"/review-queue/{merged}/release")
    workspace.settings(allow_self_review=True)
    assert claim_next_id(workspace) == merged
