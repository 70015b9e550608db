"""The tree: no team under itself, not even by two moves at once, and never too deep."""

from functools import partial
from typing import Any

import pytest

from app.identity.teams import chart
from app.identity.teams.models import MAX_DEPTH
from app.kit.ids import uuid7
from tests.factories import Org
from tests.factories.errors import check_error
from tests.factories.orgs import get_data
from tests.factories.queueing import run_concurrently
from tests.factories.statements import record_statements
from tests.factories.teams import add_members, make_team, make_teams


def _move(org: Org, team: dict[str, Any], parent_id: Any) -> Any:
    return org.api("admin").patch(f"/teams/{team['id']}", json={"parent_id": parent_id})


def _chain(org: Org, length: int, name: str = "Level") -> list[dict[str, Any]]:
    teams: list[dict[str, Any]] = []
    for level in range(length):
        under = {"parent_id": teams[-1]["id"]} if teams else {}
        teams.append(make_team(org, f"{name} {level}", **under))
    return teams


def _chart(org: Org, query: str = "") -> dict[str, Any]:
    return dict(get_data(org.api("viewer").get(f"/teams/org-chart{query}")))


def _build_name_tree(nodes: list[dict[str, Any]]) -> dict[str, Any]:
    return {node["name"]: _build_name_tree(node["children"]) for node in nodes}


def test_a_team_is_never_below_itself(org: Org) -> None:
    top, middle, low = _chain(org, 3)
    for team, parent in ((top, top), (top, middle), (top, low), (middle, low)):
        check_error(_move(org, team, parent["id"]), 400, "validation_error", field="parent_id")
    assert _move(org, low, top["id"]).status_code == 200
    assert _move(org, middle, low["id"]).status_code == 200
    assert _move(org, low, None).status_code == 200
    assert _build_name_tree(_chart(org)["teams"]) == {"Level 0": {}, "Level 2": {"Level 1": {}}}


def test_two_moves_at_once_make_no_ring(org: Org) -> None:
    for turn in range(5):
        first_team, second_team = (make_team(org, f"{name} {turn}") for name in ("One", "Two"))
        answers = run_concurrently(
            partial(_move, org, first_team, second_team["id"]),
            partial(_move, org, second_team, first_team["id"]),
        )
        assert sorted(answer.status_code for answer in answers) == [200, 400]
    assert _chart(org)["team_count"] == 10


def test_a_parent_does_not_go_while_a_child_comes(org: Org) -> None:
    for turn in range(5):
        parent = make_team(org, f"Parent {turn}")
        body = {"name": f"Child {turn}", "parent_id": parent["id"]}
        created, deleted = run_concurrently(
            partial(org.api("admin").post, "/teams", json=body),
            partial(org.api("admin").delete, f"/teams/{parent['id']}"),
        )
        assert deleted.status_code == 204
        assert created.status_code in (201, 400)
        children = org.api("viewer").get(f"/teams?q=Child {turn}").json["data"]
        assert [row["parent_id"] for row in children] == [None] * (created.status_code == 201)


def test_the_tree_has_a_depth(org: Org) -> None:
    deep = _chain(org, MAX_DEPTH)
    body = {"name": "Deeper", "parent_id": deep[-1]["id"]}
    refused = org.api("admin").post("/teams", json=body)
    assert (refused.status_code, refused.json["error"]["field"]) == (400, "parent_id")
    top, low = _chain(org, 2, "Other")
    assert _move(org, top, deep[-2]["id"]).status_code == 400
    assert _move(org, low, deep[-2]["id"]).status_code == 200
    assert _move(org, top, deep[-2]["id"]).status_code == 200


def test_the_chart_is_the_tree_with_its_people(org: Org) -> None:
    lead = str(org.users["labeler"])
    top = make_team(org, "Top", skills=["a"], description="d")
    low = make_team(org, "Low", parent_id=top["id"], lead_id=lead)
    low = add_members(org, low, "viewer", "reviewer")
    make_team(org, "Also", parent_id=top["id"])
    chart = _chart(org)
    assert _build_name_tree(chart["teams"]) == {"Top": {"Also": {}, "Low": {}}}
    assert (chart["team_count"], chart["member_count"]) == (3, 3)
    (node,) = chart["teams"]
    children = node.pop("children")
    assert node == {
        "id": top["id"],
        "parent_id": None,
        "name": "Top",
        "description": "d",
        "skills": ["a"],
        "lead_id": None,
        "lead": None,
        "member_count": 0,
        "child_count": 2,
        "members": [],
    }
    assert children[1]["members"] == low["members"]
    assert children[1]["lead"] == low["members"][0]["user"]
    assert [member["user"]["name"] for member in low["members"]] == [
        "Labeler",
        "Reviewer",
        "Viewer",
    ]


def test_a_part_of_the_chart(org: Org) -> None:
    teams = _chain(org, 4)
    make_team(org, "Aside", parent_id=teams[1]["id"])
    part = _chart(org, f"?team_id={teams[1]['id']}&depth=2")
    assert _build_name_tree(part["teams"]) == {"Level 1": {"Aside": {}, "Level 2": {}}}
    assert [child["child_count"] for child in part["teams"][0]["children"]] == [0, 1]
    add_members(org, teams[0], "labeler")
    shallow = _chart(org, "?depth=1&members=false")
    assert (_build_name_tree(shallow["teams"]), shallow["member_count"]) == ({"Level 0": {}}, 1)
    assert shallow["teams"][0]["members"] == []
    for query, status in (
        (f"?team_id={uuid7()}", 404),
        ("?team_id=x", 422),
        ("?depth=0", 422),
        ("?depth=13", 422),
    ):
        assert org.api("viewer").get(f"/teams/org-chart{query}").status_code == status


def test_a_chart_of_nothing_is_empty(org: Org) -> None:
    assert _chart(org) == {"teams": [], "team_count": 0, "member_count": 0}


def test_a_chart_that_is_too_large_is_refused(org: Org, monkeypatch: pytest.MonkeyPatch) -> None:
    top, *_ = _chain(org, 3)
    add_members(org, top, "labeler", "viewer")
    monkeypatch.setattr(chart, "MAX_TEAMS", 2)
    monkeypatch.setattr(chart, "MAX_MEMBERS", 1)
    for query, status in (("", 400), ("?depth=2", 400), ("?depth=2&members=false", 200)):
        answer = org.api("viewer").get(f"/teams/org-chart{query}")
        assert answer.status_code == status, query
    assert org.api("viewer").get("/teams/org-chart").json["error"]["details"]["teams"] == 3


def test_a_thousand_teams_are_charted_in_one_statement(org: Org) -> None:
    make_teams(org, teams=1000, users=200, members_per_team=10)
    with record_statements(org.app) as ran:
        chart = _chart(org)
    assert len(ran) == 1
    assert (chart["team_count"], chart["member_count"]) == (1000, 10_000)
    nodes = [node for top in chart["teams"] for node in (top, *top["children"])]
    assert len(nodes) == 1000
    assert {len(node["members"]) for node in nodes} == {10}
    assert {node["member_count"] for node in nodes} == {10}


def test_a_list_takes_as_many_statements_for_many_as_for_one(org: Org) -> None:
    make_teams(org, teams=500, users=20, members_per_team=5)
    with record_statements(org.app) as few:
        org.api("viewer").get("/teams?sort=created_at&page_size=1")
    with record_statements(org.app) as many:
        answer = org.api("viewer").get("/teams?sort=created_at&page_size=500")
    assert len(answer.json["data"]) == answer.json["meta"]["total"] == 500
    few, many = (
        [statement for statement in ran if "FROM teams" in statement] for ran in (few, many)
    )
    assert len(many) == len(few) == 1
