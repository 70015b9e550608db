"""SQL queries for possible assignees and their skills, and locks on members."""

from collections import defaultdict
from collections.abc import Iterable
from typing import NamedTuple
from uuid import UUID

from sqlalchemy import text

from app.identity.members.eligibility import build_eligible_members
from app.kit import db, tenancy
from app.kit.permissions import Role

# The limit ends the recursion if something other than the service has written a cycle of teams.
_LIST_MEMBERS = text(
    f"""
    WITH RECURSIVE tree (root, id, level) AS (
        SELECT id, id, 1 FROM teams
        WHERE organization_id = :org AND id = ANY(CAST(:ids AS uuid[]))
        UNION ALL
        SELECT tree.root, teams.id, level + 1 FROM tree
        JOIN teams ON teams.organization_id = :org AND teams.parent_id = tree.id
        WHERE level < 1000
    )
    SELECT tree.root, team_member.user_id, bool_or(tree.level = 1) AS direct
    FROM tree
    JOIN team_members team_member
     ON team_member.organization_id = :org AND team_member.team_id = tree.id
    JOIN ({build_eligible_members(Role.labeler)}) ON member.organization_id = :org
     AND member.user_id = team_member.user_id
    GROUP BY tree.root, team_member.user_id ORDER BY tree.root, team_member.user_id
    """  # noqa: S608 - made of constants
)
_GET_SKILLS = text(
    """
    SELECT team_member.user_id, array_agg(DISTINCT skill) AS skills
    FROM team_members team_member
    JOIN teams ON teams.organization_id = :org AND teams.id = team_member.team_id
    CROSS JOIN LATERAL unnest(teams.skill_keys) AS skill
    WHERE team_member.organization_id = :org AND team_member.user_id = ANY(CAST(:ids AS uuid[]))
    GROUP BY team_member.user_id
    """
)
_GET_REQUIRED_SKILLS = text(
    """
    SELECT id, required_skill_keys FROM schemas
    WHERE organization_id = :org AND id = ANY(CAST(:ids AS uuid[])) AND required_skill_keys <> '{}'
    """
)
_LOCK_MEMBER = text(
    "SELECT role FROM memberships WHERE organization_id = :org AND user_id = :id FOR KEY SHARE"
)


class MembersByTeam(NamedTuple):
    """The sorted ids of the members who can label, by team id.

    `direct` contains the members of the team itself. `nested` also contains the members of its
    subteams at all levels.
    """

    direct: dict[UUID, list[UUID]]
    nested: dict[UUID, list[UUID]]


def _build_parameters(ids: Iterable[UUID]) -> dict[str, object]:
    return {
        "org": tenancy.current_organization_id(),
        "ids": sorted(str(identifier) for identifier in ids),
    }


def get_members_by_team(team_ids: Iterable[UUID]) -> MembersByTeam:
    """Return the direct and nested members of each team, except those who cannot label."""
    members = MembersByTeam(defaultdict(list), defaultdict(list))
    for row in db.session().execute(_LIST_MEMBERS, _build_parameters(team_ids)):
        members.nested[row.root].append(row.user_id)
        if row.direct:
            members.direct[row.root].append(row.user_id)
    return members


def get_skills(user_ids: Iterable[UUID]) -> dict[UUID, frozenset[str]]:
    """Return {user_id: skills of the user's teams}; users without skills are omitted."""
    rows = db.session().execute(_GET_SKILLS, _build_parameters(user_ids))
    return {row.user_id: frozenset(row.skills) for row in rows}


def get_required_skills(schema_ids: Iterable[UUID]) -> dict[UUID, frozenset[str]]:
    """Return {schema_id: required skills}; schemas without required skills are omitted."""
    rows = db.session().execute(_GET_REQUIRED_SKILLS, _build_parameters(schema_ids))
    return {row.id: frozenset(row.required_skill_keys) for row in rows}


def lock_member(user_id: UUID) -> str | None:
    """Lock a member until the transaction ends; return the role, or None for a non-member."""
    values = {"org": tenancy.current_organization_id(), "id": user_id}
    role: str | None = db.session().scalar(_LOCK_MEMBER, values)
    return role
