"""The limits of an organization, and the allowances that other rooms ask for."""

from collections.abc import Mapping, Sequence
from typing import Any

from app.billing.plans import catalogue
from app.billing.usage.queries import limits as queries
from app.billing.usage.queries import reading
from app.kit import db
from app.kit.plan_limits import Allowance, Meter


def merge_limits(plan: str, overrides: Mapping[str, Any]) -> dict[Meter, int | None]:
    """Return the limits of a plan's newest version with those that the operator has set."""
    limits = {**catalogue.get_plan(plan).limits, **overrides}
    return {meter: limits[meter] for meter in Meter}


def open_allowance(meters: Sequence[Meter]) -> Allowance:
    """Return what the plan allows; see `app.kit.plan_limits`."""
    row = queries.get_plan()
    merged = merge_limits(row.plan, row.limits)
    limits = {meter: limit for meter in meters if (limit := merged[meter]) is not None}
    if not limits:
        return Allowance(row.plan)
    db.session().flush()
    queries.lock_meters(tuple(limits))
    # A new statement, so that it sees what the previous holders of the locks have committed.
    month = reading.read_month(tuple(limits))
    return Allowance(row.plan, limits, {meter: month.used(meter) for meter in limits})
