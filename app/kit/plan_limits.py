"""Plan limits: the interface with which features check whether something may be added.

Billing implements it, and the factory binds the implementation. A check and the addition that it
allows run in one transaction. If a meter has a limit, other checks of it for this organization wait
until this transaction ends. Without a limit, nothing is locked or counted. A transaction must check
limits before it locks the contents of documents.
"""

from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from app.kit import tenancy
from app.kit.errors import ApiError
from app.kit.principal import Organization

CODE = "plan_limit_reached"


class Meter(StrEnum):
    """Meters. The values are their names in plans, in the API and in the database."""

    MEMBERS = "members"
    DOCUMENTS = "documents_per_month"
    STORED_BYTES = "stored_bytes"
    ACTIVE_SCHEMAS = "active_schemas"
    CONNECTORS = "connectors"
    WEBHOOKS = "webhooks"
    AI_PAGES = "ai_pages_per_month"

    @property
    def is_monthly(self) -> bool:
        """Return whether the meter counts additions per month, and is not a current level."""
        return self in (Meter.DOCUMENTS, Meter.AI_PAGES)


_NOUNS: Mapping[Meter, str] = {
    Meter.MEMBERS: "members",
    Meter.DOCUMENTS: "documents in this month",
    Meter.STORED_BYTES: "stored bytes",
    Meter.ACTIVE_SCHEMAS: "active schemas",
    Meter.CONNECTORS: "connectors",
    Meter.WEBHOOKS: "webhooks",
    Meter.AI_PAGES: "pages with AI assistance in this month",
}


@dataclass
class Allowance:
    """What the plan allows the current organization until the end of the transaction.

    `limits` has only meters with a limit, and `used` has their current usage.
    """

    plan: str
    limits: Mapping[Meter, int] = field(default_factory=dict)
    used: dict[Meter, int] = field(default_factory=dict)

    def take(self, quantities: Mapping[Meter, int]) -> None:
        """Add all quantities to the usage, or none. Raises 402 `plan_limit_reached`."""
        for meter, quantity in quantities.items():
            limit = self.limits.get(meter)
            if limit is not None and quantity > 0 and self.used[meter] + quantity > limit:
                raise self._build_error(meter, limit)
        for meter in self.limits:
            self.used[meter] += quantities.get(meter, 0)

    def _build_error(self, meter: Meter, limit: int) -> ApiError:
        return ApiError(
            CODE,
            f"The plan allows {limit} {_NOUNS[meter]}, and {self.used[meter]} are in use. Use less,"
            " or choose a larger plan.",
            details={
                "meter": str(meter),
                "limit": limit,
                "used": self.used[meter],
                "plan": self.plan,
            },
        )


_caller_organization: ContextVar[Organization | None] = ContextVar("plan_of", default=None)


def set_caller_organization(organization: Organization | None) -> None:
    """Set the organization of the running request, with its plan as authentication has read it."""
    _caller_organization.set(organization)


def find_plan() -> tuple[str, Mapping[str, Any]] | None:
    """Return the current organization's plan and custom limits, as authentication has read them.

    Return None if authentication has not read them, as in jobs.
    """
    organization = _caller_organization.get()
    if organization is None or organization.plan is None:
        return None
    if organization.id != tenancy.find_organization_id():
        return None
    return organization.plan, organization.plan_limits


OpenAllowance = Callable[[Sequence[Meter]], Allowance]
_implementation: list[OpenAllowance] = []


def bind(implementation: OpenAllowance) -> None:
    """Set the function that `open_allowance` calls."""
    _implementation[:] = [implementation]


def open_allowance(*meters: Meter) -> Allowance:
    """Return the allowance of the current organization for these meters.

    Locks the meters that have a limit until the transaction ends. Earlier additions of this
    transaction count as used.
    """
    return _implementation[0](meters)


def reserve(meter: Meter, quantity: int = 1) -> None:
    """Check that `quantity` may be added to a meter. Raises 402 `plan_limit_reached`."""
    open_allowance(meter).take({meter: quantity})


def confirm(meter: Meter, quantity: int = 1) -> None:
    """Check that this transaction was allowed to add the `quantity` that it has just added.

    Use it if only the insertion of a row shows whether the row is new. Raises 402
    `plan_limit_reached`; the caller must then roll back.
    """
    allowance = open_allowance(meter)
    if meter in allowance.limits:
        allowance.used[meter] -= quantity
    allowance.take({meter: quantity})
