"""Models for recorded plan versions, and for scheduled plan changes."""

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import ForeignKey, Index, UniqueConstraint, func
from sqlalchemy.orm import Mapped, mapped_column

from app.kit import db
from app.kit.ids import uuid7
from app.kit.tenancy import TenantModel


class PlanVersion(db.Base):
    """A recorded plan version. Rows are never changed.

    A version is recorded when it becomes the newest version of its plan in the plan file.
    `definition` is the plan as returned by `catalog.format_plan`.
    """

    __tablename__ = "plan_versions"

    name: Mapped[str] = mapped_column(primary_key=True)
    version: Mapped[int] = mapped_column(primary_key=True)
    definition: Mapped[dict[str, Any]]
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())


class ScheduledPlanChange(TenantModel, db.Base):
    """The plan to which an organization changes at `effective_at`.

    An organization has at most one scheduled change. Any change of the plan or its limits deletes
    the scheduled change. `requested_by` is the id of the user who scheduled it.
    """

    __tablename__ = "scheduled_plan_changes"
    __table_args__ = (
        UniqueConstraint("organization_id"),
        Index("ix_scheduled_plan_changes_due", "effective_at"),
    )

    id: Mapped[UUID] = mapped_column(primary_key=True, default=uuid7)
    plan: Mapped[str]
    effective_at: Mapped[datetime]
    requested_by: Mapped[UUID | None] = mapped_column(ForeignKey("users.id"))
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())
