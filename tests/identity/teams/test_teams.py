"""Teams as records: made, read, changed, deleted, and what stands against it."""

from typing import Any

import pytest

from app.kit.ids import uuid7
from tests.factories import Org
from tests.factories.errors import check_error
from tests.factories.orgs import get_data
from tests.factories.teams import add_members, get_team, make_team


def test_a_team_starts_with_its_lead(org: Org) -> None:
    lead = str(org.users["reviewer"])
    top = make_team(org, "Finance")
    assert top["members"] == []
    assert (top["lead_id"], top["parent_id"], top["member_count"]) == (None, None, 0)
    team = make_team(
        org,
        "Invoices",
        parent_id=top["id"],
        lead_id=lead,
        skills=["Tables", "german"],
        description="Reads bills.",
    )
    assert team["parent_id"] == top["id"]
    assert (team["revision"], team["member_count"], team["lead_id"]) == (1, 1, lead)
    (member,) = team["members"]
    assert member["role"] == "lead"
    assert member["user"] == {"id": lead, "email": org.email("reviewer"), "name": "Reviewer"}
    assert get_team(org, team) == team


def test_two_spellings_of_a_skill_are_one(org: Org) -> None:
    skills = ["  Line   items ", "line ITEMS", "Straße", "STRASSE", "Ünits", "U\u0308nits", "ﬁx"]
    team = make_team(org, "Skilled", skills=skills)
    assert team["skills"] == ["Line items", "Straße", "Ünits", "ﬁx"]
    for asked in ("LINE items", "strasse", "u\u0308NITS", "FIX"):
        answer = org.api("viewer").get("/teams", query_string={"skill": asked})
        assert [row["id"] for row in answer.json["data"]] == [team["id"]], asked
    assert org.api("viewer").get("/teams?skill=line").json["data"] == []


@pytest.mark.parametrize("skill", ["", "   ", "a\nb", "x" * 65, "\x00", 5])
def test_a_skill_is_a_few_plain_words(org: Org, skill: Any) -> None:
    answer = org.api("admin").post("/teams", json={"name": "T", "skills": [skill]})
    check_error(answer, 422, "unprocessable", field="skills.0")


def test_a_team_has_fifty_skills_at_most(org: Org) -> None:
    body = {"name": "T", "skills": [f"s{i}" for i in range(51)]}
    check_error(org.api("admin").post("/teams", json=body), 422, "unprocessable", field="skills")


def test_a_name_is_unique_below_its_parent(org: Org, other_org: Org) -> None:
    top = make_team(org, "Legal")
    make_team(org, "Contracts", parent_id=top["id"])
    make_team(org, "Contracts")
    make_team(other_org, "Legal")
    for body in ({"name": "LEGAL"}, {"name": "contracts", "parent_id": top["id"]}):
        check_error(org.api("admin").post("/teams", json=body), 409, "conflict", field="name")
    renamed = make_team(org, "Leases", parent_id=top["id"])
    answer = org.api("admin").patch(f"/teams/{renamed['id']}", json={"name": "CONTRACTS"})
    check_error(answer, 409, "conflict", field="name")
    assert get_team(org, renamed)["name"] == "Leases"


def test_a_body_names_what_is_there(org: Org, other_org: Org) -> None:
    foreign = make_team(other_org)["id"]
    for parent in (foreign, str(uuid7())):
        answer = org.api("admin").post("/teams", json={"name": "T", "parent_id": parent})
        error = check_error(answer, 400, "validation_error", field="parent_id")
        assert error["message"] == "The parent team does not exist."
    team = make_team(org)
    for lead in (str(other_org.users["labeler"]), str(uuid7())):
        for answer in (
            org.api("admin").post("/teams", json={"name": "T", "lead_id": lead}),
            org.api("admin").patch(f"/teams/{team['id']}", json={"lead_id": lead}),
        ):
            check_error(answer, 400, "validation_error", field="lead_id")
    assert [row["name"] for row in org.api("viewer").get("/teams").json["data"]] == ["Invoices"]


def test_an_update_changes_what_it_names(org: Org) -> None:
    team = make_team(org, skills=["a"], description="d", lead_id=str(org.users["labeler"]))
    path = f"/teams/{team['id']}"
    body = {"name": "Bills", "skills": ["b"], "revision": 1}
    answer = org.api("admin").patch(path, json=body)
    assert answer.status_code == 200
    assert answer.headers["ETag"] == '"2"'
    changed = answer.json["data"]
    same = {"description", "members", "member_count", "lead_id", "parent_id", "created_at"}
    assert {name: changed[name] for name in same} == {name: team[name] for name in same}
    assert (changed["name"], changed["skills"], changed["revision"]) == ("Bills", ["b"], 2)
    check_error(org.api("admin").patch(path, json=body), 409, "stale_precondition", field=None)
    stale = org.api("admin").patch(path, json={"name": "X"}, headers={"If-Match": '"1"'})
    check_error(stale, 409, "stale_precondition", field=None, details={"current_revision": 2})
    assert org.api("admin").patch(path, json={}).json["data"] == changed


def test_another_lead_joins_and_the_former_one_stays(org: Org) -> None:
    first, second = str(org.users["labeler"]), str(org.users["reviewer"])
    team = make_team(org, lead_id=first)
    path = f"/teams/{team['id']}"
    changed = org.api("admin").patch(path, json={"lead_id": second}).json["data"]
    roles = {member["user"]["id"]: member["role"] for member in changed["members"]}
    assert roles == {second: "lead", first: "member"}
    assert changed["members"][0]["user"]["id"] == second
    assert (changed["lead_id"], changed["member_count"]) == (second, 2)
    without = org.api("admin").patch(path, json={"lead_id": None}).json["data"]
    assert (without["lead_id"], without["member_count"]) == (None, 2)
    assert {member["role"] for member in without["members"]} == {"member"}


def test_the_children_of_a_deleted_team_move_up(org: Org) -> None:
    top = make_team(org, "Top")
    middle = make_team(org, "Same", parent_id=top["id"], lead_id=str(org.users["labeler"]))
    low = make_team(org, "Same", parent_id=middle["id"])
    other = make_team(org, "Other", parent_id=middle["id"])
    answer = org.api("admin").delete(f"/teams/{middle['id']}")
    assert answer.status_code == 204
    assert org.api("viewer").get(f"/teams/{middle['id']}").status_code == 404
    for team in (low, other):
        moved = get_team(org, team)
        assert (moved["parent_id"], moved["revision"]) == (top["id"], 2)
    assert org.api("admin").delete(f"/teams/{top['id']}").status_code == 204
    assert get_team(org, low)["parent_id"] is None


def test_two_of_a_name_are_not_moved_together(org: Org) -> None:
    top = make_team(org, "Top")
    low = make_team(org, "Same", parent_id=top["id"])
    make_team(org, "SAME")
    answer = org.api("admin").delete(f"/teams/{top['id']}")
    check_error(answer, 409, "conflict", field=None, details={"names": ["Same"]})
    assert get_team(org, low)["parent_id"] == top["id"]


def test_a_deletion_may_name_the_revision(org: Org) -> None:
    team = make_team(org)
    path = f"/teams/{team['id']}"
    org.api("admin").patch(path, json={"description": "x"})
    stale = org.api("admin").delete(path, headers={"If-Match": '"1"'})
    check_error(stale, 409, "stale_precondition", field=None)
    assert org.api("admin").delete(path, headers={"If-Match": '"2"'}).status_code == 204


def test_a_list_is_filtered(org: Org) -> None:
    top = make_team(org, "100% Legal")
    low = make_team(org, "Contracts_1", parent_id=top["id"], skills=["Dutch"])
    last = make_team(org, "Leases", lead_id=str(org.users["labeler"]))
    add_members(org, low, "labeler", "reviewer")
    wanted: list[tuple[dict[str, Any], list[dict[str, Any]]]] = [
        ({}, [top, low, last]),
        ({"sort": "-name"}, [last, low, top]),
        ({"sort": "created_at"}, [top, low, last]),
        ({"q": "legal"}, [top]),
        ({"q": "%"}, [top]),
        ({"q": "_"}, [low]),
        ({"parent_id": top["id"]}, [low]),
        ({"root": "true"}, [top, last]),
        ({"root": "false"}, [low]),
        ({"skill": "dutch"}, [low]),
        ({"lead_id": org.users["labeler"]}, [last]),
        ({"member": org.users["labeler"]}, [low, last]),
        ({"member": org.users["reviewer"]}, [low]),
        ({"member": org.users["viewer"]}, []),
        ({"created_after": low["created_at"]}, [low, last]),
        ({"created_before": low["created_at"]}, [top]),
    ]
    for query, teams in wanted:
        answer = org.api("viewer").get("/teams", query_string=query)
        listed_teams = get_data(answer)
        assert [row["id"] for row in listed_teams] == [row["id"] for row in teams], query
        assert answer.json["meta"]["total"] == len(teams)
    members = {row["id"]: row["member_count"] for row in listed_teams}
    assert all(row["members"] is None for row in listed_teams)
    listed = org.api("viewer").get("/teams").json["data"]
    members = {row["id"]: row["member_count"] for row in listed}
    assert members == {top["id"]: 0, low["id"]: 2, last["id"]: 1}
    assert {row["members"] for row in listed} == {None}
