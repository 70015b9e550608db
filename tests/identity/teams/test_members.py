"""Who is in a team: by ids or with roles, by the thousand, and out again."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

from sqlalchemy import delete

from app.identity.organizations.models import Membership
from app.identity.teams import service
from app.kit import db, tenancy
from app.kit.ids import uuid7
from tests.factories import Org
from tests.factories.statements import record_statements
from tests.factories.teams import add_members, get_team, make_team, make_teams


def _check_empty(team: dict[str, Any]) -> None:
    assert (team["members"], team["member_count"], team["lead_id"]) == ([], 0, None)


def _add(org: Org, team: dict[str, Any], **body: Any) -> Any:
    return org.api("admin").post(f"/teams/{team['id']}/members", json=body)


def _roles(team: dict[str, Any]) -> dict[str, str]:
    return {member["user"]["id"]: member["role"] for member in team["members"]}


def test_members_are_added_once(org: Org) -> None:
    team = make_team(org)
    labeler, viewer = (str(org.users[name]) for name in ("labeler", "viewer"))
    added = _add(org, team, user_ids=[labeler, labeler], members=[{"user_id": viewer}])
    assert added.status_code == 200
    assert _roles(added.json["data"]) == {labeler: "member", viewer: "member"}
    again = _add(org, team, user_ids=[viewer, labeler])
    assert again.json["data"] == added.json["data"]
    assert (again.json["data"]["member_count"], again.json["data"]["revision"]) == (2, 1)


def test_a_role_makes_and_unmakes_the_lead(org: Org) -> None:
    labeler, viewer = (str(org.users[name]) for name in ("labeler", "viewer"))
    team = make_team(org)
    lead = [{"user_id": labeler, "role": "lead"}, {"user_id": viewer}]
    answered_team = _add(org, team, members=lead).json["data"]
    assert (answered_team["lead_id"], _roles(answered_team)) == (
        labeler,
        {labeler: "lead", viewer: "member"},
    )
    assert _add(org, team, user_ids=[labeler]).json["data"]["lead_id"] == labeler
    swapped = _add(org, team, members=[{"user_id": viewer, "role": "lead"}]).json["data"]
    assert _roles(swapped) == {viewer: "lead", labeler: "member"}
    none = _add(org, team, members=[{"user_id": viewer, "role": "member"}]).json["data"]
    assert (none["lead_id"], none["member_count"]) == (None, 2)


def test_what_cannot_be_added_adds_nobody(org: Org, other_org: Org) -> None:
    team = make_team(org)
    labeler, viewer = (str(org.users[name]) for name in ("labeler", "viewer"))
    foreign, absent = str(other_org.users["labeler"]), str(uuid7())
    refused: list[tuple[dict[str, Any], str]] = [
        ({}, "members"),
        ({"members": [], "user_ids": []}, "members"),
        ({"user_ids": [labeler, foreign]}, "user_ids.1"),
        ({"members": [{"user_id": labeler}, {"user_id": absent}]}, "members.1.user_id"),
        (
            {
                "members": [
                    {"user_id": labeler, "role": "lead"},
                    {"user_id": viewer, "role": "lead"},
                ]
            },
            "members",
        ),
        (
            {
                "members": [
                    {"user_id": labeler, "role": "lead"},
                    {"user_id": labeler, "role": "member"},
                ]
            },
            "members.1.user_id",
        ),
        ({"user_ids": [labeler] * 600, "members": [{"user_id": labeler}] * 600}, "members"),
    ]
    for body, field in refused:
        answer = _add(org, team, **body)
        assert answer.status_code == 400, body
        assert answer.json["error"]["code"] == "validation_error"
        assert answer.json["error"]["field"] == field
    both = _add(org, team, user_ids=[foreign, labeler, absent, foreign]).json["error"]
    assert both["details"] == {"user_ids": [foreign, absent]}
    assert _add(org, team, user_ids=[labeler] * 1001).status_code == 422
    assert get_team(org, team)["member_count"] == 0


def test_a_thousand_join_in_a_few_statements(org: Org) -> None:
    make_teams(org, teams=1, users=1000, members_per_team=1)
    with org.app.app_context(), tenancy.organization(org.id):
        ids = [str(user_id) for user_id in db.session().scalars(db.db.select(Membership.user_id))]
    team = make_team(org)
    with record_statements(org.app) as few:
        assert _add(org, team, user_ids=ids[:1]).status_code == 200
    with record_statements(org.app) as many:
        answer = _add(org, team, user_ids=ids[-1000:])
    assert answer.json["data"]["member_count"] == len(answer.json["data"]["members"]) >= 1000
    assert len(many) == len(few) <= 8


def test_a_member_leaves_and_so_does_the_lead(org: Org) -> None:
    team = make_team(org, lead_id=str(org.users["labeler"]))
    add_members(org, team, "viewer")
    for name in ("viewer", "labeler"):
        path = f"/teams/{team['id']}/members/{org.users[name]}"
        assert org.api("admin").delete(path).status_code == 204
        assert org.api("admin").delete(path).status_code == 404
    _check_empty(get_team(org, team))


def test_who_leaves_the_organization_leaves_its_teams(org: Org) -> None:
    leads = make_team(org, "Leads", lead_id=str(org.users["labeler"]))
    team = make_team(org, "Others")
    add_members(org, team, "labeler", "viewer")
    with org.app.app_context(), tenancy.organization(org.id), db.transaction() as session:
        session.execute(delete(Membership).where(Membership.user_id == org.users["labeler"]))
    _check_empty(get_team(org, leads))
    stayed = get_team(org, team)
    assert list(_roles(stayed)) == [str(org.users["viewer"])]
    assert stayed["member_count"] == 1


def test_the_count_is_correct_when_many_join_and_leave_at_once(org: Org) -> None:
    team = make_team(org)
    names = [f"person{i}" for i in range(8)]
    for name in names:
        org.add_user(name, "labeler")

    def add_and_remove(name: str) -> list[int]:
        path = f"/teams/{team['id']}/members"
        api, user = org.api("admin"), str(org.users[name])
        return [
            api.post(path, json={"user_ids": [user]}).status_code,
            api.delete(f"{path}/{user}").status_code,
            api.post(path, json={"members": [{"user_id": user, "role": "lead"}]}).status_code,
        ]

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(add_and_remove, names)) == [[200, 204, 200]] * len(names)
    team_after = get_team(org, team)
    assert team_after["member_count"] == len(team_after["members"]) == len(names)
    assert list(_roles(team_after).values()).count("lead") == 1


def test_what_other_features_call(org: Org, other_org: Org) -> None:
    first, second = (make_team(org, name) for name in ("B", "A"))
    foreign = make_team(other_org)
    ids = [team["id"] for team in (first, second, foreign)]
    user = org.users["labeler"]
    with org.app.app_context(), tenancy.organization(org.id):
        with db.transaction():
            known = service.lock_existing_teams(ids)
            assert {str(team_id) for team_id in known} == {first["id"], second["id"]}
            service.join(user, [*known, uuid7()])
            service.join(user, known)
        team_id_lists = [service.list_team_ids(user_id) for user_id in (user, org.users["viewer"])]
    assert team_id_lists == [sorted(known), []]
    assert [get_team(org, team)["member_count"] for team in (first, second)] == [1, 1]


def test_adding_and_removing_may_name_the_revision_of_the_team(org: Org) -> None:
    team = make_team(org, lead_id=str(org.users["labeler"]))
    api, path = org.api("admin"), f"/teams/{team['id']}"
    assert api.patch(path, json={"description": "x"}).json["data"]["revision"] == 2
    more = {"user_ids": [str(org.users["viewer"])]}
    lead = f"{path}/members/{org.users['labeler']}"
    for answer in (
        _add(org, team, **more, revision=1),
        api.post(f"{path}/members", json=more, headers={"If-Match": '"1"'}),
        api.delete(lead, headers={"If-Match": '"1"'}),
        api.delete(lead, json={"revision": 1}),
    ):
        assert (answer.status_code, answer.json["error"]["code"]) == (409, "stale_precondition")
        assert answer.json["error"]["details"] == {"current_revision": 2}
    assert list(_roles(get_team(org, team))) == [str(org.users["labeler"])]
    assert _add(org, team, **more, revision=2).json["data"]["revision"] == 2
    assert api.delete(lead, headers={"If-Match": '"2"'}).status_code == 204
    assert get_team(org, team)["revision"] == 3
