"""The draw: who gets which item, and who gets none."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.factories import Org
from tests.factories.workspace import Workspace


def _claim_next(workspace: Workspace, by: str = "reviewer", **body: Any) -> Any:
    answer = workspace.org.api(by).post("/review-queue/next", json=body)
    assert answer.status_code == 200, answer.json
    assert answer.json["meta"] == {}
    return answer.json["data"]


def _claim_next_id(workspace: Workspace, by: str = "reviewer", **body: Any) -> str | None:
    item = _claim_next(workspace, by, **body)
    return item["id"] if item else None


def _update_tag_set(workspace: Workspace, tag_set_id: str, **values: Any) -> None:
    places = ", ".join(f"{name} = :{name}" for name in values)
    workspace.sql(f"UPDATE tag_sets SET {places} WHERE id = :id", id=tag_set_id, **values)


def _claim_until(workspace: Workspace, tag_set_id: str, by: str, minutes: int) -> None:
    until = datetime.now(UTC) + timedelta(minutes=minutes)
    _update_tag_set(
        workspace, tag_set_id, claim_user_id=workspace.org.users[by], claim_expires_at=until
    )


def _create_team(workspace: Workspace, *people: str, **members: Any) -> str:
    api = workspace.org.api("admin")
    body = {"name": f"Team of {' '.join(people)}", **members}
    team: str = api.post("/teams", json=body).json["data"]["id"]
    user_ids = [str(workspace.org.users[one]) for one in people]
    assert api.post(f"/teams/{team}/members", json={"user_ids": user_ids}).status_code == 200
    return team


def _set_required_skills(workspace: Workspace, schema_id: Any, *skills: str) -> None:
    body = {"required_skills": list(skills), "revision": 1}
    answer = workspace.org.api("admin").patch(f"/schemas/{schema_id}", json=body)
    assert answer.status_code == 200, answer.json


def test_the_most_urgent_is_handed_out_with_a_claim(workspace: Workspace) -> None:
    schema_id = workspace.schema()
    workspace.submitted(workspace.artifact(schema_id, priority=40))
    sent = workspace.submitted(workspace.artifact(schema_id, priority=60))
    workspace.settings(claim_minutes=45)
    item = _claim_next(workspace)
    assert (item["id"], item["tag_set"]["id"]) == (sent["id"], sent["id"])
    assert item["tag_set"]["tags"] == sent["tags"]
    assert item["tag_set"]["revision"] == sent["revision"]
    assert item["claim"]["user_id"] == str(workspace.org.users["reviewer"])
    remaining_time = datetime.fromisoformat(item["claim"]["expires_at"]) - datetime.now(UTC)
    assert timedelta(minutes=44) < remaining_time < timedelta(minutes=46)


def test_nothing_to_review_is_null(workspace: Workspace) -> None:
    assert _claim_next(workspace) is None
    workspace.draft()
    assert _claim_next(workspace) is None


def test_what_one_holds_comes_back_before_all_else(workspace: Workspace) -> None:
    schema_id = workspace.schema()
    first = workspace.submitted(workspace.artifact(schema_id))["id"]
    assert _claim_next_id(workspace) == first
    urgent = workspace.submitted(workspace.artifact(schema_id, priority=100))["id"]
    assert _claim_next_id(workspace) == first
    workspace.org.api("reviewer").post(f"/tag-sets/{first}/accept", json={})
    assert _claim_next_id(workspace) == urgent


def test_a_claim_that_ran_out_frees_the_item(workspace: Workspace) -> None:
    sent = workspace.submitted()["id"]
    _claim_until(workspace, sent, "admin", 5)
    assert _claim_next_id(workspace) is None
    _claim_until(workspace, sent, "admin", -5)
    assert _claim_next_id(workspace) == sent


def test_what_is_assigned_comes_first_by_name_then_by_team_then_the_rest(
    workspace: Workspace,
) -> None:
    schema_id = workspace.schema()
    pooled, team, named = (
        workspace.submitted(workspace.artifact(schema_id, priority=p))["id"] for p in (90, 50, 10)
    )
    _update_tag_set(workspace, team, assignee_team_id=_create_team(workspace, "reviewer"))
    _update_tag_set(workspace, named, assignee_id=workspace.org.users["reviewer"])
    for expected in (named, team, pooled):
        assert _claim_next_id(workspace) == expected
        workspace.org.api("reviewer").post(f"/tag-sets/{expected}/accept", json={})


def test_what_is_assigned_to_others_is_not_handed_out(workspace: Workspace) -> None:
    workspace.org.add_user("other", "reviewer")
    named, team = workspace.submitted()["id"], workspace.submitted()["id"]
    _update_tag_set(workspace, named, assignee_id=workspace.org.users["other"])
    _update_tag_set(workspace, team, assignee_team_id=_create_team(workspace, "other"))
    assert _claim_next_id(workspace) is None
    assert _claim_next_id(workspace, "admin") is None
    assert _claim_next_id(workspace, "other") == named


def test_nobody_is_handed_their_own_unless_the_organization_allows_it(workspace: Workspace) -> None:
    own = workspace.submitted(by="reviewer")["id"]
    assert _claim_next_id(workspace) is None
    _update_tag_set(workspace, own, assignee_team_id=_create_team(workspace, "reviewer"))
    assert _claim_next_id(workspace) is None
    workspace.settings(allow_self_review=True)
    assert _claim_next_id(workspace) == own


def test_what_is_of_archived_documents_does_not_wait(workspace: Workspace) -> None:
    schema_id = workspace.schema()
    archived = workspace.submitted(workspace.artifact(schema_id, priority=90))
    left = workspace.submitted(workspace.artifact(schema_id))["id"]
    api = workspace.org.api("reviewer")
    _update_tag_set(workspace, archived["id"], assignee_id=workspace.org.users["reviewer"])
    path = f"/artifacts/{archived['artifact_id']}"

    def archive(*, value: bool) -> None:
        answer = workspace.org.api("admin").patch(path, json={"archived": value})
        assert answer.status_code == 200, answer.json

    archive(value=True)
    listed = api.get("/review-queue").json
    assert ([record["id"] for record in listed["data"]], listed["meta"]["total"]) == ([left], 1)
    stats = api.get("/review-queue/stats").json["data"]
    assert (stats["depth"], [one["depth"] for one in stats["by_schema"]]) == (1, [1])
    assert api.get("/users/me/assignments").json["data"] == []
    assert _claim_next_id(workspace) == left
    # By its id it is still there, to be decided or handed on.
    assert api.get(f"/review-queue/{archived['id']}").status_code == 200
    api.post(f"/review-queue/{left}/release")
    archive(value=False)
    assert api.get("/review-queue").json["meta"]["total"] == 2
    assert api.get("/review-queue/stats").json["data"]["depth"] == 2
    assert _claim_next_id(workspace) == archived["id"]


def test_the_pool_asks_for_the_schemas_skills(workspace: Workspace) -> None:
    german, plain = workspace.schema(), workspace.schema()
    needs = workspace.submitted(workspace.artifact(german, priority=90))["id"]
    free = workspace.submitted(workspace.artifact(plain))["id"]
    _set_required_skills(workspace, german, "German", "Law")
    assert _claim_next_id(workspace) == free
    workspace.org.api("reviewer").post(f"/review-queue/{free}/release")
    _create_team(workspace, "reviewer", name="Germanists", skills=["GERMAN"])
    assert _claim_next_id(workspace) == free
    workspace.org.api("reviewer").post(f"/review-queue/{free}/release")
    _create_team(workspace, "reviewer", name="Lawyers", skills=["law"])
    assert _claim_next_id(workspace) == needs


def test_skills_hold_neither_admins_nor_whom_an_item_is_assigned_to(workspace: Workspace) -> None:
    schema_id = workspace.schema()
    pooled, named = (workspace.submitted(workspace.artifact(schema_id))["id"] for _ in range(2))
    _set_required_skills(workspace, schema_id, "German")
    _update_tag_set(workspace, named, assignee_id=workspace.org.users["reviewer"])
    assert _claim_next_id(workspace) == named
    workspace.org.api("reviewer").post(f"/tag-sets/{named}/accept", json={})
    assert _claim_next_id(workspace) is None
    assert _claim_next_id(workspace, "admin") == pooled


def test_the_draw_is_narrowed_by_schema_and_flags(workspace: Workspace) -> None:
    schema_id, other = workspace.schema(), workspace.schema()
    plain = workspace.submitted(workspace.artifact(schema_id))["id"]
    flagged = workspace.submitted(workspace.artifact(other, priority=90))["id"]
    _update_tag_set(workspace, flagged, flags='["disagreement"]')
    assert _claim_next_id(workspace, flags=["low_confidence"]) is None
    assert _claim_next_id(workspace, "admin", flags=["low_confidence", "disagreement"]) == flagged
    assert _claim_next_id(workspace, schema_id=str(other)) is None
    assert _claim_next_id(workspace, schema_id=str(schema_id)) == plain
    assert _claim_next_id(workspace, schema_id=str(other)) is None


@pytest.mark.parametrize(
    "body", [{"schema_id": "x"}, {"flags": ["odd"]}, {"flags": "disagreement"}, {"who": "me"}]
)
def test_garbled_wishes_are_refused(workspace: Workspace, body: dict[str, Any]) -> None:
    answer = workspace.org.api("reviewer").post("/review-queue/next", json=body)
    assert answer.status_code == 422
    assert answer.json["error"]["field"].startswith(next(iter(body)))


def test_a_head_full_of_what_one_may_not_have_hides_nothing(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """More of one's own than the head is long, before an item of each other labeler."""
    from app.workflow.review_queue.queries import next_item  # noqa: PLC0415

    workspace.org.add_user("second", "labeler")
    schema_id, other = workspace.schema(), workspace.schema()
    own = workspace.submitted(workspace.artifact(schema_id, priority=90), by="reviewer")["id"]
    theirs = [
        workspace.submitted(workspace.artifact(schema, priority=p), by=by)["id"]
        for schema, p, by in ((schema_id, 20, "labeler"), (other, 30, "second"))
    ]
    _copy(workspace, own, next_item.POOL_SCAN_SIZE + 50)
    _update_tag_set(workspace, theirs[0], labeler_id=None)
    assert _claim_next_id(workspace, schema_id=str(schema_id)) == theirs[0]
    workspace.org.api("reviewer").post(f"/review-queue/{theirs[0]}/release")
    assert _claim_next_id(workspace) == theirs[1]
    workspace.org.api("reviewer").post(f"/tag-sets/{theirs[1]}/accept", json={})
    assert _claim_next_id(workspace) == theirs[0]
    assert _claim_next_id(workspace, "admin") not in (None, *theirs)


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
    sets = [workspace.submitted(artifact_id, by=maker)["id"] for maker in makers]
    made = workspace.org.api("admin").post("/tag-sets/merge", json={"tag_set_ids": sets})
    assert made.status_code == 201, made.json
    for one in sets:
        reject = {"reason": "merged", "send_to": "pool"}
        assert (
            workspace.org.api("admin").post(f"/tag-sets/{one}/reject", json=reject).status_code
            == 200
        )
    return str(made.json["data"]["id"])


def test_a_merge_of_ones_own_label_set_is_no_item_for_oneself(workspace: Workspace) -> None:
    other = str(workspace.org.add_user("other", "reviewer"))
    merge = _create_merge(workspace, "labeler", "reviewer")
    api = workspace.org.api("reviewer")
    assert [record["id"] for record in api.get("/review-queue").json["data"]] == [merge]
    assert _claim_next_id(workspace) is None
    me = str(workspace.org.users["reviewer"])
    refusals = [
        api.post(f"/review-queue/{merge}/claim"),
        api.post(f"/review-queue/{merge}/escalate", json={"user_id": other, "reason": "x"}),
        api.post(f"/tag-sets/{merge}/reject", json={"reason": "x", "send_to": "pool"}),
    ]
    assert {refusal.status_code for refusal in refusals} == {403}
    body = {"tag_set_ids": [merge], "reason": "x", "send_to": "pool"}
    outcome = api.post("/review-queue/bulk-reject", json=body).json["data"]["outcomes"][0]
    assert (outcome["ok"], outcome["code"]) == (False, "permission_denied")
    admin = workspace.org.api("admin")
    to_me = {"tag_set_ids": [merge], "user_ids": [me]}
    outcome = admin.post("/review-queue/bulk-assign", json=to_me).json["data"]["outcomes"][0]
    assert (outcome["ok"], outcome["code"]) == (False, "conflict")
    handed = admin.post(f"/review-queue/{merge}/escalate", json={"user_id": me, "reason": "x"})
    assert (handed.status_code, handed.json["error"]["field"]) == (400, "user_id")
    assert _claim_next_id(workspace, "other") == merge
    workspace.org.api("other").post(f"/review-queue/{merge}/release")
    workspace.settings(allow_self_review=True)
    assert _claim_next_id(workspace) == merge
