"""Organizations, the tenants, and who belongs to them."""

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import ForeignKey
from sqlalchemy.orm import Mapped, mapped_column

from app.kit import db
from app.kit.tenancy import TenantModel


class Organization(db.Revised, db.Base):
    """A tenant. `slug` never changes; `status` is active, suspended or closed."""

    __tablename__ = "organizations"

    slug: Mapped[str] = mapped_column(unique=True)
    name: Mapped[str]
    settings: Mapped[dict[str, Any]] = mapped_column(default=dict)
    status: Mapped[str] = mapped_column(default="active")
    plan: Mapped[str] = mapped_column(default="unlimited")


class Membership(TenantModel, db.Base):
    """A user's role in an organization."""

    __tablename__ = "memberships"
    __table_args__ = {"info": {"audited_as": "members"}}

    user_id: Mapped[UUID] = mapped_column(
        ForeignKey("users.id", ondelete="CASCADE"), primary_key=True, index=True
    )
    role: Mapped[str]
    created_at: Mapped[datetime] = mapped_column(default=db.utc_now)
