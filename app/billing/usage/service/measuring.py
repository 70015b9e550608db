"""Measure the usage of an organization in a period, for invoices."""

from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from uuid import UUID

from app.billing.usage.queries import reading as queries
from app.kit.plan_limits import Meter

_DAY = timedelta(days=1)


def measure_period(start: datetime, end: datetime) -> dict[str, int]:
    """Return the usage of each meter by the current organization from `start` until before `end`.

    For monthly meters, the usage is the sum of the added quantities. For other meters, it is the
    highest daily level, which is the level at the end of a day in UTC; for today, it is the current
    level. Reads only the meters. Both times must be midnight in UTC; `end` may be in the future.
    Raises ValueError.
    """
    first, following = _to_day(start), _to_day(end)
    return _sum_days(queries.read_days(tuple(Meter), first, following), first)


def measure_many(
    organization_ids: Sequence[UUID], start: datetime, end: datetime
) -> dict[UUID, dict[str, int]]:
    """Return the result of `measure_period` for many organizations, read in one statement.

    All organizations must be bound.
    """
    first, following = _to_day(start), _to_day(end)
    rows = queries.read_days_by_organization(organization_ids, tuple(Meter), first, following)
    return {key: _sum_days(rows[key], first) for key in organization_ids}


def settle_many(organization_ids: Sequence[UUID], end: datetime) -> None:
    """Settle the usage of many organizations, which must be bound; see `settle_period`."""
    queries.settle_many(organization_ids, _to_day(end))


def _sum_days(rows: Sequence[queries.DayRow], first: date) -> dict[str, int]:
    """Return the sums of monthly meters, and the highest levels of other meters."""
    quantities = dict.fromkeys(map(str, Meter), 0)
    changed_on_first = {row.meter for row in rows if row.day == first}
    for row in rows:
        if Meter(row.meter).is_monthly:
            quantities[row.meter] += row.added
        elif row.day >= first or row.meter not in changed_on_first:
            # The first row has the level before the period, which is valid until the first change.
            quantities[row.meter] = max(quantities[row.meter], row.level)
    return quantities


def settle_period(end: datetime) -> None:
    """Settle the usage of the current organization before `end`, which must be midnight in UTC.

    Call this before `measure_period`, in the transaction that writes the invoice. Changes of
    transactions that began before `end` and commit later count on the day that begins at `end`, so
    only in the next period. Settling again changes nothing. Raises ValueError.
    """
    queries.settle(_to_day(end))


def _to_day(time: datetime) -> date:
    utc_time = time.astimezone(UTC)
    if utc_time.replace(hour=0, minute=0, second=0, microsecond=0) != utc_time:
        raise ValueError(f"{time.isoformat()} is not midnight in UTC")
    return utc_time.date()
