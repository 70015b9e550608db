"""The list of members: its order, its filters, and what it costs."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from sqlalchemy import Engine, event, text

from app.identity.users.models import User
from app.kit import db, tenancy
from app.kit.prepared import REGISTRY
from tests.factories import Org
from tests.factories.orgs import get_data
from tests.factories.teams import add_members, make_team, make_teams


def _list(org: Org, query: str = "") -> list[dict[str, Any]]:
    return list(get_data(org.api("viewer").get(f"/organizations/{org.slug}/members{query}")))


@contextmanager
def _record_statements() -> Iterator[list[tuple[str, Any]]]:
    seen: list[tuple[str, Any]] = []

    def note(_c: Any, _cursor: Any, statement: str, parameters: Any, *_: Any) -> None:
        seen.append((statement, parameters))

    event.listen(Engine, "before_cursor_execute", note)
    try:
        yield seen
    finally:
        event.remove(Engine, "before_cursor_execute", note)


def test_members_come_by_name_with_their_teams(org: Org) -> None:
    team = add_members(org, make_team(org, "Invoices"), "labeler", "reviewer")
    members = _list(org)
    assert [m["user"]["name"] for m in members] == [
        "Admin",
        "Labeler",
        "Owner",
        "Reviewer",
        "Viewer",
    ]
    labeler = members[1]
    assert labeler["id"] == labeler["user"]["id"] == str(org.users["labeler"])
    assert labeler["user"]["email"] == org.email("labeler")
    assert labeler["role"] == "labeler"
    assert labeler["teams"] == [{"id": team["id"], "name": "Invoices"}]
    assert labeler["joined_at"] == labeler["created_at"] == labeler["updated_at"]
    assert members[0]["teams"] == []


def test_pages_go_on_where_the_one_before_ended(org: Org) -> None:
    api, path = org.api("viewer"), f"/organizations/{org.slug}/members?page_size=2"
    names, cursor = [], ""
    for _ in range(3):
        answer = api.get(path + cursor).json
        names += [m["user"]["name"] for m in answer["data"]]
        assert answer["meta"]["total"] == 5
        cursor = f"&cursor={answer['meta']['next_cursor']}"
    assert names == ["Admin", "Labeler", "Owner", "Reviewer", "Viewer"]
    assert answer["meta"]["next_cursor"] is None


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("?role=admin", ["Admin"]),
        ("?sort=-name", ["Viewer", "Reviewer", "Owner", "Labeler", "Admin"]),
        ("?sort=joined_at", ["Viewer", "Labeler", "Reviewer", "Admin", "Owner"]),
        ("?q=IEWE", ["Reviewer", "Viewer"]),
        ("?q=admin.", ["Admin"]),
        ("?q=%25", []),
        ("?created_after=2999-01-01T00:00:00Z", []),
        ("?created_before=2999-01-01T00:00:00Z&role=owner", ["Owner"]),
    ],
)
def test_filters_and_orders(org: Org, query: str, names: list[str]) -> None:
    assert [m["user"]["name"] for m in _list(org, query)] == names


def test_a_period_includes_its_start(org: Org) -> None:
    joined = _list(org, "?sort=joined_at")
    query = f"?sort=joined_at&created_after={joined[3]['joined_at']}"
    assert [m["role"] for m in _list(org, query)] == [member["role"] for member in joined[3:5]]


def test_by_team(org: Org, other_org: Org) -> None:
    team = add_members(org, make_team(org), "reviewer")
    assert [m["role"] for m in _list(org, f"?team_id={team['id']}")] == ["reviewer"]
    foreign = add_members(other_org, make_team(other_org), "reviewer")
    assert _list(org, f"?team_id={foreign['id']}") == []


def test_a_new_name_moves_a_member_in_every_organization(org: Org) -> None:
    with org.app.app_context(), db.transaction() as session:
        session.get_one(User, org.users["viewer"]).name = "aaron"
    assert _list(org)[0]["user"]["name"] == "aaron"
    with org.app.app_context():
        # The scope that the renaming needs is not left behind.
        assert db.session().scalar(text("SHOW app.all_organizations")) == ""


def test_a_hundred_cost_as_many_statements_as_one(org: Org) -> None:
    make_teams(org, teams=20, users=300, members_per_team=15)
    for size in (1, 100):
        with _record_statements() as seen:
            assert len(_list(org, f"?page_size={size}")) == size
        assert len(seen) <= 4, seen


def _explain(org: Org, query: str) -> str:
    with _record_statements() as seen:
        _list(org, query)
    (asked,) = [
        entry for entry in seen if "FROM memberships" in entry[0] and "ORDER BY" in entry[0]
    ]
    statement, parameters = asked
    with org.app.app_context(), tenancy.organization(org.id):
        connection = db.session().connection()
        explain = f"EXPLAIN {statement[statement.index('SELECT') :]}"
        return "\n".join(connection.exec_driver_sql(explain, parameters).scalars())


def test_the_first_page_by_name_is_read_from_an_index(org: Org) -> None:
    make_teams(org, teams=1, users=3000, members_per_team=1)
    prepared = REGISTRY["list_members_asc_first"]
    with org.app.app_context(), tenancy.organization(org.id), db.transaction() as session:
        session.execute(text("SET LOCAL ROLE NONE"))
        session.execute(text("ANALYZE memberships, teams, team_members, users"))
        connection = session.connection()
        connection.exec_driver_sql(prepared.prepare_sql.replace(prepared.name, "explained", 1))
        explain = f"EXPLAIN EXECUTE explained ('{org.id}', 51)"
        plan = "\n".join(connection.exec_driver_sql(explain).scalars())
        connection.exec_driver_sql("DEALLOCATE explained")
    assert "ix_memberships_name" in plan, plan


@pytest.mark.parametrize(
    ("query", "index"),
    [
        ("?sort=-name", "ix_memberships_name"),
        ("?sort=-joined_at", "ix_memberships_joined"),
        ("?role=admin", "ix_memberships_role"),
    ],
)
def test_a_page_is_read_from_an_index(org: Org, query: str, index: str) -> None:
    make_teams(org, teams=1, users=3000, members_per_team=1)
    with org.app.app_context(), tenancy.organization(org.id), db.transaction() as session:
        session.execute(text("SET LOCAL ROLE NONE"))
        session.execute(text("ANALYZE memberships, teams, team_members, users"))
    plan = _explain(org, query)
    assert index in plan, plan
    # A member's own teams may be put in order, the members are not.
    sorted_by = {line.strip() for line in plan.splitlines() if "Sort Key" in line}
    assert sorted_by <= {"Sort Key: teams.name, teams.id"}, plan
