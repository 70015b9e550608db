"""Routes for the plan of an organization."""

from typing import Any

from app.billing.plan_changes import service
from app.billing.plan_changes.schemas import BillingPlan, ChangePlan, PlanChange
from app.kit.api.blueprint import Blueprint
from app.kit.principal import Caller

blueprint = Blueprint("plan_changes", tag="billing", record_type="organizations")


@blueprint.get("/billing/plan", permission="billing:read", returns=BillingPlan)
def get_plan(caller: Caller) -> dict[str, Any]:
    """Get the organization's plan.

    Returns the plan with its price, the limits that apply to the organization, and the scheduled
    change. If the operator has set limits for the organization, they replace the limits of the
    plan.
    """
    return service.get_plan()


@blueprint.post(
    "/billing/plan/change", permission="billing:change_plan", body=ChangePlan, returns=PlanChange
)
def change_plan(caller: Caller, body: dict[str, Any]) -> dict[str, Any]:
    """Change the plan.

    Changes the plan now, or at the end of the month. The price of a month with several plans is
    prorated by the second. A change replaces the scheduled change; choosing the current plan only
    cancels the scheduled change. Responds with 409 `conflict` if the plan has a price and the
    billing profile is missing (`details.missing`), or if the operator has set limits for the
    organization (`details.limits`). If `when` is `now`, also responds with 409 `conflict` if the
    usage exceeds the limits of the new plan (`details.over`), or if the plan was already changed 20
    times in this month (`details.max_monthly_changes`).
    """
    return service.change(caller.org.id, user_id=caller.user_id, **body)
