"""Sessions, mailed tokens, and how often a log-in failed."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import ForeignKey, Index, func, text
from sqlalchemy.orm import Mapped, mapped_column

from app.kit import db
from app.kit.ids import uuid7


class Session(db.Base):
    """One login: what a token's `sid` names. It is over once the user's `token_version` is another.

    `method` is password, or the kind of single sign-on. `organization_id`: the one organization
    that it is good for, null for all of the user's.
    """

    __tablename__ = "sessions"
    __table_args__ = (
        Index(
            "ix_sessions_revoked_at",
            "revoked_at",
            postgresql_where=text("revoked_at IS NOT NULL"),
        ),
    )

    id: Mapped[UUID] = mapped_column(primary_key=True, default=uuid7)
    user_id: Mapped[UUID] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), index=True)
    issued_at: Mapped[datetime] = mapped_column(default=db.utc_now)
    expires_at: Mapped[datetime] = mapped_column(index=True)
    last_seen_at: Mapped[datetime] = mapped_column(default=db.utc_now)
    ip_address: Mapped[str | None]
    user_agent: Mapped[str | None]
    revoked_at: Mapped[datetime | None]
    method: Mapped[str] = mapped_column(server_default="password")
    token_version: Mapped[int | None]
    organization_id: Mapped[UUID | None] = mapped_column(
        ForeignKey("organizations.id", ondelete="CASCADE"), index=True
    )


class MailedToken(db.Base):
    """A link mailed to a user (see `links`).

    `purpose` is password_reset or email; `email` the address that the link confirms. Only the keyed
    hash of the token is kept.
    """

    __tablename__ = "mailed_tokens"
    __table_args__ = (Index("ix_mailed_tokens_user_id", "user_id", "purpose"),)

    token_hash: Mapped[str] = mapped_column(primary_key=True)
    user_id: Mapped[UUID] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"))
    purpose: Mapped[str]
    email: Mapped[str]
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())
    expires_at: Mapped[datetime] = mapped_column(index=True)


class LoginFailure(db.Base):
    """Failures in a row to prove a password. `subject` is a keyed hash of whose password was meant:
    an address, known here or not."""

    __tablename__ = "login_failures"

    subject: Mapped[str] = mapped_column(primary_key=True)
    failures: Mapped[int]
    last_failed_at: Mapped[datetime] = mapped_column(index=True)
    blocked_until: Mapped[datetime]
