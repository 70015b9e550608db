"""Service for plans: the organization's plan, available plans, and versions in use."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from app.billing.plans import catalogue, queries
from app.billing.plans.catalogue import Charge, Plan
from app.kit.pagination import Page, PageRequest
from app.kit.plan_limits import Meter


def describe_plan() -> dict[str, Any]:
    """Return the current organization's plan, with the limits that apply to the organization."""
    name, overrides = queries.get_plan()
    plan = catalogue.get_plan(name)
    limits = merge_limits(plan, overrides)
    return {**_describe(plan), "limits": limits, "limits_set_by_operator": sorted(overrides)}


def list_plans(*, page: PageRequest) -> Page:
    """Return a page of the available plans."""
    plans = {plan.name: plan for plan in catalogue.list_plans() if plan.is_public}
    rows = queries.list_names(page, list(plans))
    items = [{**_describe(plans[row.name]), "rank": row.rank} for row in rows.items]
    return replace(rows, items=items)


def merge_limits(plan: Plan, overrides: Mapping[str, Any]) -> dict[Meter, int | None]:
    """Return the limits of a plan, replaced by the limits that the operator has set."""
    limits = {**plan.limits, **overrides}
    return {meter: limits[meter] for meter in Meter}


def get_plan(name: str, version: int) -> Plan:
    """Return a version of a plan as it was when it was first used. Raises LookupError.

    So changing the file, or removing a version from it, does not affect the versions to which
    organizations and invoices refer.
    """
    definition = queries.find_definition(name, version)
    if definition is not None:
        return catalogue.parse_plan(definition, "a stored plan")
    return catalogue.get_plan(name, version)


def pin_plan(plan: Plan) -> None:
    """Store a version of a plan; call it in the transaction that begins to refer to it."""
    queries.insert_definition(plan.name, plan.version, catalogue.format_plan(plan))


def _describe(plan: Plan) -> dict[str, Any]:
    return {
        "name": plan.name,
        "version": plan.version,
        "price": {"amount": f"{plan.price:f}", "currency": plan.currency},
        "limits": dict(plan.limits),
        "charges": [_describe_charge(charge) for charge in plan.charges],
    }


def _describe_charge(charge: Charge) -> dict[str, Any]:
    return {
        "meter": charge.meter,
        "included": charge.included,
        "unit": charge.unit,
        "tiers": [
            {
                "up_to": None if tier.up_to is None else int(tier.up_to),
                "unit_price": f"{tier.unit_price:f}",
            }
            for tier in charge.tiers
        ],
    }
