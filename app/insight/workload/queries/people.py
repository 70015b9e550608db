"""SQL of whose work it is."""

from uuid import UUID

from sqlalchemy import select

from app.identity.users.models import User
from app.kit import db


def time_zone(user_id: UUID) -> str:
    """The name of a user's time zone."""
    return db.session().scalars(select(User.time_zone).where(User.id == user_id)).one()
