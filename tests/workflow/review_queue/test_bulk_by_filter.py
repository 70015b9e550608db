"""What a filter of the queue finds is accepted, rejected or assigned."""

from typing import Any

import pytest

from app.kit.ids import uuid7
from tests.factories import Org
from tests.factories.errors import check_conflict, check_error
from tests.factories.teams import create_team
from tests.factories.workspace import Workspace
from tests.workflow.review_queue.by_filter import (
    ACTIONS,
    act,
    archive,
    get_error_codes,
    list_changed_ids,
    list_event_item_ids,
    make_items,
    post,
    run_after_find,
)
from tests.workflow.review_queue.conftest import assign

pytestmark = pytest.mark.usefixtures("batches_of_three")


@pytest.mark.parametrize("what", ACTIONS)
def test_a_filter_acts_on_all_that_the_queue_shows(
    workspace: Workspace, other_org: Org, what: str
) -> None:
    Workspace(other_org).submitted()
    ids = make_items(workspace, 8)
    (archived,) = make_items(workspace, 1)
    archive(workspace, archived)
    workspace.draft()
    result = act(workspace, what, 8)
    assert result == {"matched": 8, "succeeded": 8, "failed": 0, "outcomes": []}
    assert list_changed_ids(workspace, what) == set(ids)
    assert sorted(list_event_item_ids(workspace, what)) == sorted(ids)
    foreign = other_org.api("owner").get("/review-queue").json["data"]
    assert [(item["assignee_id"], item["claim"]) for item in foreign] == [(None, None)]
    ((status,),) = workspace.sql("SELECT status FROM tag_sets WHERE id = :id", id=archived)
    assert status == "submitted"


@pytest.mark.parametrize("what", ACTIONS)
def test_it_does_what_it_does_by_id(workspace: Workspace, what: str) -> None:
    columns = (
        "status, reviewer_id IS NULL AS free, reason, rejections, revision, assignee_team_id,"
        " review_due_at, claim_user_id"
    )
    team = create_team(workspace.org, "reviewer", "other")
    more = {
        "accept": {"note": "Good"},
        "reject": {"send_to": "labeler"},
        "assign": {"team_id": team, "due_at": "2030-01-31T12:00:00Z"},
    }[what]
    by_filter, by_id = make_items(workspace, 1), make_items(workspace, 1)
    statement = "SELECT schema_id FROM tag_sets WHERE id = :id"
    ((schema_id,),) = workspace.sql(statement, id=by_filter[0])
    chosen = {"schema_id": str(schema_id)}
    assert act(workspace, what, 1, filter=chosen, **more)["succeeded"] == 1
    assert post(workspace, what, tag_set_ids=by_id, **more).json["data"]["succeeded"] == 1
    one, other = (
        workspace.sql(f"SELECT {columns} FROM tag_sets WHERE id = :id", id=item)[0]
        for (item,) in (by_filter, by_id)
    )
    assert one == other
    kept = [[(r.kind, r.note) for r in workspace.revisions(item)] for (item,) in (by_filter, by_id)]
    assert kept[0] == kept[1]


def test_each_filter_of_the_list_chooses(workspace: Workspace) -> None:
    first, second, third = (make_items(workspace, 1)[0] for _ in range(3))
    users, api = workspace.org.users, workspace.org.api("reviewer")
    row = workspace.sql("SELECT schema_id, created_at FROM tag_sets WHERE id = :id", id=second)[0]
    workspace.sql("UPDATE tag_sets SET flags = '[\"disagreement\"]' WHERE id = :id", id=second)
    workspace.sql("UPDATE tag_sets SET escalated = true WHERE id = :id", id=third)
    api.post(f"/review-queue/{first}/claim")
    at = row.created_at.isoformat()
    chosen: list[tuple[dict[str, Any], set[str]]] = [
        ({"schema_id": str(row.schema_id)}, {second}),
        ({"flag": "disagreement"}, {second}),
        ({"escalated": True}, {third}),
        ({"escalated": "false"}, {first, second}),
        ({"claimed": False}, {second, third}),
        ({"labeler_id": str(users["labeler"])}, {first, second, third}),
        ({"labeler_id": str(users["reviewer"])}, set()),
        ({"created_after": at}, {second, third}),
        ({"created_before": at, "claimed": True}, {first}),
        ({"assignee_id": str(users["reviewer"])}, set()),
        ({"team_id": str(uuid7())}, set()),
    ]
    for filters, wanted in chosen:
        refused = post(workspace, "accept", filter=filters, expected_count=7)
        assert refused.json["error"]["details"] == {"count": len(wanted)}, filters
        query = "&".join(f"{k}={str(v).replace('+', '%2B')}" for k, v in filters.items())
        listed = api.get(f"/review-queue?{query.replace('True', 'true').replace('False', 'false')}")
        assert {record["id"] for record in listed.json["data"]} == wanted, filters
    assert act(workspace, "accept", 1, "reviewer", filter={"escalated": True})["succeeded"] == 1
    assert list_changed_ids(workspace, "accept") == {third}


def test_mine_is_the_callers(workspace: Workspace) -> None:
    ids, users = make_items(workspace, 4), workspace.org.users
    for item, who in zip(ids, ("reviewer", "other", "reviewer"), strict=False):
        assert assign(workspace, item, user_ids=[str(users[who])]).status_code == 200
    refused = post(workspace, "accept", "reviewer", filter={"mine": True}, expected_count=3)
    assert refused.json["error"]["details"] == {"count": 2}
    assert act(workspace, "accept", 2, "reviewer", filter={"mine": True})["succeeded"] == 2
    assert list_changed_ids(workspace, "accept") == {ids[0], ids[2]}
    assert act(workspace, "reject", 1, "other", filter={"mine": True})["succeeded"] == 1
    assert list_changed_ids(workspace, "reject") == {ids[1]}


@pytest.mark.parametrize("what", ["accept", "reject"])
def test_what_is_not_the_callers_to_review_fails_and_undoes_no_other(
    workspace: Workspace, what: str
) -> None:
    good = make_items(workspace, 4)
    (own,) = make_items(workspace, 1, by="reviewer")
    claimed, assigned, team = make_items(workspace, 3)
    workspace.org.api("other").post(f"/review-queue/{claimed}/claim")
    other = str(workspace.org.users["other"])
    assert assign(workspace, assigned, user_ids=[other]).json["data"]["failed"] == 0
    others_team = create_team(workspace.org, "other")
    assert assign(workspace, team, team_id=others_team).json["data"]["failed"] == 0
    result = act(workspace, what, 8, "reviewer")
    assert (result["matched"], result["succeeded"], result["failed"]) == (8, 4, 4)
    assert get_error_codes(result) == {
        own: "permission_denied",
        **dict.fromkeys((claimed, assigned, team), "conflict"),
    }
    assert (
        list_changed_ids(workspace, what) == set(good) == set(list_event_item_ids(workspace, what))
    )


@pytest.mark.parametrize("what", ACTIONS)
def test_another_count_than_expected_changes_nothing(workspace: Workspace, what: str) -> None:
    make_items(workspace, 4)
    for expected in (0, 3, 5):
        check_conflict(post(workspace, what, filter={}, expected_count=expected), count=4)
    assert list_changed_ids(workspace, what) == set()
    assert list_event_item_ids(workspace, what) == []


@pytest.mark.parametrize("what", ACTIONS)
def test_nothing_to_be_found_is_no_error(workspace: Workspace, what: str) -> None:
    nothing = {"matched": 0, "succeeded": 0, "failed": 0, "outcomes": []}
    assert act(workspace, what, 0) == nothing


@pytest.mark.parametrize("what", ACTIONS)
def test_what_changed_or_went_since_it_was_found_is_left_alone(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    ids = make_items(workspace, 8)

    def others() -> None:
        workspace.sql("DELETE FROM tag_sets WHERE id = :id", id=ids[1])
        api = workspace.org.api("other")
        assert api.post(f"/tag-sets/{ids[2]}/reject", {"reason": "x"}).status_code == 200
        workspace.sql("UPDATE tag_sets SET escalated = true WHERE id = :id", id=ids[4])
        archive(workspace, ids[6])
        make_items(workspace, 1)

    run_after_find(monkeypatch, others)
    result = act(workspace, what, 8, filter={"escalated": False})
    assert (result["matched"], result["succeeded"], result["failed"]) == (8, 4, 4)
    assert [(outcome["id"], outcome["ok"], outcome["code"]) for outcome in result["outcomes"]] == [
        (ids[1], False, "not_found"),
        (ids[2], False, "conflict"),
        (ids[4], False, "conflict"),
        (ids[6], False, "conflict"),
    ]
    assert list_changed_ids(workspace, what) == {ids[0], ids[3], ids[5], ids[7]}


# --- bodies -----------------------------------------------------------------------------------


@pytest.mark.parametrize("what", ACTIONS)
@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "tag_set_ids"),
        ({"expected_count": 1}, "tag_set_ids"),
        ({"tag_set_ids": [], "filter": {}, "expected_count": 1}, "tag_set_ids"),
        ({"tag_set_ids": [], "expected_count": 1}, "expected_count"),
        ({"filter": {}}, "expected_count"),
        ({"filter": {}, "expected_count": -1}, "expected_count"),
        ({"filter": {}, "expected_count": None}, "expected_count"),
        ({"filter": None, "expected_count": 1}, "filter"),
        ({"filter": {"flag": "odd"}, "expected_count": 1}, "filter.flag"),
        ({"filter": {"mine": 1}, "expected_count": 1}, "filter.mine"),
        ({"filter": {"colour": "red"}, "expected_count": 1}, "filter.colour"),
        ({"filter": {"sort": "created_at"}, "expected_count": 1}, "filter.sort"),
    ],
)
def test_a_selection_that_does_not_fit_is_refused(
    workspace: Workspace, what: str, body: dict[str, Any], field: str
) -> None:
    check_error(post(workspace, what, **body), 422, "unprocessable", field=field)


@pytest.mark.parametrize("what", ACTIONS)
def test_who_may(workspace: Workspace, what: str) -> None:
    refused = ["viewer", "labeler", *(["reviewer"] if what == "assign" else [])]
    for role in refused:
        answer = post(workspace, what, role, filter={}, expected_count=0)
        assert answer.json["error"]["code"] == "insufficient_role"


def test_a_key_keeps_no_answer_of_what_is_many_transactions(workspace: Workspace) -> None:
    headers = {"Idempotency-Key": "once"}
    body = {"filter": {}, "expected_count": 4}
    api = workspace.org.api("reviewer")
    make_items(workspace, 4)
    first, again = (
        api.post("/review-queue/bulk-accept", json=body, headers=headers) for _ in range(2)
    )
    assert first.json["data"]["succeeded"] == 4
    assert again.json["error"]["details"] == {"count": 0}
    assert "Idempotency-Replayed" not in again.headers
    # It is free for an action by id.
    by_id = {"tag_set_ids": make_items(workspace, 1)}
    first, again = (
        api.post("/review-queue/bulk-accept", json=by_id, headers=headers) for _ in range(2)
    )
    assert first.data == again.data
    assert again.headers["Idempotency-Replayed"] == "true"
