"""Create single teams with the API, or thousands of them with a few statements."""

from typing import Any
from uuid import UUID

from sqlalchemy import text

from tests.factories.orgs import Org, get_data


def make_team(org: Org, name: str = "Invoices", **body: Any) -> dict[str, Any]:
    """Create a team with the API, and return it."""
    return dict(get_data(org.api("admin").post("/teams", json={"name": name, **body}), 201))


def get_team(org: Org, team: dict[str, Any]) -> dict[str, Any]:
    """Return the current state of a team."""
    return dict(get_data(org.api("viewer").get(f"/teams/{team['id']}")))


def add_members(org: Org, team: dict[str, Any], *names: str) -> dict[str, Any]:
    """Add the users of `org` with these names to a team, and return the team."""
    path = f"/teams/{team['id']}/members"
    body = {"user_ids": [str(org.users[name]) for name in names]}
    return dict(get_data(org.api("admin").post(path, json=body)))


def create_team(org: Org, *names: str, **body: Any) -> str:
    """Create a team that has the users with these names as members, and return its id."""
    team = make_team(org, **{"name": f"Team of {' '.join(names)}", **body})
    if names:
        add_members(org, team, *names)
    return str(team["id"])


# Each hundredth team has no parent; it is the parent of the 99 teams after it.
_TEAMS = """
WITH numbered AS (SELECT i, gen_random_uuid() AS id FROM generate_series(0, :teams - 1) AS i)
INSERT INTO teams (organization_id, id, name, parent_id, skills, skill_keys, description,
                   created_at, updated_at, revision)
SELECT :org, team.id, 'Team ' || team.i, parent.id, '["English"]', '{english}', '', now(), now(), 1
FROM numbered team
LEFT JOIN numbered parent ON parent.i = team.i - team.i % 100 AND team.i % 100 <> 0
ORDER BY team.i % 100 <> 0
"""
_USERS = """
INSERT INTO users (id, email, name, locale, time_zone, token_version, created_at, updated_at,
                   revision)
SELECT gen_random_uuid(), :salt || '-' || i || '@test.example', 'Person ' || i, 'en', 'UTC', 1,
       now(), now(), 1
FROM generate_series(1, :users) AS i RETURNING id
"""
_MEMBERSHIPS = """
INSERT INTO memberships (organization_id, user_id, role, created_at)
SELECT :org, user_id, 'labeler', now() FROM unnest(CAST(:ids AS uuid[])) AS user_id
"""
_TEAM_MEMBERS = """
WITH team AS (
    SELECT id, row_number() OVER (ORDER BY id) - 1 AS i FROM teams WHERE organization_id = :org
), person AS (
    SELECT user_id, ordinality - 1 AS i
    FROM unnest(CAST(:ids AS uuid[])) WITH ORDINALITY AS listed (user_id, ordinality)
)
INSERT INTO team_members (organization_id, team_id, user_id, created_at)
SELECT :org, team.id, person.user_id, now()
FROM team CROSS JOIN generate_series(0, :members_per_team - 1) AS k
JOIN person ON person.i = (team.i * 7 + k) % :users
"""


def make_teams(org: Org, *, teams: int, users: int, members_per_team: int) -> None:
    """Create `teams` teams, each with `members_per_team` of the `users` new users as members."""
    assert members_per_team <= users
    values: dict[str, Any] = {"org": org.id, "salt": org.slug}
    with org.transaction() as session:
        # Otherwise triggers keep using query plans from the time when the tables were small.
        session.execute(text("SET LOCAL plan_cache_mode = force_custom_plan"))
        session.execute(text("SET LOCAL statement_timeout = '10min'"))
        session.execute(text(_TEAMS), {**values, "teams": teams})
        user_ids: list[UUID] = list(session.scalars(text(_USERS), {**values, "users": users}))
        values["ids"] = [str(user_id) for user_id in user_ids]
        session.execute(text(_MEMBERSHIPS), values)
        session.execute(
            text(_TEAM_MEMBERS), {**values, "members_per_team": members_per_team, "users": users}
        )
