"""People. A user exists once, whatever organizations they belong to."""

from datetime import datetime
from typing import Any

from sqlalchemy import text
from sqlalchemy.orm import Mapped, mapped_column, validates

from app.identity.users import addresses
from app.kit import db


class User(db.Revised, db.Base):
    """An account. `token_version` is raised to end all sessions.

    `email` is the stored form of the address, `email_key` what all its spellings share; it follows
    `email` by itself (see `addresses`). `notification_preferences` has what differs from the
    defaults.
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
    def _follow(self, _key: str, email: str) -> str:
        self.email_key = addresses.canonical(email)
        return email
