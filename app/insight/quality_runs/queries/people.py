"""SQL query for the names of the people who appear in results."""

from collections.abc import Collection
from typing import Any
from uuid import UUID

from sqlalchemy import select

from app.identity.users.models import User
from app.kit import db


def get_people(user_ids: Collection[str]) -> dict[str, dict[str, Any]]:
    """Return the id and name of each person who still exists, by user id as text."""
    statement = select(User.id, User.name).where(User.id.in_([UUID(key) for key in user_ids]))
    return {
        str(row.id): {"id": row.id, "name": row.name} for row in db.session().execute(statement)
    }
