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

    `cancel_scheduled_change()` deletes the scheduled plan change of the current organization, if
    any. `record_closed_time(plan, closed_at)` records that the current organization, which has the
    plan `plan`, is not billed for the time from `closed_at` until now.
    `find_unbilled_ids(organization_ids)` returns the ids of those closed organizations whose last
    invoices are not complete.
    """

    cancel_scheduled_change: Callable[[], None]
    record_closed_time: Callable[[str, datetime], None]
    find_unbilled_ids: Callable[[Sequence[UUID]], AbstractSet[UUID]]


billing = Port[Billing]()
