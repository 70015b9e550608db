"""What a filter of the queue finds is accepted, rejected or assigned."""

from typing import Any

import pytest

from app.kit import bulk
from app.kit.ids import uuid7
from tests.factories import Org
from tests.factories.desk import Desk
from tests.factories.teams import add_members, make_team
from tests.workflow.review_queue.by_filter import (
    ACTIONS,
    act,
    acted_on,
    archive,
    codes_of,
    make_items,
    once_found,
    post,
    told_of,
)


@pytest.fixture
def desk(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> Desk:
    """With batches of three, and two reviewers."""
    monkeypatch.setattr(bulk, "BATCH", 3)
    desk.org.add_user("other", "reviewer")
    return desk


@pytest.mark.parametrize("what", ACTIONS)
def test_a_filter_acts_on_all_that_the_queue_shows(desk: Desk, other_org: Org, what: str) -> None:
    Desk(other_org).submitted()
    ids = make_items(desk, 8)
    (archived,) = make_items(desk, 1)
    archive(desk, archived)
    desk.draft()
    result = act(desk, what, 8)
    assert result == {"matched": 8, "succeeded": 8, "failed": 0, "outcomes": []}
    assert acted_on(desk, what) == set(ids)
    assert sorted(told_of(desk, what)) == sorted(ids)
    left = other_org.api("owner").get("/review-queue").json["data"]
    assert [(one["assignee_id"], one["claim"]) for one in left] == [(None, None)]
    assert desk.sql("SELECT status FROM tag_sets WHERE id = :id", id=archived)[0][0] == "submitted"


@pytest.mark.parametrize("what", ACTIONS)
def test_it_does_what_it_does_by_id(desk: Desk, what: str) -> None:
    columns = (
        "status, reviewer_id IS NULL AS free, reason, rejections, revision, assignee_team_id,"
        " review_due_at, claim_user_id"
    )
    team = add_members(desk.org, make_team(desk.org), "reviewer", "other")["id"]
    more = {
        "accept": {"note": "Good"},
        "reject": {"send_to": "labeler"},
        "assign": {"team_id": team, "due_at": "2030-01-31T12:00:00Z"},
    }[what]
    by_filter, by_id = make_items(desk, 1), make_items(desk, 1)
    schema_id = desk.sql("SELECT schema_id FROM tag_sets WHERE id = :id", id=by_filter[0])[0][0]
    chosen = {"schema_id": str(schema_id)}
    assert act(desk, what, 1, filter=chosen, **more)["succeeded"] == 1
    assert post(desk, what, tag_set_ids=by_id, **more).json["data"]["succeeded"] == 1
    one, other = (
        desk.sql(f"SELECT {columns} FROM tag_sets WHERE id = :id", id=item)[0]
        for (item,) in (by_filter, by_id)
    )
    assert one == other
    kept = [[(r.kind, r.note) for r in desk.revisions(item)] for (item,) in (by_filter, by_id)]
    assert kept[0] == kept[1]


def test_each_filter_of_the_list_chooses(desk: Desk) -> None:
    first, second, third = (make_items(desk, 1)[0] for _ in range(3))
    users, api = desk.org.users, desk.org.api("reviewer")
    row = desk.sql("SELECT schema_id, created_at FROM tag_sets WHERE id = :id", id=second)[0]
    desk.sql("UPDATE tag_sets SET flags = '[\"disagreement\"]' WHERE id = :id", id=second)
    desk.sql("UPDATE tag_sets SET escalated = true WHERE id = :id", id=third)
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
        refused = post(desk, "accept", filter=filters, expected_count=7)
        assert refused.json["error"]["details"] == {"count": len(wanted)}, filters
        query = "&".join(f"{k}={str(v).replace('+', '%2B')}" for k, v in filters.items())
        listed = api.get(f"/review-queue?{query.replace('True', 'true').replace('False', 'false')}")
        assert {one["id"] for one in listed.json["data"]} == wanted, filters
    assert act(desk, "accept", 1, "reviewer", filter={"escalated": True})["succeeded"] == 1
    assert acted_on(desk, "accept") == {third}


def test_mine_is_the_callers(desk: Desk) -> None:
    ids, users = make_items(desk, 4), desk.org.users
    for item, who in zip(ids, ("reviewer", "other", "reviewer"), strict=False):
        body = {"tag_set_ids": [item], "user_ids": [str(users[who])]}
        assert desk.org.api("admin").post("/review-queue/bulk-assign", body).status_code == 200
    refused = post(desk, "accept", "reviewer", filter={"mine": True}, expected_count=3)
    assert refused.json["error"]["details"] == {"count": 2}
    assert act(desk, "accept", 2, "reviewer", filter={"mine": True})["succeeded"] == 2
    assert acted_on(desk, "accept") == {ids[0], ids[2]}
    assert act(desk, "reject", 1, "other", filter={"mine": True})["succeeded"] == 1
    assert acted_on(desk, "reject") == {ids[1]}


@pytest.mark.parametrize("what", ["accept", "reject"])
def test_what_is_not_the_callers_to_review_fails_and_undoes_no_other(desk: Desk, what: str) -> None:
    good = make_items(desk, 4)
    (own,) = make_items(desk, 1, by="reviewer")
    claimed, assigned, team = make_items(desk, 3)
    desk.org.api("other").post(f"/review-queue/{claimed}/claim")
    theirs = add_members(desk.org, make_team(desk.org), "other")["id"]
    for item, to in (
        (assigned, {"user_ids": [str(desk.org.users["other"])]}),
        (team, {"team_id": theirs}),
    ):
        answer = post(desk, "assign", tag_set_ids=[item], **to)
        assert answer.json["data"]["failed"] == 0
    result = act(desk, what, 8, "reviewer")
    assert (result["matched"], result["succeeded"], result["failed"]) == (8, 4, 4)
    assert codes_of(result) == {
        own: "permission_denied",
        **dict.fromkeys((claimed, assigned, team), "conflict"),
    }
    assert acted_on(desk, what) == set(good) == set(told_of(desk, what))


@pytest.mark.parametrize("what", ACTIONS)
def test_another_count_than_expected_changes_nothing(desk: Desk, what: str) -> None:
    make_items(desk, 4)
    for expected in (0, 3, 5):
        answer = post(desk, what, filter={}, expected_count=expected)
        error = answer.json["error"]
        assert (answer.status_code, error["code"]) == (409, "conflict")
        assert error["details"] == {"count": 4}
    assert acted_on(desk, what) == set()
    assert told_of(desk, what) == []


@pytest.mark.parametrize("what", ACTIONS)
def test_nothing_to_be_found_is_no_error(desk: Desk, what: str) -> None:
    found = {"matched": 0, "succeeded": 0, "failed": 0, "outcomes": []}
    assert act(desk, what, 0) == found


@pytest.mark.parametrize("what", ACTIONS)
def test_what_changed_or_went_since_it_was_found_is_left_alone(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    ids = make_items(desk, 8)

    def others() -> None:
        desk.sql("DELETE FROM tag_sets WHERE id = :id", id=ids[1])
        api = desk.org.api("other")
        assert api.post(f"/tag-sets/{ids[2]}/reject", {"reason": "x"}).status_code == 200
        desk.sql("UPDATE tag_sets SET escalated = true WHERE id = :id", id=ids[4])
        archive(desk, ids[6])
        make_items(desk, 1)

    once_found(monkeypatch, others)
    result = act(desk, what, 8, filter={"escalated": False})
    assert (result["matched"], result["succeeded"], result["failed"]) == (8, 4, 4)
    assert [(one["id"], one["ok"], one["code"]) for one in result["outcomes"]] == [
        (ids[1], False, "not_found"),
        (ids[2], False, "conflict"),
        (ids[4], False, "conflict"),
        (ids[6], False, "conflict"),
    ]
    assert acted_on(desk, what) == {ids[0], ids[3], ids[5], ids[7]}


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
    desk: Desk, what: str, body: dict[str, Any], field: str
) -> None:
    answer = post(desk, what, **body)
    assert (answer.status_code, answer.json["error"]["code"]) == (422, "unprocessable")
    assert answer.json["error"]["field"] == field


@pytest.mark.parametrize("what", ACTIONS)
def test_who_may(desk: Desk, what: str) -> None:
    refused = ["viewer", "labeler", *(["reviewer"] if what == "assign" else [])]
    for role in refused:
        answer = post(desk, what, role, filter={}, expected_count=0)
        assert answer.json["error"]["code"] == "insufficient_role"


def test_a_key_keeps_no_answer_of_what_is_many_transactions(desk: Desk) -> None:
    headers = {"Idempotency-Key": "once"}
    body = {"filter": {}, "expected_count": 4}
    api = desk.org.api("reviewer")
    make_items(desk, 4)
    first, again = (
        api.post("/review-queue/bulk-accept", json=body, headers=headers) for _ in range(2)
    )
    assert first.json["data"]["succeeded"] == 4
    assert again.json["error"]["details"] == {"count": 0}
    assert "Idempotency-Replayed" not in again.headers
    # It is free for an action by id.
    by_id = {"tag_set_ids": make_items(desk, 1)}
    first, again = (
        api.post("/review-queue/bulk-accept", json=by_id, headers=headers) for _ in range(2)
    )
    assert first.data == again.data
    assert again.headers["Idempotency-Replayed"] == "true"
