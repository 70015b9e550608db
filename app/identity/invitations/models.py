"""Model of invitations to join an organization."""

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import ForeignKey, Index, text
from sqlalchemy.orm import Mapped, mapped_column

from app.kit import db
from app.kit.tenancy import TenantModel


class Invitation(TenantModel, db.Record, db.Base):
    """An invitation of an email address to a role; it can be accepted once, before it expires.

    `email_key` is the key of the mailbox (see `users.addresses`). Only a keyed hash of the token is
    stored. Sending the invitation again changes its token and its expiry.
    """

    __tablename__ = "invitations"
    __table_args__ = (
        Index("ix_invitations_list", "organization_id", "created_at", "id"),
        Index(
            "uq_invitations_open",
            "organization_id",
            "email_key",
            unique=True,
            postgresql_where=text("accepted_at IS NULL AND revoked_at IS NULL"),
        ),
    )

    email: Mapped[str]
    email_key: Mapped[str]
    role: Mapped[str]
    team_ids: Mapped[list[Any]] = mapped_column(default=list)
    token_hash: Mapped[str] = mapped_column(unique=True)
    expires_at: Mapped[datetime]
    invited_by: Mapped[UUID | None] = mapped_column(
        ForeignKey("users.id", ondelete="SET NULL"), index=True
    )
    accepted_at: Mapped[datetime | None]
    revoked_at: Mapped[datetime | None]
