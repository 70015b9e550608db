"""Measure what an organization used in a period, for invoices."""

from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from uuid import UUID

from app.billing.usage.queries import reading as queries
from app.kit.plan_limits import Meter

_DAY = timedelta(days=1)


def measure_period(start: datetime, end: datetime) -> dict[str, int]:
    """Return the use of each meter by the current organization from `start` until before `end`.

    For meters that count what happens in a month, this is the sum of what was added. For the
    others, it is the highest daily level, which is the level at the end of a day in UTC; the
    running day has its present level. Reads the meters only. Both times must be midnight in UTC;
    `end` may be in the future. Raises ValueError.
    """
    first, following = _to_day(start), _to_day(end)
    return _sum_days(queries.read_days(tuple(Meter), first, following), first)


def measure_many(
    organization_ids: Sequence[UUID], start: datetime, end: datetime
) -> dict[UUID, dict[str, int]]:
    """Return what `measure_period` returns, for many organizations in one statement.

    All organizations must be bound.
    """
    first, following = _to_day(start), _to_day(end)
    rows = queries.read_days_of_many(organization_ids, tuple(Meter), first, following)
    return {key: _sum_days(rows[key], first) for key in organization_ids}


def settle_many(organization_ids: Sequence[UUID], end: datetime) -> None:
    """Do what `settle_period` does, for many organizations, which must be bound."""
    queries.settle_many(organization_ids, _to_day(end))


def _sum_days(rows: Sequence[queries.DayRow], first: date) -> dict[str, int]:
    """Return the sums of monthly meters, and the highest levels of the others."""
    used = dict.fromkeys(map(str, Meter), 0)
    changed_on_first = {row.meter for row in rows if row.day == first}
    for row in rows:
        if Meter(row.meter).is_monthly:
            used[row.meter] += row.added
        elif row.day >= first or row.meter not in changed_on_first:
            # The first row has the level before the period, which lasts until the first change.
            used[row.meter] = max(used[row.meter], row.level)
    return used


def settle_period(end: datetime) -> None:
    """Fix the use of the current organization before `end`, which must be midnight in UTC.

    Call this before `measure_period`, in the transaction that writes the invoice. Changes of
    transactions that began before `end` and commit later count on the day that begins at `end`:
    in the next period, and in no other. Settling again changes nothing. Raises ValueError.
    """
    queries.settle(_to_day(end))


def _to_day(time: datetime) -> date:
    moment = time.astimezone(UTC)
    if moment.replace(hour=0, minute=0, second=0, microsecond=0) != moment:
        raise ValueError(f"{time.isoformat()} is not midnight in UTC")
    return moment.date()
