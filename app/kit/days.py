"""Periods that consist of whole days in a time zone, such as the last 30 days."""

from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from app.kit import db, errors

MAX_DAYS = 366
_DEFAULT_DAYS = 30
_YEARS = (1970, 2999)
_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Period:
    """The days from `first` to `last`, inclusive, in the time zone `zone`."""

    zone: str
    first: date
    last: date

    @property
    def days(self) -> list[date]:
        """Return the days of the period in order."""
        return [self.first + n * _DAY for n in range((self.last - self.first).days + 1)]

    @property
    def edges(self) -> list[datetime]:
        """Return the midnights at the start of each day and at the end of the last day, in UTC."""
        zone = ZoneInfo(self.zone)
        days = [*self.days, self.last + _DAY]
        return [datetime.combine(day, time.min, zone).astimezone(UTC) for day in days]


def get_period(zone: str, first: date | None, last: date | None) -> Period:
    """Return the period from `first` to `last`, by default the last 30 days.

    A time zone that this machine does not know is treated as UTC. Raises 400 for `from` or `to` if
    the period is invalid.
    """
    try:
        today = db.utc_now().astimezone(ZoneInfo(zone)).date()
    except (ZoneInfoNotFoundError, ValueError, OSError):
        zone, today = "UTC", db.utc_now().date()
    for field, day in (("from", first), ("to", last)):
        if day is not None and not _YEARS[0] <= day.year <= _YEARS[1]:
            raise errors.invalid(f"The year must be between {_YEARS[0]} and {_YEARS[1]}.", field)
    end = today if last is None else last
    start = end - (_DEFAULT_DAYS - 1) * _DAY if first is None else first
    if start > end:
        raise errors.invalid("Must not be after the end of the period.", "from")
    if (end - start).days >= MAX_DAYS:
        raise errors.invalid(f"The period must not be longer than {MAX_DAYS} days.", "from")
    return Period(zone, start, end)
