"""The port through which this feature calls billing, which it must not import."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True)
class Billing:
    """Functions of billing for the current organization.

    `record_closed_time(plan, closed_at)` records that the time from `closed_at` until now is not
    billed. `plan` is the organization's plan.
    """

    cancel_scheduled_change: Callable[[], None]
    record_closed_time: Callable[[str, datetime], None]


_bound_functions: list[Billing] = []


def bind_billing(billing: Billing) -> None:
    """Bind the functions that `get_billing` returns. The application calls this at startup."""
    _bound_functions[:] = [billing]


def get_billing() -> Billing:
    """Return the functions that `bind_billing` has set."""
    return _bound_functions[0]
