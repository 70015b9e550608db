"""Model for API keys, with which other programs authenticate."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import ForeignKey, Index
from sqlalchemy.orm import Mapped, mapped_column

from app.kit import db
from app.kit.tenancy import TenantModel


class ApiKey(TenantModel, db.Record, db.Base):
    """An API key of an organization; it keeps working, with the same role, if its creator leaves.

    `prefix` is the first part of the key, which is used to look up the key; `key_hash` is a keyed
    hash that verifies the complete key. `role` is never owner. Revoking a key deletes it. The key
    acts on behalf of the user `created_by`; that account cannot be deleted while the key exists.
    """

    __tablename__ = "api_keys"
    __table_args__ = (
        Index("ix_api_keys_list", "organization_id", "created_at", "id"),
        Index("ix_api_keys_created_by", "organization_id", "created_by"),
        Index("ix_api_keys_creator", "created_by"),
    )

    name: Mapped[str]
    prefix: Mapped[str] = mapped_column(unique=True)
    key_hash: Mapped[str]
    role: Mapped[str]
    read_only: Mapped[bool] = mapped_column(default=False)
    created_by: Mapped[UUID] = mapped_column(ForeignKey("users.id"))
    expires_at: Mapped[datetime | None]
    last_used_at: Mapped[datetime | None]
