"""Request and response schemas of plan changes."""

from app.billing.plan_changes.service import When
from app.billing.plans.schemas import PlanVersion
from app.kit.api.fields import List, Nested, OneOf, Response, Schema, Str, UtcDateTime
from app.kit.plan_limits import Meter
from app.kit.settings import PLANS

_WHEN = "`period_end`: at the start of the next month in UTC."


class ChangePlan(Schema):
    """Request body to change the plan."""

    plan = Str(required=True, validate=OneOf(PLANS))
    when = Str(validate=OneOf(tuple(When)), load_default=When.NOW.value, description=_WHEN)


class ScheduledPlanChange(Response):
    """A change of the plan at a later time."""

    plan = Str(validate=OneOf(PLANS))
    effective_at = UtcDateTime()


class BillingPlan(PlanVersion):
    """The plan of an organization, with the limits that apply to it."""

    limits_set_by_operator = List(
        Str(validate=OneOf(tuple(map(str, Meter)))),
        description="The limits that differ from the plan's, because the operator has set them.",
    )
    scheduled_change = Nested(ScheduledPlanChange, allow_none=True)


class PlanChange(Response):
    """The organization's plan now, and the one that it will have."""

    plan = Str(validate=OneOf(PLANS))
    scheduled_change = Nested(ScheduledPlanChange, allow_none=True)
