"""People. A user exists once, whatever organizations they belong to."""

from datetime import datetime

from sqlalchemy.orm import Mapped, mapped_column

from app.kit import db


class User(db.Revised, db.Base):
    """An account. `email` is stored lower-cased; `token_version` is raised to end all sessions."""

    __tablename__ = "users"

    email: Mapped[str] = mapped_column(unique=True)
    name: Mapped[str]
    locale: Mapped[str] = mapped_column(default="en")
    time_zone: Mapped[str] = mapped_column(default="UTC")
    password_hash: Mapped[str | None]
    token_version: Mapped[int] = mapped_column(default=1)
    email_verified_at: Mapped[datetime | None]
    disabled_at: Mapped[datetime | None]
