"""What becomes of reviews that wait for somebody whose account is disabled."""

from collections.abc import Callable, Iterator
from typing import Any

from app.workflow.review_queue.queries import items
from tests.factories.submitted import make_submitted_tag_sets
from tests.factories.teams import create_team
from tests.factories.workspace import Workspace
from tests.workflow.review_queue.conftest import assign, list_items


def test_what_waits_for_them_and_their_team_is_everybodys_again(
    workspace: Workspace, work: Callable[[], None]
) -> None:
    user_id = str(workspace.org.add_user("last", "reviewer"))
    lonely = create_team(workspace.org, "last")
    staffed = create_team(workspace.org, "last", "reviewer")
    by_name, by_team, kept, claimed = (workspace.submitted()["id"] for _ in range(4))
    for item, assignee in (
        (by_name, {"user_ids": [user_id]}),
        (by_team, {"team_id": lonely}),
        (kept, {"team_id": staffed}),
    ):
        assert assign(workspace, item, **assignee).json["data"]["failed"] == 0
    assert workspace.org.api("last").post(f"/review-queue/{claimed}/claim").status_code == 200
    workspace.disable("last")
    work()
    shown = list_items(workspace)
    assert shown[by_name]["assignee_id"] is None
    assert shown[by_team]["assignee_team_id"] is None
    assert shown[kept]["assignee_team_id"] == staffed
    assert shown[claimed]["claim"] is None
    assert {event["reason"] for event in workspace.events("reviews.returned")} == {
        "account_disabled"
    }


def test_nothing_is_assigned_to_them(workspace: Workspace) -> None:
    user_id = str(workspace.org.add_user("last", "reviewer"))
    team = create_team(workspace.org, "last")
    item = workspace.submitted()["id"]
    workspace.disable("last")
    assert assign(workspace, item, user_ids=[user_id]).status_code == 400
    path = f"/review-queue/{item}/escalate"
    for to in ({"user_id": user_id}, {"team_id": team}):
        answer = workspace.org.api("reviewer").post(path, json={**to, "reason": "Two totals?"})
        assert answer.status_code == 400, answer.json


def test_who_is_in_a_team_is_looked_up_once_for_all_its_reviews(workspace: Workspace) -> None:
    names = [f"seat-{number}" for number in range(30)]
    for name in names:
        workspace.org.add_user(name, "labeler")
    team = create_team(workspace.org, *names, "reviewer", name="Large")
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
