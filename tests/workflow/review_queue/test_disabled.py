"""What becomes of reviews that wait for somebody whose account is disabled."""

from collections.abc import Callable, Iterator
from typing import Any

from app.workflow.review_queue.queries import items
from tests.factories.submitted import make_submitted_tag_sets
from tests.factories.teams import add_members, make_team
from tests.factories.workspace import Workspace


def _assign(workspace: Workspace, ids: list[str], **to: Any) -> Any:
    body = {"tag_set_ids": ids, **to}
    return workspace.org.api("admin").post("/review-queue/bulk-assign", json=body)


def test_what_waits_for_them_and_their_team_is_everybodys_again(
    workspace: Workspace, work: Callable[[], None]
) -> None:
    user_id = str(workspace.org.add_user("last", "reviewer"))
    lonely = str(add_members(workspace.org, make_team(workspace.org, "Lonely"), "last")["id"])
    staffed = make_team(workspace.org, "Staffed")
    staffed = str(add_members(workspace.org, staffed, "last", "reviewer")["id"])
    theirs, teams, kept, held = (workspace.submitted()["id"] for _ in range(4))
    for item, to in (
        (theirs, {"user_ids": [user_id]}),
        (teams, {"team_id": lonely}),
        (kept, {"team_id": staffed}),
    ):
        assert _assign(workspace, [item], **to).json["data"]["failed"] == 0
    assert workspace.org.api("last").post(f"/review-queue/{held}/claim").status_code == 200
    workspace.disable("last")
    work()
    items = {
        item["id"]: item for item in workspace.org.api("admin").get("/review-queue").json["data"]
    }
    assert items[theirs]["assignee_id"] is None
    assert items[teams]["assignee_team_id"] is None
    assert items[kept]["assignee_team_id"] == staffed
    assert items[held]["claim"] is None
    assert {event["reason"] for event in workspace.events("reviews.returned")} == {
        "account_disabled"
    }


def test_nothing_is_assigned_to_them(workspace: Workspace) -> None:
    user_id = str(workspace.org.add_user("last", "reviewer"))
    team = str(add_members(workspace.org, make_team(workspace.org), "last")["id"])
    item = workspace.submitted()["id"]
    workspace.disable("last")
    assert _assign(workspace, [item], user_ids=[user_id]).status_code == 400
    path = f"/review-queue/{item}/escalate"
    for to in ({"user_id": user_id}, {"team_id": team}):
        answer = workspace.org.api("reviewer").post(path, json={**to, "reason": "Two totals?"})
        assert answer.status_code == 400, answer.json


def test_who_is_in_a_team_is_looked_up_once_for_all_its_reviews(workspace: Workspace) -> None:
    names = [f"seat-{number}" for number in range(30)]
    for name in names:
        workspace.org.add_user(name, "labeler")
    team = make_team(workspace.org)
    team = str(add_members(workspace.org, team, *names, "reviewer")["id"])
    make_submitted_tag_sets(workspace, 200, "labeler")
    workspace.sql("UPDATE tag_sets SET assignee_team_id = :team", team=team)
    explained = f"EXPLAIN (ANALYZE, FORMAT JSON) {items._UNASSIGN_TEAM}"
    values = {"org": workspace.org.id, "batch": 1000, "team_id": team}
    ((plan,),) = workspace.sql(explained, **values)
    loops = dict(_loops(plan[0]["Plan"]))
    assert loops["team_members"] == 1
    assert max(loops["memberships"], loops["users"]) <= len(names) + 1


def _loops(node: dict[str, Any]) -> Iterator[tuple[str, int]]:
    """How often each table is looked into."""
    if "Relation Name" in node:
        yield node["Relation Name"], node["Actual Loops"]
    for child in node.get("Plans", ()):
        yield from _loops(child)
