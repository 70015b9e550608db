"""Report the usage of the current month, and the usage history by day."""

from datetime import date, timedelta
from typing import Any

from app.billing.usage import queries
from app.billing.usage.queries import DayRow
from app.billing.usage.service.limits import get_limits
from app.billing.usage.service.warnings import find_reached_percent
from app.kit import db
from app.kit.days import Period, get_period
from app.kit.plan_limits import Meter

_DAY = timedelta(days=1)
WARNINGS = {None: None, 80: "near_limit", 100: "limit_reached"}
"""The API value of `warning` for each result of `find_reached_percent`."""


def describe_usage() -> dict[str, Any]:
    """Return the plan and the current month, with the usage, limit and warning of each meter."""
    limits = get_limits()
    usage = queries.read_month(tuple(Meter))
    return {
        "plan": limits.plan,
        "period": {"from": usage.first, "to": get_next_month(usage.first)},
        "meters": [
            {
                "meter": str(meter),
                "used": usage.get_used_quantity(meter),
                "limit": limits.by_meter[meter],
                "warning": WARNINGS[
                    find_reached_percent(usage.get_used_quantity(meter), limits.by_meter[meter])
                ],
            }
            for meter in Meter
        ],
    }


def describe_history(
    *, first: date | None = None, end: date | None = None, meter: str | None = None
) -> dict[str, Any]:
    """Return the usage of each meter, or only of `meter`, on each day from `first` to `end`.

    `end` is exclusive. Days are in UTC, and days in the future are omitted. By default, the period
    is the last 30 days. Raises 400 `validation_error` for an invalid period.
    """
    period = get_period("UTC", first, end)
    meters = tuple(Meter) if meter is None else (Meter(meter),)
    # Monthly meters start at zero on the first day of each month.
    start = period.first.replace(day=1)
    rows = queries.read_days(meters, start, period.end)
    return {
        "from": period.first,
        "to": period.end,
        "meters": [
            {
                "meter": str(name),
                "days": _list_daily_usage(name, [row for row in rows if row.meter == name], period),
            }
            for name in meters
        ],
    }


def _list_daily_usage(meter: Meter, rows: list[DayRow], period: Period) -> list[dict[str, Any]]:
    """List the usage of a meter on each day of a period, up to today.

    `rows` are the days with changes, from the start of the month of `period.first`. The first row
    must be for the day before that month, because its level is the level at the start.
    """
    changes = {row.day: row for row in rows}
    level, added_in_month = rows[0].level, 0
    day, today = rows[0].day + _DAY, db.utc_now().date()
    days = []
    while day < period.end and day <= today:
        row = changes.get(day)
        level = level if row is None else row.level
        added = 0 if row is None else row.added
        added_in_month = added if day.day == 1 else added_in_month + added
        if day >= period.first:
            days.append(
                {
                    "day": day,
                    "used": added_in_month if meter.is_monthly else level,
                    "added": added,
                    "removed": 0 if row is None else row.removed,
                }
            )
        day += _DAY
    return days


def get_next_month(first: date) -> date:
    """Return the first day of the month after the month that begins on `first`."""
    return (first + 31 * _DAY).replace(day=1)
