"""Periods of whole days in a time zone, such as the last 30 days, and months in UTC."""

from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import NamedTuple
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from app.kit import db, errors

MAX_DAYS = 366
_DEFAULT_DAYS = 30
_FIRST_YEAR, _LAST_YEAR = 1970, 2999
_DAY = timedelta(days=1)


class TimeRange(NamedTuple):
    """A period of time with an exclusive end."""

    start: datetime
    end: datetime


@dataclass(frozen=True, slots=True)
class Period:
    """The days from `first`, inclusive, to `end`, exclusive, in the time zone `zone`."""

    zone: str
    first: date
    end: date

    @property
    def days(self) -> list[date]:
        """Return the days of the period in order."""
        return [self.first + n * _DAY for n in range((self.end - self.first).days)]

    @property
    def edges(self) -> list[datetime]:
        """Return the midnights at the start of each day and at the end of the last day, in UTC."""
        zone = ZoneInfo(self.zone)
        days = [*self.days, self.end]
        return [datetime.combine(day, time.min, zone).astimezone(UTC) for day in days]


def find_zone(name: str) -> ZoneInfo:
    """Return the time zone with this name, or UTC if this machine does not know it."""
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return ZoneInfo("UTC")


def get_month_bounds(at: datetime) -> TimeRange:
    """Return the UTC month that contains `at`; its end is the start of the next month."""
    first = at.astimezone(UTC).replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    if first.month < 12:  # noqa: PLR2004 - December
        return TimeRange(first, first.replace(month=first.month + 1))
    return TimeRange(first, first.replace(year=first.year + 1, month=1))


def get_period(zone: str, first: date | None, end: date | None) -> Period:
    """Return the period from `first` to `end`, by default the last 30 days including today.

    `end` is exclusive and is tomorrow by default. `first` is 30 days before `end` by default. A
    time zone that this machine does not know is treated as UTC. Raises 400 for `from` or `to` if
    the period is empty, too long or outside the supported years.
    """
    zone_info = find_zone(zone)
    today = db.utc_now().astimezone(zone_info).date()
    for field, day in (("from", first), ("to", end)):
        if day is not None and not _FIRST_YEAR <= day.year <= _LAST_YEAR:
            raise errors.invalid(f"The year must be between {_FIRST_YEAR} and {_LAST_YEAR}.", field)
    period_end = today + _DAY if end is None else end
    start = period_end - _DEFAULT_DAYS * _DAY if first is None else first
    if start >= period_end:
        raise errors.invalid("Must be before the end of the period, which is exclusive.", "from")
    if (period_end - start).days > MAX_DAYS:
        raise errors.invalid(f"The period must not be longer than {MAX_DAYS} days.", "from")
    return Period(zone_info.key, start, period_end)
