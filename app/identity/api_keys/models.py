"""API keys: what a service proves itself with."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import ForeignKeyConstraint, Index
from sqlalchemy.orm import Mapped, mapped_column

from app.kit import db
from app.kit.tenancy import TenantModel


class ApiKey(TenantModel, db.Record, db.Base):
    """A key of an organization. It acts for who made it, and goes when their membership goes.

    `prefix` finds it, `key_hash` (keyed) proves it. `role` is below owner. A revoked key is
    deleted: nothing can bring it back.
    """

    __tablename__ = "api_keys"
    __table_args__ = (
        ForeignKeyConstraint(
            ["organization_id", "created_by"],
            ["memberships.organization_id", "memberships.user_id"],
            ondelete="CASCADE",
        ),
        Index("ix_api_keys_list", "organization_id", "created_at", "id"),
        Index("ix_api_keys_created_by", "organization_id", "created_by"),
    )

    name: Mapped[str]
    prefix: Mapped[str] = mapped_column(unique=True)
    key_hash: Mapped[str]
    role: Mapped[str]
    read_only: Mapped[bool] = mapped_column(default=False)
    created_by: Mapped[UUID]
    expires_at: Mapped[datetime | None]
    last_used_at: Mapped[datetime | None]
