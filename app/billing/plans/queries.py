"""SQL queries for plans."""

from typing import Any, NamedTuple

from sqlalchemy import select
from sqlalchemy.dialects.postgresql import insert

from app.billing.plans.catalog import Plan, format_plan
from app.billing.plans.models import PlanVersion, ScheduledPlanChange
from app.kit import db, tenancy
from app.kit.prepared import Prepared

_GET_PLAN = Prepared(
    "get_plan", "uuid", "SELECT plan, plan_limits FROM organizations WHERE id = $1"
)


class PlanRow(NamedTuple):
    """The name of an organization's plan, and the limits that the operator has set."""

    plan: str
    limits: dict[str, Any]


def get_plan() -> PlanRow:
    """Return the plan of the current organization, and the limits that the operator has set."""
    return PlanRow._make(_GET_PLAN.first(str(tenancy.current_organization_id())))


def find_scheduled_plan() -> str | None:
    """Return the name of the plan to which the current organization will change, or None."""
    return db.session().scalars(select(ScheduledPlanChange.plan)).one_or_none()


def store_plan(plan: Plan) -> None:
    """Store a plan version, unless it is already stored."""
    row = {"name": plan.name, "version": plan.version, "definition": format_plan(plan)}
    db.session().execute(insert(PlanVersion).values(row).on_conflict_do_nothing())
