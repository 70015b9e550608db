"""What becomes of reviews that wait for somebody whose account is disabled."""

from collections.abc import Callable, Iterator
from typing import Any

from app.workflow.review_queue.queries import items
from tests.factories.desk import Desk
from tests.factories.submitted import make_submitted
from tests.factories.teams import add_members, make_team


def _assign(desk: Desk, ids: list[str], **to: Any) -> Any:
    body = {"tag_set_ids": ids, **to}
    return desk.org.api("admin").post("/review-queue/bulk-assign", json=body)


def test_what_waits_for_them_and_their_team_is_everybodys_again(
    desk: Desk, work: Callable[[], None]
) -> None:
    user_id = str(desk.org.add_user("last", "reviewer"))
    lonely = str(add_members(desk.org, make_team(desk.org, "Lonely"), "last")["id"])
    staffed = make_team(desk.org, "Staffed")
    staffed = str(add_members(desk.org, staffed, "last", "reviewer")["id"])
    theirs, teams, kept, held = (desk.submitted()["id"] for _ in range(4))
    for item, to in (
        (theirs, {"user_ids": [user_id]}),
        (teams, {"team_id": lonely}),
        (kept, {"team_id": staffed}),
    ):
        assert _assign(desk, [item], **to).json["data"]["failed"] == 0
    assert desk.org.api("last").post(f"/review-queue/{held}/claim").status_code == 200
    desk.disable("last")
    work()
    items = {item["id"]: item for item in desk.org.api("admin").get("/review-queue").json["data"]}
    assert items[theirs]["assignee_id"] is None
    assert items[teams]["assignee_team_id"] is None
    assert items[kept]["assignee_team_id"] == staffed
    assert items[held]["claim"] is None
    assert {one["reason"] for one in desk.events("reviews.returned")} == {"account_disabled"}


def test_nothing_is_assigned_to_them(desk: Desk) -> None:
    user_id = str(desk.org.add_user("last", "reviewer"))
    team = str(add_members(desk.org, make_team(desk.org), "last")["id"])
    item = desk.submitted()["id"]
    desk.disable("last")
    assert _assign(desk, [item], user_ids=[user_id]).status_code == 400
    path = f"/review-queue/{item}/escalate"
    for to in ({"user_id": user_id}, {"team_id": team}):
        answer = desk.org.api("reviewer").post(path, json={**to, "reason": "Two totals?"})
        assert answer.status_code == 400, answer.json


def test_who_is_in_a_team_is_looked_up_once_for_all_its_reviews(desk: Desk) -> None:
    names = [f"seat-{number}" for number in range(30)]
    for name in names:
        desk.org.add_user(name, "labeler")
    team = make_team(desk.org)
    team = str(add_members(desk.org, team, *names, "reviewer")["id"])
    make_submitted(desk, 200, "labeler")
    desk.sql("UPDATE tag_sets SET assignee_team_id = :team", team=team)
    explained = f"EXPLAIN (ANALYZE, FORMAT JSON) {items._OF_TEAM}"
    values = {"org": desk.org.id, "batch": 1000, "team_id": team}
    ((plan,),) = desk.sql(explained, **values)
    loops = dict(_loops(plan[0]["Plan"]))
    assert loops["team_members"] == 1
    assert max(loops["memberships"], loops["users"]) <= len(names) + 1


def _loops(node: dict[str, Any]) -> Iterator[tuple[str, int]]:
    """How often each table is looked into."""
    if "Relation Name" in node:
        yield node["Relation Name"], node["Actual Loops"]
    for child in node.get("Plans", ()):
        yield from _loops(child)
