"""Request and response schemas for plan changes."""

from app.billing.plan_changes.service import ChangeTime
from app.billing.plans.schemas import PlanVersion
from app.kit.api.fields import List, Nested, OneOf, Response, Schema, Str, UtcDateTime
from app.kit.plan_limits import Meter
from app.kit.settings import PLANS

_WHEN = "`now`: change immediately. `period_end`: change at the start of the next month in UTC."


class ChangePlan(Schema):
    """Request body for changing the plan."""

    plan = Str(required=True, validate=OneOf(PLANS))
    when = Str(
        validate=OneOf(tuple(ChangeTime)), load_default=ChangeTime.NOW.value, description=_WHEN
    )


class ScheduledPlanChange(Response):
    """A plan change that is scheduled to take effect at `effective_at`."""

    plan = Str(validate=OneOf(PLANS))
    effective_at = UtcDateTime()


class BillingPlan(PlanVersion):
    """The plan of an organization, with the limits that apply to the organization."""

    limits_set_by_operator = List(
        Str(validate=OneOf(tuple(map(str, Meter)))),
        description="The meters whose limits are set by the operator, not by the plan.",
    )
    scheduled_change = Nested(ScheduledPlanChange, allow_none=True)


class PlanChange(Response):
    """The organization's current plan, and the scheduled change, if there is one."""

    plan = Str(validate=OneOf(PLANS))
    scheduled_change = Nested(ScheduledPlanChange, allow_none=True)
