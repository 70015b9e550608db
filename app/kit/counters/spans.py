"""Division of periods into buckets of a month, a day or an hour.

A bucket includes its end but not its start (see `as_hour` in `migrations/counting.py`).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

MONTH, DAY, HOUR = 7, 10, 13
"""The bucket levels. Each value is the number of characters in the names of its buckets."""

_ONE_HOUR = timedelta(hours=1)
_ONE_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class BucketRange:
    """Buckets of one level from `first` up to but excluding `end`. None means no bound."""

    level: int
    first: str | None
    end: str | None


def format_bucket(at: datetime, level: int) -> str:
    """Return the name of the bucket that starts at `at`.

    The name consists of the first `level` characters of the time in UTC.
    """
    utc = at.astimezone(UTC)
    return utc.isoformat()[:level]


def round_down(at: datetime, level: int) -> datetime:
    """Return the start, in UTC, of the last bucket that does not start after `at`."""
    hour = at.astimezone(UTC).replace(minute=0, second=0, microsecond=0)
    if level == HOUR:
        return hour
    day = hour.replace(hour=0)
    return day if level == DAY else day.replace(day=1)


def round_up(at: datetime, level: int) -> datetime:
    """Return the start, in UTC, of the first bucket that does not start before `at`.

    Raises OverflowError if the calendar has no such bucket.
    """
    rounded_down = round_down(at, level)
    return rounded_down if rounded_down == at else _compute_next_start(rounded_down, level)


def _compute_next_start(begin: datetime, level: int) -> datetime:
    if level == MONTH:
        return round_down(begin + 31 * _ONE_DAY, level)
    return begin + (_ONE_DAY if level == DAY else _ONE_HOUR)


def split(levels: Sequence[int], first: datetime | None, end: datetime | None) -> list[BucketRange]:
    """Split a span into ranges of buckets that are as coarse as possible.

    `levels` is ordered from coarse to fine. `first` and `end` are start times of buckets of the
    finest level. None means no bound.
    """
    level, *finer_levels = levels
    try:
        inner_first = None if first is None else round_up(first, level)
    except OverflowError:  # the calendar has no later bucket of this level
        return split(finer_levels, first, end)
    inner_end = None if end is None else round_down(end, level)
    if inner_first is not None and inner_end is not None and inner_first >= inner_end:
        return split(finer_levels, first, end) if finer_levels else []
    ranges = [
        BucketRange(level, _format_bound(inner_first, level), _format_bound(inner_end, level))
    ]
    if finer_levels and first is not None and first != inner_first:
        ranges += split(finer_levels, first, inner_first)
    if finer_levels and end is not None and end != inner_end:
        ranges += split(finer_levels, inner_end, end)
    return ranges


def _format_bound(at: datetime | None, level: int) -> str | None:
    return None if at is None else format_bucket(at, level)
