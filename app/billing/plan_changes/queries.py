"""SQL queries for the plan history and scheduled plan changes."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from sqlalchemy import delete, func, select, text

from app.billing.plan_changes.models import NO_PLAN, PlanChange
from app.billing.plans.models import ScheduledPlanChange
from app.kit import db

# The trigger that records a plan change reads this setting.
_SET_EFFECTIVE_TIME = text("SELECT set_config('app.plan_due_at', :at, true)")


def get_database_time() -> datetime:
    """Return the current time of the database, which determines when periods end."""
    now: datetime = db.session().scalars(select(func.clock_timestamp())).one()
    return now


def get_changes(organization_ids: Sequence[UUID], since: datetime) -> dict[UUID, list[PlanChange]]:
    """Return each organization's plan changes from `since` on, oldest first, by organization id.

    Earlier changes are not needed, because the first change has the previous plan as `plan_before`.
    Requires access to all organizations, unless the only id is that of the current organization.
    """
    changes: dict[UUID, list[PlanChange]] = {key: [] for key in organization_ids}
    statement = (
        select(PlanChange)
        .where(PlanChange.organization_id.in_(organization_ids), PlanChange.changed_at >= since)
        .order_by(PlanChange.id)
    )
    for change in db.session().scalars(statement):
        changes[change.organization_id].append(change)
    return changes


def count_changes(since: datetime) -> int:
    """Count the plan changes of the current organization from `since` on.

    Changes to and from `NO_PLAN` are not counted.
    """
    statement = select(func.count(PlanChange.id)).where(
        PlanChange.changed_at >= since,
        PlanChange.plan_before != NO_PLAN,
        PlanChange.plan != NO_PLAN,
    )
    return db.session().scalars(statement).one()


def get_last_change_time() -> datetime | None:
    """Return the time of the current organization's last plan change; None if there is none."""
    return db.session().scalars(select(func.max(PlanChange.changed_at))).one()


def find_scheduled_change() -> ScheduledPlanChange | None:
    """Find the scheduled plan change of the current organization; return None if there is none."""
    return db.session().scalars(select(ScheduledPlanChange)).one_or_none()


def delete_scheduled_change() -> None:
    """Delete the scheduled plan change of the current organization, if there is one."""
    db.session().execute(delete(ScheduledPlanChange))


def list_due_organization_ids(organization_ids: Sequence[UUID] | None = None) -> list[UUID]:
    """List the ids of organizations whose scheduled plan change is due.

    If `organization_ids` is given, only these organizations are considered.
    """
    is_due = ScheduledPlanChange.effective_at <= func.clock_timestamp()
    statement = select(ScheduledPlanChange.organization_id).where(is_due)
    if organization_ids is not None:
        statement = statement.where(ScheduledPlanChange.organization_id.in_(organization_ids))
    return list(db.session().scalars(statement))


def set_effective_time(at: datetime | None) -> None:
    """Set the time at which later plan changes in this transaction take effect; None means now."""
    db.session().execute(_SET_EFFECTIVE_TIME, {"at": "" if at is None else at.isoformat()})
