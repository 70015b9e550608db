"""Read an organization's limits, and build the allowances that features check."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from app.billing.plans import catalog
from app.billing.plans import queries as plan_queries
from app.billing.plans import service as plans
from app.billing.usage import queries
from app.kit import db
from app.kit.plan_limits import Allowance, Meter, find_plan


class OrganizationLimits(NamedTuple):
    """The name of an organization's plan, and the limits by meter; None means no limit."""

    plan: str
    by_meter: Mapping[Meter, int | None]

    @property
    def finite_limits(self) -> dict[Meter, int]:
        """Return the limits of all meters that have a limit."""
        return {meter: limit for meter, limit in self.by_meter.items() if limit is not None}


def get_limits() -> OrganizationLimits:
    """Return the limits of the current organization."""
    row = plan_queries.get_plan()
    return build_limits(row.plan, row.limits)


def build_limits(plan: str, overrides: Mapping[str, Any]) -> OrganizationLimits:
    """Build the limits from a plan's newest version; the operator's `overrides` take precedence."""
    return OrganizationLimits(plan, plans.merge_limits(catalog.get_plan(plan), overrides))


def open_allowance(meters: Sequence[Meter]) -> Allowance:
    """Lock those of the meters that have a limit, and return their limits and their current usage.

    The locks are held until the transaction ends. Calls for the same meters wait until then.
    """
    preloaded_plan = find_plan()
    plan, by_meter = get_limits() if preloaded_plan is None else build_limits(*preloaded_plan)
    limits = {meter: limit for meter in meters if (limit := by_meter[meter]) is not None}
    if not limits:
        return Allowance(plan)
    db.session().flush()
    queries.lock_meters(tuple(limits))
    # The usage is read in a new statement, which sees what the previous owners of the locks have
    # committed.
    usage = queries.read_month(tuple(limits))
    # The plan may have changed after the caller was authenticated. Plan changes lock meters, too.
    current_limits = build_limits(usage.plan, usage.plan_limits).finite_limits
    limits = {meter: current_limits[meter] for meter in limits if meter in current_limits}
    return Allowance(
        usage.plan, limits, {meter: usage.get_used_quantity(meter) for meter in limits}
    )
