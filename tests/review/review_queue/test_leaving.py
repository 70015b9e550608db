"""What becomes of claims and assignments when time, people and teams go."""

from collections.abc import Callable
from typing import Any

from app.review.review_queue.queries import holding
from tests.factories.desk import Desk


def _assign(desk: Desk, ids: list[str], **to: Any) -> None:
    body = {"tag_set_ids": ids, **to}
    answer = desk.org.api("admin").post("/review-queue/bulk-assign", json=body)
    assert answer.json["data"]["failed"] == 0, answer.json


def _items(desk: Desk) -> dict[str, Any]:
    return {item["id"]: item for item in desk.org.api("admin").get("/review-queue").json["data"]}


def _expire(desk: Desk) -> int:
    from app.kit import db, tenancy  # noqa: PLC0415

    with (
        desk.org.app.app_context(),
        tenancy.across_organizations(reason="as the job does"),
        db.transaction(),
    ):
        return holding.expire()


def test_claims_that_ran_out_are_ended(desk: Desk) -> None:
    expired, live = desk.submitted()["id"], desk.submitted()["id"]
    for item_id in (expired, live):
        desk.org.api("reviewer").post(f"/review-queue/{item_id}/claim")
    desk.sql(
        "UPDATE tag_sets SET claim_expires_at = now() - interval '1 second' WHERE id = :id",
        id=expired,
    )
    assert _expire(desk) >= 1
    rows = desk.sql("SELECT id, claim_user_id, updated_at, created_at FROM tag_sets")
    assert {str(r.id): r.claim_user_id for r in rows} == {
        expired: None,
        live: desk.org.users["reviewer"],
    }


def test_reviews_of_a_deleted_team_are_everybodys_again(
    desk: Desk, work: Callable[[], None]
) -> None:
    desk.org.add_user("other", "reviewer")
    api = desk.org.api("admin")
    teams = [api.post("/teams", json={"name": name}).json["data"]["id"] for name in ("A", "B")]
    for team in teams:
        user_ids = [str(desk.org.users["reviewer"])]
        api.post(f"/teams/{team}/members", json={"user_ids": user_ids})
    gone, kept = desk.submitted()["id"], desk.submitted()["id"]
    _assign(desk, [gone], team_id=teams[0])
    _assign(desk, [kept], team_id=teams[1])
    assert api.delete(f"/teams/{teams[0]}").status_code == 204
    work()
    items = _items(desk)
    assert (items[gone]["assignee_team_id"], items[kept]["assignee_team_id"]) == (None, teams[1])
    drawn = desk.org.api("other").post("/review-queue/next", json={}).json["data"]
    assert drawn["id"] == gone


def test_who_does_not_review_any_more_gives_back_what_they_had(
    desk: Desk, work: Callable[[], None]
) -> None:
    for role in ("labeler", "admin", None):
        name = f"becomes {role}"
        user_id = desk.org.add_user(name.replace(" ", "-"), "reviewer")
        held, assigned = desk.submitted()["id"], desk.submitted()["id"]
        _assign(desk, [assigned], user_ids=[str(user_id)])
        desk.org.api(name.replace(" ", "-")).post(f"/review-queue/{held}/claim")
        path = f"/organizations/{desk.org.slug}/members/{user_id}"
        owner = desk.org.api("owner")
        answer = owner.patch(path, json={"role": role}) if role else owner.delete(path)
        assert answer.status_code in (200, 204), answer.json
        work()
        items = _items(desk)
        stays = role == "admin"
        assert (items[assigned]["assignee_id"] == str(user_id)) is stays, role
        assert (items[held]["claim"] is not None) is stays, role
