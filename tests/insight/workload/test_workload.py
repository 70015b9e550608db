"""The workload of a team: the work of each member, and the work that nobody has begun."""

from datetime import UTC, datetime, time, timedelta
from typing import Any

from tests.factories.clock import parse_tomorrow
from tests.factories.orgs import get_data
from tests.factories.statements import record_statements
from tests.factories.teams import add_members, make_team
from tests.factories.workspace import Workspace, tag
from tests.insight.workload.test_assignments import (
    assign_tag_sets,
    build_assignees,
    claim_tag_sets,
    create_merge,
)

_PAST = datetime(2026, 1, 1, tzinfo=UTC)


def _get_workload(workspace: Workspace, team: dict[str, Any], query: str = "") -> dict[str, Any]:
    path = f"/teams/{team['id']}/workload{query}"
    return dict(get_data(workspace.org.api("viewer").get(path)))


def _count_by_member(workload: dict[str, Any]) -> dict[str, tuple[int, ...]]:
    names = ("to_label", "to_review", "overdue", "labeled", "reviewed")
    for member in workload["members"]:
        assert member["open"] == member["to_label"] + member["to_review"]
        assert member["finished"] == member["labeled"] + member["reviewed"]
    return {
        member["user"]["name"]: tuple(member[n] for n in names) for member in workload["members"]
    }


def _create_work(workspace: Workspace, team: dict[str, Any]) -> None:
    """Create finished, pending and assigned work, a draft and a claim for a member of a team."""
    org, schema = workspace.org, workspace.schema()
    workspace.act(workspace.submitted(workspace.artifact(schema)), "accept")
    workspace.submitted(workspace.artifact(schema, due_at=_PAST))
    assign_tag_sets(workspace, "status = 'submitted'", "reviewer")
    workspace.draft(workspace.artifact(schema, due_at=_PAST))
    claimed = workspace.artifact(schema)
    assert org.api("labeler").post(f"/artifacts/{claimed}/claim").status_code == 200
    workspace.artifact(schema, assignees=build_assignees(user_id=org.users["labeler"]))
    for_team = build_assignees(team_id=team["id"])
    for due in (None, _PAST):
        workspace.artifact(schema, due_at=due, assignees=for_team)
    workspace.draft(workspace.artifact(schema, assignees=for_team))


def test_each_member_has_the_work_in_their_own_list(workspace: Workspace) -> None:
    org = workspace.org
    team = make_team(org, lead_id=str(org.users["reviewer"]))
    team = add_members(org, team, "labeler", "viewer")
    _create_work(workspace, team)
    workload = _get_workload(workspace, team)
    assert workload["team_id"] == team["id"]
    assert [member["role"] for member in workload["members"]] == ["lead", "member", "member"]
    assert _count_by_member(workload) == {
        "Reviewer": (0, 1, 1, 0, 1),
        "Labeler": (4, 0, 1, 2, 0),
        "Viewer": (0, 0, 0, 0, 0),
    }
    assert workload["waiting"] == {"open": 2, "overdue": 1}
    assert workload["totals"] == {"open": 7, "overdue": 3, "finished": 3}
    assignments = org.api("labeler").get("/users/me/assignments").json["data"]
    assert len([item for item in assignments if item["tag_set_id"] or not item["team_id"]]) == 4
    assert len(assignments) == 4 + 2
    org.api("admin").delete(f"/teams/{team['id']}/members/{org.users['labeler']}")
    assert list(_count_by_member(_get_workload(workspace, team))) == ["Reviewer", "Viewer"]


def test_merges_are_not_counted_for_the_labelers_of_their_sources(workspace: Workspace) -> None:
    team = add_members(workspace.org, make_team(workspace.org), "reviewer")
    workspace.org.add_user("second", "labeler")
    for labeler in ("reviewer", "second"):
        create_merge(workspace, "labeler", labeler, due_at=_PAST)
    assign_tag_sets(workspace, "source = 'merge'", "reviewer")

    def count_reviews() -> tuple[int, int]:
        (member,) = _get_workload(workspace, team)["members"]
        return member["to_review"], member["overdue"]

    assert count_reviews() == (1, 1)
    claim_tag_sets(workspace, "source = 'merge'", "admin")
    assert count_reviews() == (0, 0)
    claim_tag_sets(workspace, "source = 'merge'", "reviewer")
    assert count_reviews() == (1, 1)
    workspace.settings(allow_self_review=True)
    assert count_reviews() == (2, 2)


def test_finished_work_is_that_of_the_period(workspace: Workspace) -> None:
    team = add_members(workspace.org, make_team(workspace.org), "labeler", "reviewer")
    workspace.act(workspace.submitted(), "accept", tags=[tag("number", "B-2")])
    workload = _get_workload(workspace, team)
    tomorrow = parse_tomorrow(workload["to"])
    today = tomorrow - timedelta(days=1)
    yesterday = today - timedelta(days=1)
    start = tomorrow - timedelta(days=30)
    assert (workload["from"], workload["to"]) == (start.isoformat(), tomorrow.isoformat())
    assert workload["time_zone"] == "UTC"
    assert workload["totals"]["finished"] == 2
    # Move the work to noon, in case midnight passed during the test.
    noon = datetime.combine(today, time(12), UTC)
    moved = "UPDATE tag_set_revisions SET created_at = :noon"
    workspace.sql(moved, noon=noon)
    assert _get_workload(workspace, team, f"?to={today}")["totals"]["finished"] == 0
    workspace.sql(moved, noon=noon - timedelta(days=1))
    workload = _get_workload(workspace, team, f"?from={yesterday}&to={today}")
    assert workload["totals"]["finished"] == 2
    assert _get_workload(workspace, team, f"?from={today}")["totals"]["finished"] == 0


def test_periods_have_bounds(workspace: Workspace) -> None:
    path = f"/teams/{make_team(workspace.org)['id']}/workload"
    api = workspace.org.api("viewer")
    for query, status, field in (
        ("?from=2026-02-01&to=2026-01-31", 400, "from"),
        ("?from=2026-02-01&to=2026-02-01", 400, "from"),
        ("?from=2025-01-01&to=2026-01-03", 400, "from"),
        ("?from=0001-01-01&to=0001-01-02", 400, "from"),
        ("?to=9999-12-31", 400, "to"),
        ("?from=9999-12-31", 400, "from"),
        ("?from=20260101", 422, "from"),
        ("?from=2026-02-30", 422, "from"),
        ("?to=today", 422, "to"),
    ):
        answer = api.get(path + query)
        assert answer.status_code == status, query
        assert answer.json["error"]["field"] == field, query
    assert api.get(f"{path}?from=2025-01-01&to=2026-01-01").status_code == 200


def test_a_large_team_takes_no_more_statements(workspace: Workspace) -> None:
    small = add_members(workspace.org, make_team(workspace.org, "Small"), "labeler")
    large = make_team(workspace.org, "Large")
    names = [f"person{i}" for i in range(20)]
    for name in names:
        workspace.org.add_user(name, "labeler")
    add_members(workspace.org, large, *names)
    counts = []
    for team in (small, large):
        with record_statements(workspace.org.app) as ran:
            _get_workload(workspace, team)
        counts.append(len(ran))
    assert counts == [4, 4]
