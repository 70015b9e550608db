"""Model for user accounts; a user has one account for all of their organizations."""

from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import ColumnElement, case, func, text
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column, validates

from app.identity.users import addresses
from app.kit import db


class User(db.Revised, db.Base):
    """A user account.

    `email` is the stored form of the address. `email_key` is the mailbox key, which look-alike
    addresses share; it is updated whenever `email` is set (see `addresses`). Increasing
    `token_version` ends all sessions. `notification_preferences` contains only the differences from
    the defaults.
    """

    __tablename__ = "users"

    email: Mapped[str] = mapped_column(unique=True)
    email_key: Mapped[str | None] = mapped_column(unique=True)
    name: Mapped[str]
    locale: Mapped[str] = mapped_column(default="en")
    time_zone: Mapped[str] = mapped_column(default="UTC")
    password_hash: Mapped[str | None]
    token_version: Mapped[int] = mapped_column(default=1)
    email_verified_at: Mapped[datetime | None]
    disabled_at: Mapped[datetime | None]
    notification_preferences: Mapped[dict[str, Any]] = mapped_column(
        default=dict, server_default=text("'{}'::jsonb")
    )

    @validates("email")
    def _set_email_key(self, _key: str, email: str) -> str:
        self.email_key = addresses.get_mailbox_key(email)
        return email


class Person(NamedTuple):
    """The data of a user that the API shows to other people."""

    id: UUID
    email: str
    name: str


def build_person(user: type[User]) -> ColumnElement[Any]:
    """Build an expression for a user's id, email and name as JSON; null if there is no user."""
    person = func.jsonb_build_object(
        "id", user.id, "email", user.email, "name", user.name, type_=JSONB()
    )
    return case((user.id.is_not(None), person))
