"""Plan limits: the interface that features use to check whether the plan allows an addition.

Billing implements the interface, and the factory binds the implementation. A check and the addition
that it allows run in one transaction. If a meter has a limit, other checks of the meter for this
organization wait until this transaction ends. If the meter has no limit, nothing is locked or
counted. A transaction must check limits before it locks the contents of documents.
"""

from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from app.kit import tenancy
from app.kit.errors import ApiError
from app.kit.ports import Port
from app.kit.principal import Organization

ERROR_CODE = "plan_limit_reached"


class Meter(StrEnum):
    """Quantities that a plan can limit. The values are used in plans, the API and the database."""

    MEMBERS = "members"
    DOCUMENTS = "documents_per_month"
    STORED_BYTES = "stored_bytes"
    ACTIVE_SCHEMAS = "active_schemas"
    CONNECTORS = "connectors"
    WEBHOOKS = "webhooks"
    AI_PAGES = "ai_pages_per_month"

    @property
    def is_monthly(self) -> bool:
        """Return whether the meter counts additions per month instead of existing records."""
        return self in (Meter.DOCUMENTS, Meter.AI_PAGES)


_NOUNS: Mapping[Meter, str] = {
    Meter.MEMBERS: "members",
    Meter.DOCUMENTS: "documents this month",
    Meter.STORED_BYTES: "stored bytes",
    Meter.ACTIVE_SCHEMAS: "active schemas",
    Meter.CONNECTORS: "connectors",
    Meter.WEBHOOKS: "webhooks",
    Meter.AI_PAGES: "pages with AI assistance this month",
}


@dataclass
class Allowance:
    """The plan limits and the usage of the current organization until the transaction ends.

    `limits` contains only meters that have a limit. `used` contains their current usage.
    """

    plan: str
    limits: Mapping[Meter, int] = field(default_factory=dict)
    used: dict[Meter, int] = field(default_factory=dict)

    def add_usage(self, quantities: Mapping[Meter, int]) -> None:
        """Add all quantities to the usage.

        Raises 402 `plan_limit_reached` and adds nothing if a limit would be exceeded.
        """
        for meter, quantity in quantities.items():
            limit = self.limits.get(meter)
            if limit is not None and quantity > 0 and self.used[meter] + quantity > limit:
                raise self._build_error(meter, limit)
        for meter in self.limits:
            self.used[meter] += quantities.get(meter, 0)

    def _build_error(self, meter: Meter, limit: int) -> ApiError:
        return ApiError(
            ERROR_CODE,
            f"The plan allows {limit} {_NOUNS[meter]}, and {self.used[meter]} are in use. Reduce"
            " the usage, or choose a larger plan.",
            details={
                "meter": str(meter),
                "limit": limit,
                "used": self.used[meter],
                "plan": self.plan,
            },
        )


_caller_organization: ContextVar[Organization | None] = ContextVar(
    "caller_organization", default=None
)


def set_caller_organization(organization: Organization | None) -> None:
    """Set the organization of the running request, as authentication has loaded it."""
    _caller_organization.set(organization)


def find_plan() -> tuple[str, Mapping[str, Any]] | None:
    """Return the current organization's plan and custom limits, if authentication has read them.

    Returns None otherwise, for example in jobs.
    """
    organization = _caller_organization.get()
    if organization is None or organization.plan is None:
        return None
    if organization.id != tenancy.find_organization_id():
        return None
    return organization.plan, organization.plan_limits


implementation = Port[Callable[[Sequence[Meter]], Allowance]]()
"""The port of the function that `open_allowance` calls."""


def open_allowance(*meters: Meter) -> Allowance:
    """Return the allowance of the current organization for these meters.

    The meters that have a limit stay locked until the transaction ends. Earlier additions in this
    transaction count as used.
    """
    return implementation.get()(meters)


def reserve(meter: Meter, quantity: int = 1) -> None:
    """Reserve `quantity` on a meter. Call this before the transaction adds the quantity.

    Raises 402 `plan_limit_reached` if the limit would be exceeded.
    """
    open_allowance(meter).add_usage({meter: quantity})


def check_added(meter: Meter, quantity: int = 1) -> None:
    """Check that the plan allows the `quantity` that this transaction has just added.

    Use it instead of `reserve` if only the insertion of a row shows whether the row is new. Raises
    402 `plan_limit_reached` if the limit is exceeded. The caller must then roll back.
    """
    allowance = open_allowance(meter)
    if meter in allowance.limits:
        allowance.used[meter] -= quantity
    allowance.add_usage({meter: quantity})
