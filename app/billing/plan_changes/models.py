"""Model for the plan history."""

from datetime import datetime

from sqlalchemy import BigInteger, Identity, Index
from sqlalchemy.orm import Mapped, mapped_column

from app.kit import db
from app.kit.tenancy import TenantModel

NO_PLAN = ""
"""The plan in the history for a time in which an organization was closed (see `PlanChange`)."""


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
