"""SQL queries for the teams of a user and the members of teams."""

from collections.abc import Sequence
from uuid import UUID

from sqlalchemy import select

from app.identity.teams.models import TeamMember
from app.kit import db


def list_teams(user_id: UUID) -> list[UUID]:
    """Return the ids of the teams that a user belongs to."""
    statement = select(TeamMember.team_id).where(TeamMember.user_id == user_id)
    return sorted(set(db.session().scalars(statement)))


def list_members(team_ids: Sequence[UUID]) -> list[UUID]:
    """Return the user ids of the members of these teams, without duplicates."""
    statement = select(TeamMember.user_id).where(TeamMember.team_id.in_(team_ids))
    return sorted(set(db.session().scalars(statement)))
