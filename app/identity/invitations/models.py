"""Model for invitations to join an organization."""

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import ForeignKey, Index, text
from sqlalchemy.orm import Mapped, mapped_column

from app.kit import db
from app.kit.tenancy import TenantModel

_IS_PENDING = "accepted_at IS NULL AND revoked_at IS NULL"
_LIST_COLUMNS = ("organization_id", "created_at", "id")


class Invitation(TenantModel, db.Record, db.Base):
    """An invitation sent to an email address; it can be accepted once, before it expires.

    `email_key` is the address's mailbox key (see `users.addresses`). Only a keyed hash of the token
    is stored. Resending an invitation changes its token and its expiry.
    """

    __tablename__ = "invitations"
    __table_args__ = (
        Index(
            "uq_invitations_open",
            "organization_id",
            "email_key",
            unique=True,
            postgresql_where=text(_IS_PENDING),
        ),
        # These indexes serve the lists of each status. Few invitations are open at a time, so their
        # list is sorted without an index.
        Index(
            "ix_invitations_expiry",
            "organization_id",
            "expires_at",
            postgresql_where=text(_IS_PENDING),
        ),
        Index("ix_invitations_pending", *_LIST_COLUMNS, postgresql_where=text(_IS_PENDING)),
        Index(
            "ix_invitations_accepted",
            *_LIST_COLUMNS,
            postgresql_where=text("accepted_at IS NOT NULL"),
        ),
        Index(
            "ix_invitations_revoked",
            *_LIST_COLUMNS,
            postgresql_where=text("accepted_at IS NULL AND revoked_at IS NOT NULL"),
        ),
        Index("ix_invitations_email", "organization_id", "email", "id"),
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
