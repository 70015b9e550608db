"""SQL of the history of plans and of scheduled changes."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import delete, func, select, text

from app.billing.plan_changes.models import PlanChange, ScheduledPlanChange
from app.kit import db

# The trigger that records a change reads it.
_SET_DUE_TIME = text("SELECT set_config('app.plan_due_at', :at, true)")


def get_database_time() -> datetime:
    """Return the time of the database's clock, by which periods end."""
    now: datetime = db.session().scalars(select(func.clock_timestamp())).one()
    return now


def list_changes() -> list[PlanChange]:
    """Return all changes of the bound organization's plan, in order."""
    return list(db.session().scalars(select(PlanChange).order_by(PlanChange.id)))


def find_scheduled() -> ScheduledPlanChange | None:
    """Return the scheduled change of the bound organization, or None."""
    return db.session().scalars(select(ScheduledPlanChange)).one_or_none()


def delete_scheduled() -> None:
    """Delete the scheduled change of the bound organization if there is one."""
    db.session().execute(delete(ScheduledPlanChange))


def list_due(now: datetime) -> list[UUID]:
    """Return the organizations with a scheduled change that is due, of all organizations."""
    due = ScheduledPlanChange.effective_at <= now
    return list(db.session().scalars(select(ScheduledPlanChange.organization_id).where(due)))


def set_due_time(at: datetime | None) -> None:
    """Let the changes that follow in the transaction take effect at a time in the past, or now."""
    db.session().execute(_SET_DUE_TIME, {"at": "" if at is None else at.isoformat()})
