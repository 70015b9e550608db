"""The limits of an organization, and the allowances that other features request."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from app.billing.plans import catalogue
from app.billing.plans import service as plans
from app.billing.usage.queries import limits as queries
from app.billing.usage.queries import reading
from app.kit import db
from app.kit.plan_limits import Allowance, Meter, find_plan


class OrganizationLimits(NamedTuple):
    """The name of an organization's plan, and its limits; None means no limit."""

    plan: str
    by_meter: Mapping[Meter, int | None]

    @property
    def finite_limits(self) -> dict[Meter, int]:
        """Return the limits of the meters that have a limit."""
        return {meter: limit for meter, limit in self.by_meter.items() if limit is not None}


def get_limits() -> OrganizationLimits:
    """Return the limits of the current organization."""
    row = queries.get_plan()
    return build_limits(row.plan, row.limits)


def build_limits(plan: str, overrides: Mapping[str, Any]) -> OrganizationLimits:
    """Return the limits of a plan's newest version, replaced by the operator's limits."""
    return OrganizationLimits(plan, plans.merge_limits(catalogue.get_plan(plan), overrides))


def open_allowance(meters: Sequence[Meter]) -> Allowance:
    """Return the allowance of the current organization for meters; see `app.kit.plan_limits`."""
    plan_and_limits = find_plan()
    plan, by_meter = get_limits() if plan_and_limits is None else build_limits(*plan_and_limits)
    limits = {meter: limit for meter in meters if (limit := by_meter[meter]) is not None}
    if not limits:
        return Allowance(plan)
    db.session().flush()
    queries.lock_meters(tuple(limits))
    # A new statement, so that it sees what the previous holders of the locks have committed.
    month = reading.read_month(tuple(limits))
    return Allowance(plan, limits, {meter: month.get_used(meter) for meter in limits})
