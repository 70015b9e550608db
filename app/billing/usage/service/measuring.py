"""Measure the usage of organizations in a period, for invoices."""

from collections.abc import Sequence
from datetime import UTC, date, datetime
from uuid import UUID

from app.billing.usage import queries
from app.kit import tenancy
from app.kit.plan_limits import Meter


def measure_period(start: datetime, end: datetime) -> dict[str, int]:
    """Measure the current organization's usage of each meter from `start` to `end` (exclusive).

    For monthly meters, the usage is the sum of the added quantities. For other meters, it is the
    highest daily level. The daily level is the level at the end of a day in UTC, or the current
    level for today. Reads only the meters, not the rows that they measure. `end` may be in the
    future. Raises ValueError unless both times are midnight in UTC.
    """
    organization_id = tenancy.current_organization_id()
    return measure_many([organization_id], start, end)[organization_id]


def measure_many(
    organization_ids: Sequence[UUID], start: datetime, end: datetime
) -> dict[UUID, dict[str, int]]:
    """Measure the usage of many organizations in a period, with one SQL statement.

    Returns, for each organization, the same result as `measure_period`. Requires access to all
    organizations, unless the only id is that of the current organization.
    """
    first_day, end_day = _to_utc_day(start), _to_utc_day(end)
    quantities: dict[UUID, dict[str, int]] = {key: {} for key in organization_ids}
    for row in queries.measure_many(organization_ids, tuple(Meter), first_day, end_day):
        is_monthly = Meter(row.meter).is_monthly
        quantity = row.added if is_monthly else max(0, row.highest_level)
        quantities[row.organization_id][row.meter] = quantity
    return quantities


def settle_many(organization_ids: Sequence[UUID], end: datetime) -> None:
    """Settle the usage of many organizations up to `end`, which must be midnight in UTC.

    Call this before `measure_many`, in the transaction that writes the invoices. A change by a
    transaction that began before `end` but commits after this call counts on the day that begins at
    `end`, so it belongs to the next period. Repeated calls have no effect. Requires access to all
    organizations. Raises ValueError if `end` is not midnight in UTC.
    """
    queries.settle_many(organization_ids, _to_utc_day(end))


def _to_utc_day(at: datetime) -> date:
    utc_time = at.astimezone(UTC)
    if utc_time.replace(hour=0, minute=0, second=0, microsecond=0) != utc_time:
        raise ValueError(f"{at.isoformat()} is not midnight in UTC")
    return utc_time.date()
