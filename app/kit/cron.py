"""Times of cron expressions, in the time zone of the person who wrote them.

A time that daylight saving skips is due when the clock has jumped; one that it repeats is due once.
Expressions that are due every hour follow the real hours instead. These are the rules of Debian's
cron, which the library follows.
"""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import islice, pairwise
from zoneinfo import ZoneInfo

from cronsim import CronSim, CronSimError

from app.kit import errors

MAX_LENGTH = 100
_FIELDS = 5
_COMPARED = 200
"""How many times are compared with each other. An hour has at most 60."""
_START = datetime(2024, 1, 1, tzinfo=UTC)


def check_expression(expression: str, *, field: str, min_interval: timedelta) -> str:
    """Return a cron expression with single spaces.

    Raises 400 on `field` if it is malformed, never due, or due more often than `min_interval`.
    """
    normal = " ".join(expression.split())
    try:
        times = list(islice(iterate_times(normal, "UTC", _START), _COMPARED))
    except CronSimError:
        times = []
    if not times or normal.count(" ") != _FIELDS - 1:
        raise errors.invalid(
            "Must be a cron expression of five fields that is due on some day,"
            " such as `0 6 * * 1-5`.",
            field,
        )
    if any(second - first < min_interval for first, second in pairwise(times)):
        minutes = int(min_interval.total_seconds()) // 60
        raise errors.invalid(f"May be due every {minutes} minutes at most.", field)
    return normal


def iterate_times(expression: str, time_zone: str, after: datetime) -> Iterator[datetime]:
    """Yield the times of an expression after `after`, in UTC.

    Ends if there are none within 50 years. Raises CronSimError if the expression is malformed.
    """
    for found in CronSim(expression, after.astimezone(ZoneInfo(time_zone))):
        # From within a repeated hour, the library also returns times of its first pass.
        if (due := found.astimezone(UTC)) > after:
            yield due


def find_next(expression: str, time_zone: str, after: datetime) -> datetime | None:
    """Return the first time of an expression after `after`, or None if there is none."""
    return next(iterate_times(expression, time_zone, after), None)


def find_latest(expression: str, time_zone: str, first: datetime, now: datetime) -> datetime:
    """Return the latest time of an expression until `now`, not before the due time `first`."""
    latest = first
    for due in iterate_times(expression, time_zone, first):
        if due > now:
            break
        latest = due
    return latest
