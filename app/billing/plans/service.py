"""Service for plans: the plan of an organization, and the available plans."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from app.billing.plans import catalog, queries
from app.billing.plans.catalog import Plan
from app.kit.pagination import Page, PageRequest, paginate_values
from app.kit.plan_limits import Meter


def describe_plan() -> dict[str, Any]:
    """Return the current organization's plan in the API's format.

    `limits` are the limits that apply to the organization. `limits_set_by_operator` lists the
    meters whose limits the operator has set.
    """
    name, overrides = queries.get_plan()
    plan = catalog.get_plan(name)
    limits = merge_limits(plan, overrides)
    return {**_render_plan(plan), "limits": limits, "limits_set_by_operator": sorted(overrides)}


def list_plans(*, page: PageRequest) -> Page:
    """Return a page of the plans that organizations can choose."""
    plans = {plan.name: plan for plan in catalog.list_plans() if plan.is_public}
    name_page = paginate_values(page, name=list(plans), rank=range(1, len(plans) + 1))
    items = [{**_render_plan(plans[row.name]), "rank": row.rank} for row in name_page.items]
    return replace(name_page, items=items)


def merge_limits(plan: Plan, overrides: Mapping[str, Any]) -> dict[Meter, int | None]:
    """Return the limit of every meter, where the operator's `overrides` replace the plan's limits.

    None means no limit.
    """
    limits = {**plan.limits, **overrides}
    return {meter: limits[meter] for meter in Meter}


def _render_plan(plan: Plan) -> dict[str, Any]:
    definition = catalog.format_plan(plan)
    price = {"amount": definition["price"], "currency": plan.currency}
    return {**definition, "price": price, "limits": dict(plan.limits)}
