"""Due times of cron expressions in a time zone.

A local time that is skipped when clocks go forward is due right after the change. A local time that
occurs twice is due once. Expressions that are due every hour follow elapsed time instead. The
library `cronsim` implements these rules of Debian's cron. Debian's cron also follows elapsed time
in expressions such as `0 */2 * * *` and `*/30 2 * * *`; this module does so only if the hour is `*`
or `*/1`.
"""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import islice, pairwise, takewhile
from zoneinfo import ZoneInfo

from cronsim import CronSim, CronSimError

from app.kit import errors

MAX_LENGTH = 100
_FIELD_COUNT = 5
_CHECKED_TIME_COUNT = 200
"""The number of due times to check. At one due time per minute, this is more than three hours."""
_SEARCHED_PERIODS = (timedelta(days=1), timedelta(days=32), timedelta(days=367))
"""The periods before now that `find_latest` searches, one after the other."""
_EVERY_HOUR = frozenset({"*", "*/1"})
_FULL_RANGES = ("0-59", "0-23")
"""The ranges that mean the same as `*`, for minutes and for hours."""
_CHECK_START = datetime(2024, 1, 1, tzinfo=UTC)
"""An arbitrary time, after which `check_expression` computes due times."""


def check_expression(expression: str, *, field: str, min_interval: timedelta) -> str:
    """Validate a cron expression, and return it with single spaces.

    Raises 400 for `field` if the expression is malformed, is never due, or has due times that are
    less than `min_interval` apart.
    """
    normalized = " ".join(expression.split())
    try:
        times = list(islice(iterate_times(normalized, "UTC", _CHECK_START), _CHECKED_TIME_COUNT))
    except CronSimError:
        times = []
    if not times or normalized.count(" ") != _FIELD_COUNT - 1:
        raise errors.invalid(
            "Must be a cron expression with five fields that is due at least once,"
            " for example `0 6 * * 1-5`.",
            field,
        )
    if any(later - earlier < min_interval for earlier, later in pairwise(times)):
        minutes = int(min_interval.total_seconds()) // 60
        message = f"Must not be due more often than once every {minutes} minutes."
        raise errors.invalid(message, field)
    return normalized


def iterate_times(expression: str, time_zone: str, after: datetime) -> Iterator[datetime]:
    """Yield the due times of an expression after `after`, in UTC.

    Stops if there is no due time within 50 years. Raises CronSimError if the expression is
    malformed.
    """
    local_after = after.astimezone(ZoneInfo(time_zone))
    for local_time in CronSim(_replace_wildcards(expression), local_after):
        # If `after` is in an hour that occurs twice, the library also returns times before it.
        if (due_at := local_time.astimezone(UTC)) > after:
            yield due_at


def _replace_wildcards(expression: str) -> str:
    """Replace `*` in minutes and hours with a range, unless the expression is due every hour.

    The library follows local times only if neither minutes nor hours begin with `*`.
    """
    fields = expression.split()
    if len(fields) != _FIELD_COUNT or fields[1] in _EVERY_HOUR:
        return expression
    for index, full_range in enumerate(_FULL_RANGES):
        if fields[index].startswith("*"):
            fields[index] = full_range + fields[index][1:]
    return " ".join(fields)


def find_next(expression: str, time_zone: str, after: datetime) -> datetime | None:
    """Return the first due time of an expression after `after`, or None if there is none."""
    return next(iterate_times(expression, time_zone, after), None)


def find_latest(expression: str, time_zone: str, first: datetime, now: datetime) -> datetime:
    """Return the latest due time from `first` to `now`. `first` must be a due time before `now`.

    Searches the last day first, then longer periods, because a year has 35,000 due times that are
    15 minutes apart.
    """
    starts = (now - period for period in _SEARCHED_PERIODS)
    for start in (*(start for start in starts if start > first), first):
        due_times = takewhile(now.__ge__, iterate_times(expression, time_zone, start))
        if (latest := max(due_times, default=None)) is not None:
            return latest
    return first
