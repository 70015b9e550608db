"""Service that changes plans and lists the plans that were in force in a period."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

from app.billing.plan_changes import queries
from app.billing.plan_changes.models import PlanChange, ScheduledPlanChange
from app.billing.plan_changes.months import get_month
from app.billing.plan_changes.versions import record_versions
from app.billing.plans import catalogue
from app.billing.plans import service as plans
from app.billing.plans.catalogue import Plan
from app.billing.profiles import service as profiles
from app.billing.usage.queries.reading import read_month
from app.identity.organizations import service as organizations
from app.identity.organizations.models import Organization
from app.kit import db, errors, tenancy
from app.kit.plan_limits import Meter

get_database_time = queries.get_database_time
list_changes = queries.list_changes
_FOREVER = datetime.max.replace(tzinfo=UTC)


class ChangeTime(StrEnum):
    """The time at which a plan changes."""

    NOW = "now"
    PERIOD_END = "period_end"


@dataclass(frozen=True)
class Segment:
    """A time span in which an organization had a plan; `end` is exclusive."""

    plan: str
    start: datetime
    end: datetime


def get_plan() -> dict[str, Any]:
    """Return the plan of the current organization with its limits, and the scheduled change."""
    scheduled = queries.find_scheduled()
    return {**plans.describe_plan(), "scheduled_change": _render_scheduled(scheduled)}


def change(organization_id: UUID, *, plan: str, when: str, user_id: UUID) -> dict[str, Any]:
    """Change the plan of the current organization; return the plan and the scheduled change.

    A change replaces a scheduled change; the current plan cancels it. Emits
    `organization.plan_changed` for an immediate change. Raises 400 `validation_error` for a plan
    that only the operator can assign, and 409 `conflict` if the billing profile is missing, if the
    operator has set other limits, or if an immediate change would exceed the limits of the plan.
    """
    organization = organizations.lock(organization_id)
    apply_due(organization)
    if plan == organization.plan:
        queries.delete_scheduled()
        return _render(organization, None)
    _check_change(organization, catalogue.get_plan(plan))
    if when == ChangeTime.NOW:
        _check_usage(catalogue.get_plan(plan))
        record_versions()
        organizations.change_plan(organization, plan=plan, limits={})
        db.session().flush()
        return _render(organization, None)
    queries.delete_scheduled()
    _, end = get_month(queries.get_database_time())
    scheduled = ScheduledPlanChange(plan=plan, effective_at=end, requested_by=user_id)
    db.session().add(scheduled)
    db.session().flush()
    return _render(organization, scheduled)


def apply_due(organization: Organization) -> None:
    """Apply the scheduled change of a locked organization if it is due.

    The new plan takes effect from the due time, even if the change is applied later.
    """
    scheduled = queries.find_scheduled()
    if scheduled is None or scheduled.effective_at > queries.get_database_time():
        return
    queries.set_due_time(scheduled.effective_at)
    organizations.change_plan(organization, plan=scheduled.plan, limits={})
    db.session().flush()
    queries.set_due_time(None)


def list_due_organizations() -> list[UUID]:
    """Return the organizations with a scheduled change that is due."""
    with tenancy.across_organizations(reason="finds the plan changes that are due"):
        return queries.list_due_organizations()


def apply_due_change(organization_id: UUID) -> None:
    """Apply the scheduled change of an organization if it is due."""
    with tenancy.organization(organization_id):
        apply_due(organizations.lock(organization_id))


def apply_due_changes(organization_ids: Sequence[UUID]) -> None:
    """Apply the due scheduled changes of locked organizations, which must all be bound."""
    for organization_id in queries.list_due_organizations(organization_ids):
        apply_due_change(organization_id)


def list_segments(
    organization: Organization, changes: Sequence[PlanChange], start: datetime, end: datetime
) -> list[Segment]:
    """Return the plans of an organization in a period, in order. `changes` are all its changes.

    The segments follow one another without a gap, from the creation of the organization to its
    closing.
    """
    closed_at = organization.closed_at or _FOREVER
    segments = build_segments(changes, organization.plan, organization.created_at, closed_at)
    clipped = [
        Segment(segment.plan, max(segment.start, start), min(segment.end, end))
        for segment in segments
    ]
    return [segment for segment in clipped if segment.start < segment.end]


def build_segments(
    changes: Sequence[PlanChange], plan: str, start: datetime, end: datetime
) -> list[Segment]:
    """Return all segments, including empty segments; `plan` is the organization's current plan."""
    segments = []
    for item in changes:
        segments.append(Segment(item.plan_before, start, item.changed_at))
        start = item.changed_at
    return [*segments, Segment(plan, start, end)]


def _check_change(organization: Organization, plan: Plan) -> None:
    if not plan.is_public:
        raise errors.invalid("Only the operator of this service can assign this plan.", "plan")
    if organization.plan_limits:
        raise errors.conflict(
            "The operator of this service has set other limits than those of your plan, so only"
            " the operator can change the plan.",
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
            f"The plan is offered in {plan.currency}; the billing profile has another currency."
        )
        raise errors.invalid(message, "plan", currency=plan.currency)


def _check_usage(plan: Plan) -> None:
    month = read_month(tuple(Meter))
    exceeded_limits = [
        {"meter": str(meter), "used": month.get_used(meter), "limit": limit}
        for meter in Meter
        if (limit := plan.limits[meter]) is not None and month.get_used(meter) > limit
    ]
    if exceeded_limits:
        raise errors.conflict(
            "The usage exceeds the limits of this plan. Reduce the usage, or change the plan at the"
            " end of the period.",
            plan=plan.name,
            over=exceeded_limits,
        )


def _render(organization: Organization, scheduled: ScheduledPlanChange | None) -> dict[str, Any]:
    return {"plan": organization.plan, "scheduled_change": _render_scheduled(scheduled)}


def _render_scheduled(scheduled: ScheduledPlanChange | None) -> dict[str, Any] | None:
    if scheduled is None:
        return None
    return {"plan": scheduled.plan, "effective_at": scheduled.effective_at}
