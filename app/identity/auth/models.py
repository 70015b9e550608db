"""Models for sessions, emailed tokens and login failures."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import ForeignKey, Index, func, text
from sqlalchemy.orm import Mapped, mapped_column

from app.kit import db
from app.kit.ids import uuid7


class Session(db.Base):
    """A session, which a login opens; the access token contains its id in the claim `sid`.

    The session also ends when the user's `token_version` changes. `method` is password, oidc or
    saml. If `organization_id` is not null, the session gives access only to that organization;
    otherwise, it gives access to all of the user's organizations.
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
    """A single-use token in a link that was emailed to a user (see `links`).

    `purpose` is password_reset or email. `email` is the address that the link was sent to. Only a
    keyed hash of the token is stored.
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
    """The consecutive failed password checks of one subject.

    `subject` is a keyed hash of a user's id, or of an address and optionally a session (see
    `attempts`). The address need not have an account.
    """

    __tablename__ = "login_failures"

    subject: Mapped[str] = mapped_column(primary_key=True)
    failures: Mapped[int]
    last_failed_at: Mapped[datetime] = mapped_column(index=True)
    blocked_until: Mapped[datetime]
