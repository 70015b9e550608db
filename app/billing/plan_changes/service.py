"""Service that changes plans, and lists the plans that were in force in a period."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

from app.billing.plan_changes import queries
from app.billing.plan_changes.models import NO_PLAN, PlanChange
from app.billing.plan_changes.versions import record_versions
from app.billing.plans import catalog
from app.billing.plans import service as plans
from app.billing.plans.catalog import Plan
from app.billing.plans.models import ScheduledPlanChange
from app.billing.profiles import service as profiles
from app.billing.usage.queries import lock_meters, read_month
from app.identity.organizations import service as organizations
from app.identity.organizations.models import Organization
from app.kit import db, errors, tenancy
from app.kit.days import get_month_bounds
from app.kit.plan_limits import Meter

get_database_time = queries.get_database_time
get_changes = queries.get_changes
cancel_scheduled_change = queries.delete_scheduled_change
MAX_MONTHLY_CHANGES = 20
"""After this number of plan changes in a month, an owner can only schedule a plan change."""
_FOREVER = datetime.max.replace(tzinfo=UTC)


class ChangeTime(StrEnum):
    """The time at which a requested plan change takes effect."""

    NOW = "now"
    PERIOD_END = "period_end"


@dataclass(frozen=True)
class PlanSegment:
    """A time span in which an organization had the same plan. `end` is exclusive."""

    plan: str
    start: datetime
    end: datetime


def get_plan() -> dict[str, Any]:
    """Return the current organization's plan with its limits, and the scheduled plan change."""
    scheduled_change = queries.find_scheduled_change()
    return {**plans.describe_plan(), "scheduled_change": _render_scheduled_change(scheduled_change)}


def change(organization_id: UUID, *, plan: str, when: str, user_id: UUID) -> dict[str, Any]:
    """Change the plan of the current organization; return the plan and the scheduled change.

    Applies the scheduled change first if it is due. A change replaces the scheduled change;
    choosing the current plan only cancels the scheduled change. Emits `organization.plan_changed`
    for an immediate or due change. Raises 400 `validation_error` for a plan that only the operator
    can assign, and for a plan whose currency differs from that of the billing profile. Raises 409
    `conflict` if the plan has a price and the billing profile is missing, or if the operator has
    set limits for the organization. For an immediate change, also raises 409 `conflict` if the
    usage exceeds the plan's limits, or if the plan was already changed `MAX_MONTHLY_CHANGES` times
    in this month.
    """
    organization = organizations.lock(organization_id)
    apply_scheduled_change(organization)
    if plan == organization.plan:
        queries.delete_scheduled_change()
        return _render_change(organization, None)
    _check_change(organization, catalog.get_plan(plan))
    if when == ChangeTime.NOW:
        _check_change_count()
        _check_usage(catalog.get_plan(plan))
        record_versions()
        organizations.change_plan(organization, plan=plan, limits={})
        db.session().flush()
        return _render_change(organization, None)
    queries.delete_scheduled_change()
    _, end = get_month_bounds(queries.get_database_time())
    scheduled_change = ScheduledPlanChange(plan=plan, effective_at=end, requested_by=user_id)
    db.session().add(scheduled_change)
    db.session().flush()
    return _render_change(organization, scheduled_change)


def apply_scheduled_change(organization: Organization) -> None:
    """Apply the scheduled change of a locked organization if it is due.

    The new plan is in force from the due time, even if the change is applied later. A change that
    becomes due after the organization was closed waits until the organization is reopened. If the
    operator has set limits for the organization, a due change is deleted and not applied.
    """
    scheduled_change = queries.find_scheduled_change()
    latest_effective_time = organization.closed_at or queries.get_database_time()
    if scheduled_change is None or scheduled_change.effective_at > latest_effective_time:
        return
    if organization.plan_limits:
        # The operator sets limits for a plan, so only the operator can change the plan. Earlier
        # releases did not cancel the scheduled change when the operator set limits.
        queries.delete_scheduled_change()
        return
    queries.set_effective_time(scheduled_change.effective_at)
    organizations.change_plan(organization, plan=scheduled_change.plan, limits={})
    db.session().flush()
    queries.set_effective_time(None)


def record_closed_time(plan: str, closed_at: datetime) -> None:
    """Record that the current organization, which is locked, was closed until now.

    `plan` is the organization's plan. The time from `closed_at` until now is not billed, even on
    invoices that are issued later.
    """
    last_change_at = queries.get_last_change_time()
    start = closed_at if last_change_at is None else max(closed_at, last_change_at)
    end = max(queries.get_database_time(), start)
    for before, after, at in ((plan, NO_PLAN, start), (NO_PLAN, plan, end)):
        db.session().add(PlanChange(plan_before=before, plan=after, changed_at=at))
        db.session().flush()  # Ids must increase in the order of the changes.


def list_due_organization_ids() -> list[UUID]:
    """List the ids of organizations whose scheduled plan change is due."""
    with tenancy.across_organizations(reason="finds the plan changes that are due"):
        return queries.list_due_organization_ids()


def apply_due_change(organization_id: UUID) -> None:
    """Lock an organization, and apply its scheduled change if it is due."""
    with tenancy.organization(organization_id):
        apply_scheduled_change(organizations.lock(organization_id))


def apply_due_changes(organization_ids: Sequence[UUID]) -> None:
    """Apply the due plan changes of locked organizations. Requires access to all organizations."""
    for organization_id in queries.list_due_organization_ids(organization_ids):
        apply_due_change(organization_id)


def list_segments(
    organization: Organization, changes: Sequence[PlanChange], start: datetime, end: datetime
) -> list[PlanSegment]:
    """List the plan segments of an organization in a period, oldest first.

    `changes` must contain all plan changes of the organization from `start` on. The segments cover
    the part of the period between the creation and the closing of the organization, except for
    earlier times in which the organization was closed.
    """
    closed_at = organization.closed_at or _FOREVER
    segments = build_segments(changes, organization.plan, organization.created_at, closed_at)
    clipped_segments = [
        PlanSegment(segment.plan, max(segment.start, start), min(segment.end, end))
        for segment in segments
        if segment.plan != NO_PLAN
    ]
    return [segment for segment in clipped_segments if segment.start < segment.end]


def build_segments(
    changes: Sequence[PlanChange], plan: str, start: datetime, end: datetime
) -> list[PlanSegment]:
    """Build the plan segments from `start` to `end`, including empty segments.

    `changes` are the plan changes between these times, oldest first, and `plan` is the current plan
    of the organization. If the earliest changes are missing, the plan of the first segment is
    correct only for the time after the last missing change.
    """
    segments = []
    for plan_change in changes:
        segments.append(PlanSegment(plan_change.plan_before, start, plan_change.changed_at))
        start = plan_change.changed_at
    return [*segments, PlanSegment(plan, start, end)]


def _check_change(organization: Organization, plan: Plan) -> None:
    if not plan.is_public:
        raise errors.invalid("Only the operator of this service can assign this plan.", "plan")
    if organization.plan_limits:
        raise errors.conflict(
            "The operator of this service has set limits that differ from the limits of your plan,"
            " so only the operator can change the plan.",
            limits=organization.plan_limits,
        )
    if not profiles.has_price(plan):
        return
    profile = profiles.find()
    if profile is None:
        message = "Set the billing profile before you choose a plan with a price."
        raise errors.conflict(message, missing="billing_profile")
    if profile.currency != plan.currency:
        message = (
            f"The plan is priced in {plan.currency}, but the currency of the billing profile is"
            f" {profile.currency}."
        )
        raise errors.invalid(message, "plan", currency=plan.currency)


def _check_change_count() -> None:
    """Raise 409 `conflict` if the plan has already been changed too often in this month.

    Each change can add lines to the invoice of the month, and the number of lines is limited.
    """
    month_start, _ = get_month_bounds(queries.get_database_time())
    if queries.count_changes(month_start) >= MAX_MONTHLY_CHANGES:
        raise errors.conflict(
            f"The plan was changed {MAX_MONTHLY_CHANGES} times this month, which is the maximum."
            " To change it at the end of the month, set `when` to `period_end`.",
            max_monthly_changes=MAX_MONTHLY_CHANGES,
        )


def _check_usage(plan: Plan) -> None:
    """Raise 409 `conflict` if the usage exceeds the plan's limits.

    The meters that the plan limits stay locked until the transaction ends, so that no usage is
    added under the old limits after the check. Without an old limit, usage is added without a lock,
    so a transaction that is in progress can still exceed the new limit.
    """
    lock_meters([meter for meter in Meter if plan.limits[meter] is not None])
    usage = read_month(tuple(Meter))
    exceeded_limits = [
        {"meter": str(meter), "used": usage.get_used_quantity(meter), "limit": limit}
        for meter in Meter
        if (limit := plan.limits[meter]) is not None and usage.get_used_quantity(meter) > limit
    ]
    if exceeded_limits:
        raise errors.conflict(
            "The usage exceeds the limits of this plan. Reduce the usage, or set `when` to"
            " `period_end` to change the plan at the end of the month.",
            plan=plan.name,
            over=exceeded_limits,
        )


def _render_change(
    organization: Organization, scheduled_change: ScheduledPlanChange | None
) -> dict[str, Any]:
    return {
        "plan": organization.plan,
        "scheduled_change": _render_scheduled_change(scheduled_change),
    }


def _render_scheduled_change(scheduled_change: ScheduledPlanChange | None) -> dict[str, Any] | None:
    if scheduled_change is None:
        return None
    return {"plan": scheduled_change.plan, "effective_at": scheduled_change.effective_at}
