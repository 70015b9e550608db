"""Models for the plan history and scheduled plan changes."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import BigInteger, ForeignKey, Identity, Index, UniqueConstraint, func
from sqlalchemy.orm import Mapped, mapped_column

from app.kit import db
from app.kit.ids import uuid7
from app.kit.tenancy import TenantModel

NO_PLAN = ""
"""The plan that the history shows for a time in which an organization was closed.

It is recorded when the organization is reopened.
"""


class PlanChange(TenantModel, db.Base):
    """A plan change of an organization, which a trigger on `organizations` records.

    `id` increases in the order of the changes, and `changed_at` never decreases. `plan_before` of
    the first change is the plan with which the organization was created. An organization without
    changes has always had its current plan. When an organization is reopened, the time for which it
    was closed is recorded as a change to `NO_PLAN` and a change back.
    """

    __tablename__ = "plan_changes"
    __table_args__ = (Index("ix_plan_changes_time", "organization_id", "changed_at"),)

    id: Mapped[int] = mapped_column(BigInteger, Identity(), primary_key=True)
    plan_before: Mapped[str]
    plan: Mapped[str]
    changed_at: Mapped[datetime]


class ScheduledPlanChange(TenantModel, db.Base):
    """The plan to which an organization changes at `effective_at`.

    An organization has at most one scheduled change. Any change of the plan or its limits deletes
    the scheduled change. `requested_by` is the user who scheduled it.
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
