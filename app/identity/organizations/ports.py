"""The interface through which this feature calls billing without importing billing."""

from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from app.kit.ports import Port


@dataclass(frozen=True)
class Billing:
    """The functions of billing that this feature calls.

    `cancel_scheduled_change` and `record_closed_time` apply to the current organization.
    `record_closed_time(plan, closed_at)` records that the time from `closed_at` until now is not
    billed. `plan` is the organization's plan. `list_unbilled(organization_ids)` returns the
    ids of those closed organizations whose last invoices are not complete.
    """

    cancel_scheduled_change: Callable[[], None]
    record_closed_time: Callable[[str, datetime], None]
    list_unbilled: Callable[[Sequence[UUID]], AbstractSet[UUID]]


billing = Port[Billing]()
