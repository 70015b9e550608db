"""SQL queries for possible assignees: members who label, teams, skills, and open documents."""

from collections import defaultdict
from collections.abc import Iterable
from typing import NamedTuple
from uuid import UUID

from sqlalchemy import bindparam, text

from app.identity.members.eligibility import build_eligible_members
from app.kit import db, tenancy
from app.kit.permissions import Role

# The limit ends the recursion if something other than the service has written a cycle of teams.
_MEMBERS = text(
    f"""
    WITH RECURSIVE tree (root, id, level) AS (
        SELECT id, id, 1 FROM teams
        WHERE organization_id = :org AND id = ANY(CAST(:ids AS uuid[]))
        UNION ALL
        SELECT tree.root, teams.id, level + 1 FROM tree
        JOIN teams ON teams.organization_id = :org AND teams.parent_id = tree.id
        WHERE level < 1000
    )
    SELECT tree.root, seat.user_id, bool_or(tree.level = 1) AS direct
    FROM tree
    JOIN team_members seat ON seat.organization_id = :org AND seat.team_id = tree.id
    JOIN ({build_eligible_members(Role.labeler)}) ON member.organization_id = :org
     AND member.user_id = seat.user_id
    GROUP BY tree.root, seat.user_id ORDER BY tree.root, seat.user_id
    """  # noqa: S608 - made of constants
)
_SKILLS = text(
    """
    SELECT seat.user_id, array_agg(DISTINCT skill) AS skills
    FROM team_members seat
    JOIN teams ON teams.organization_id = :org AND teams.id = seat.team_id
    CROSS JOIN LATERAL unnest(teams.skill_keys) AS skill
    WHERE seat.organization_id = :org AND seat.user_id = ANY(CAST(:ids AS uuid[]))
    GROUP BY seat.user_id
    """
)
_REQUIRED = text(
    """
    SELECT id, required_skill_keys FROM schemas
    WHERE organization_id = :org AND id = ANY(CAST(:ids AS uuid[])) AND required_skill_keys <> '{}'
    """
)
_SCHEMAS = text("SELECT id FROM schemas WHERE organization_id = :org AND id = :id FOR KEY SHARE")
_TEAM = text("SELECT id FROM teams WHERE organization_id = :org AND id = :id FOR KEY SHARE")
_MEMBER = text(
    "SELECT role FROM memberships WHERE organization_id = :org AND user_id = :id FOR KEY SHARE"
).bindparams(bindparam("id"))


class Members(NamedTuple):
    """Members of each team who can label, ordered by id.

    `own` are the team's own members; `below` includes those of all teams under it.
    """

    own: dict[UUID, list[UUID]]
    below: dict[UUID, list[UUID]]


def _build_parameters(ids: Iterable[UUID]) -> dict[str, object]:
    return {
        "org": tenancy.current_organization_id(),
        "ids": sorted(str(identifier) for identifier in ids),
    }


def list_members(team_ids: Iterable[UUID]) -> Members:
    """Return the members of the teams who can label."""
    members = Members(defaultdict(list), defaultdict(list))
    for row in db.session().execute(_MEMBERS, _build_parameters(team_ids)):
        members.below[row.root].append(row.user_id)
        if row.direct:
            members.own[row.root].append(row.user_id)
    return members


def get_skills(user_ids: Iterable[UUID]) -> dict[UUID, frozenset[str]]:
    """Return the skills of each user's teams; users without skills are omitted."""
    rows = db.session().execute(_SKILLS, _build_parameters(user_ids))
    return {row.user_id: frozenset(row.skills) for row in rows}


def get_required_skills(schema_ids: Iterable[UUID]) -> dict[UUID, frozenset[str]]:
    """Return the skills that each schema requires; schemas without any are omitted."""
    rows = db.session().execute(_REQUIRED, _build_parameters(schema_ids))
    return {row.id: frozenset(row.required_skill_keys) for row in rows}


def _lock(statement: object, identifier: UUID) -> object:
    parameters = {"org": tenancy.current_organization_id(), "id": identifier}
    return db.session().execute(statement, parameters).scalar_one_or_none()  # type: ignore[call-overload]


def lock_schema(schema_id: UUID) -> bool:
    """Lock a schema until the transaction ends; return False if it does not exist."""
    return _lock(_SCHEMAS, schema_id) is not None


def lock_team(team_id: UUID) -> bool:
    """Lock a team until the transaction ends; return False if it does not exist."""
    return _lock(_TEAM, team_id) is not None


def lock_role(user_id: UUID) -> str | None:
    """Lock a member until the transaction ends and return their role; None if not a member."""
    role = _lock(_MEMBER, user_id)
    return None if role is None else str(role)
