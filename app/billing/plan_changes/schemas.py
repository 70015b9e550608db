"""Request and response schemas of plan changes."""

from app.billing.plan_changes.service import When
from app.kit.api.fields import Nested, OneOf, Response, Schema, Str, UtcDateTime
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


class PlanChange(Response):
    """The organization's plan now, and the one that it will have."""

    plan = Str(validate=OneOf(PLANS))
    scheduled_change = Nested(ScheduledPlanChange, allow_none=True)
