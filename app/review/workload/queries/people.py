"""SQL of whose work it is."""

from uuid import UUID

from sqlalchemy import select

from app.identity.teams.models import Team
from app.identity.users.models import User
from app.kit import db


def time_zone(user_id: UUID) -> str:
    """The name of a user's time zone."""
    return db.session().scalars(select(User.time_zone).where(User.id == user_id)).one()


def is_team(team_id: UUID) -> bool:
    """Whether the organization has this team."""
    return db.session().execute(select(Team.id).where(Team.id == team_id)).first() is not None
