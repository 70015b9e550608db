"""The queue: what waits for review, the most urgent first."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.factories import Org
from tests.factories.workspace import Workspace, tag
from tests.workflow.actions import accept, reject, set_review_claim, submit_tags


def _list_queue(workspace: Workspace, query: str = "") -> list[dict[str, Any]]:
    answer = workspace.org.api("reviewer").get(f"/review-queue{query}")
    assert answer.status_code == 200, answer.json
    assert answer.json["meta"]["total"] == len(answer.json["data"])
    items: list[dict[str, Any]] = answer.json["data"]
    return items


def test_an_item_is_a_submitted_label_set_with_its_document(workspace: Workspace) -> None:
    workspace.draft()
    due = datetime(2031, 1, 1, tzinfo=UTC)
    sent = workspace.submitted(workspace.artifact(name="a.pdf", priority=70, due_at=due))
    (item,) = _list_queue(workspace)
    waited = item.pop("age_seconds")
    assert 0 <= waited < 60
    assert item == {
        "id": sent["id"],
        "tag_set": sent,
        "artifact": {"id": sent["artifact_id"], "name": "a.pdf"},
        "schema": {"id": sent["schema_id"], "name": "Invoices"},
        "priority": 70,
        "due_at": "2031-01-01T00:00:00Z",
        "claim": None,
        "assignee_id": None,
        "assignee_team_id": None,
        "escalated": False,
        "escalation": None,
        "flags": [],
        "created_at": sent["created_at"],
        "updated_at": sent["updated_at"],
    }


def test_the_age_counts_from_the_submission(workspace: Workspace) -> None:
    sent = workspace.submitted()
    workspace.sql(
        "UPDATE tag_sets SET submitted_at = submitted_at - interval '1 hour' WHERE id = :id",
        id=sent["id"],
    )
    assert 3600 <= _list_queue(workspace)[0]["age_seconds"] < 3660


def test_the_most_urgent_comes_first(workspace: Workspace) -> None:
    schema_id = workspace.schema()
    now = datetime.now(UTC)
    wanted = [
        {"priority": 0, "due_at": now - timedelta(days=30)},
        {"priority": 50, "due_at": now - timedelta(days=1)},
        {"priority": 90, "due_at": now + timedelta(days=9)},
        {"priority": 60},
        {"priority": 50, "due_at": now + timedelta(days=2)},
    ]
    sent = [workspace.submitted(workspace.artifact(schema_id, **w))["id"] for w in reversed(wanted)]
    assert [item["id"] for item in _list_queue(workspace)] == sent[::-1]
    assert [item["id"] for item in _list_queue(workspace, "?sort=-review_rank")] == sent
    assert [item["id"] for item in _list_queue(workspace, "?sort=created_at")] == sent


def test_pages_go_on_where_they_stopped_while_items_leave(workspace: Workspace) -> None:
    schema_id = workspace.schema()
    sent = [
        workspace.submitted(workspace.artifact(schema_id, priority=p))["id"]
        for p in (90, 80, 70, 60)
    ]
    api = workspace.org.api("reviewer")
    first = api.get("/review-queue?page_size=2").json
    assert [i["id"] for i in first["data"]] == sent[:2]
    assert api.post(f"/tag-sets/{sent[0]}/accept", json={}).status_code == 200
    second = api.get(f"/review-queue?page_size=2&cursor={first['meta']['next_cursor']}").json
    assert [i["id"] for i in second["data"]] == sent[2:]


def test_filters(workspace: Workspace) -> None:
    schema_id = workspace.schema()
    sent = workspace.submitted(workspace.artifact(schema_id))
    other = workspace.submitted(workspace.artifact(), by="admin")
    workspace.sql(
        "UPDATE tag_sets SET assignee_id = :user, escalated = true, flags = '[\"disagreement\"]'"
        " WHERE id = :id",
        user=workspace.org.users["reviewer"],
        id=sent["id"],
    )
    for query in (
        f"schema_id={schema_id}",
        f"assignee_id={workspace.org.users['reviewer']}",
        f"labeler_id={workspace.org.users['labeler']}",
        "escalated=true",
        "flag=disagreement",
        f"created_before={other['created_at']}",
    ):
        assert [i["id"] for i in _list_queue(workspace, f"?{query}")] == [sent["id"]], query
    assert [i["id"] for i in _list_queue(workspace, "?escalated=false")] == [other["id"]]
    assert [i["id"] for i in _list_queue(workspace, f"?created_after={other['created_at']}")] == [
        other["id"]
    ]
    assert _list_queue(workspace, "?flag=resubmitted") == []


@pytest.mark.parametrize("query", ["flag=odd", "escalated=maybe", "schema_id=x", "sort=name"])
def test_garbled_filters_are_refused(query: str, workspace: Workspace) -> None:
    assert workspace.org.api("reviewer").get(f"/review-queue?{query}").status_code == 422


def test_a_live_claim_is_shown_and_an_expired_one_is_not(workspace: Workspace) -> None:
    sent = workspace.submitted()
    set_review_claim(workspace, sent["id"], "admin", minutes=5)
    assert _list_queue(workspace)[0]["claim"]["user_id"] == str(workspace.org.users["admin"])
    set_review_claim(workspace, sent["id"], "admin", minutes=-1)
    assert _list_queue(workspace)[0]["claim"] is None


def test_what_is_decided_or_goes_back_leaves_the_queue(workspace: Workspace) -> None:
    accepted, rejected, pooled = (workspace.submitted() for _ in range(3))
    accept(workspace, accepted)
    reject(workspace, rejected)
    reject(workspace, pooled, send_to="pool")
    assert _list_queue(workspace) == []


def test_large_tags_stay_out_of_the_queue(workspace: Workspace) -> None:
    tags = [tag("number", "A"), *(tag("note", "x" * 500) for _ in range(200))]
    submit_tags(workspace, workspace.artifact(), tags)
    (item,) = _list_queue(workspace)
    assert (item["tag_set"]["tags"], item["tag_set"]["tag_count"]) == (None, 201)
    (alone,) = _list_queue(workspace, "?page_size=10")
    assert len(alone["tag_set"]["tags"]) == 201


def test_another_tenants_queue_is_empty(workspace: Workspace, other_org: Org) -> None:
    sent = workspace.submitted()
    body = other_org.api("owner").get("/review-queue").json
    assert (body["data"], body["meta"]["total"]) == ([], 0)
    body = other_org.api("owner").get(f"/review-queue?schema_id={sent['schema_id']}").json
    assert body["data"] == []
