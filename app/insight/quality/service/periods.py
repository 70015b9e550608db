"""Periods of whole days in the time zone of the organization, and their buckets."""

from datetime import date, timedelta

from app.identity.organizations import service as organizations
from app.insight.quality.models import SumUnit
from app.insight.quality.queries.selections import round_up
from app.kit import db, errors
from app.kit.days import Period, find_zone
from app.kit.principal import Caller

DEFAULT_DAYS = 30
MAX_DAYS = 1_830
"""The maximum number of days in a period: five years."""
MAX_BUCKETS = 400
_DAY = timedelta(days=1)
_MAX_FIRST_DAY = date(9990, 1, 1)


def get_period(caller: Caller, first: date | None, end: date | None) -> Period:
    """Return the period of a request; by default the last 30 days, including today.

    If `end` is None, the period ends with today, or has 30 days if `first` is in the future. If
    `first` is None, the period has 30 days. Raises 400 for `to` if the period is empty, and for
    `from` if the period is longer than `MAX_DAYS` or begins after `_MAX_FIRST_DAY`.
    """
    zone = caller.org.settings.get("time_zone") or organizations.DEFAULT_TIME_ZONE
    if first is not None and first > _MAX_FIRST_DAY:
        raise errors.invalid(f"Must not be after {_MAX_FIRST_DAY}.", "from")
    if end is None:
        end = get_today(zone) + _DAY
        if first is not None and first >= end:
            end = first + DEFAULT_DAYS * _DAY
    if first is None:
        first = max(end, date.min + DEFAULT_DAYS * _DAY) - DEFAULT_DAYS * _DAY
    if first >= end:
        raise errors.invalid("Must be after `from`; the end is exclusive.", "to")
    if (end - first).days > MAX_DAYS:
        raise errors.invalid(f"The period must have at most {MAX_DAYS} days.", "from")
    return Period(zone, first, end)


def list_buckets(period: Period, unit: str) -> list[tuple[date, date]]:
    """List the buckets of a period as (first, end): days, weeks from Monday, or months.

    The first and the last bucket are clipped to the period. Raises 400 for `bucket` if there would
    be more than `MAX_BUCKETS` buckets.
    """
    buckets: list[tuple[date, date]] = []
    start = period.first
    while start < period.end:
        if len(buckets) == MAX_BUCKETS:
            raise errors.invalid(
                f"The period has more than {MAX_BUCKETS} buckets. Use longer buckets.", "bucket"
            )
        end = min(_get_next_start(start, unit), period.end)
        buckets.append((start, end))
        start = end
    return buckets


def _get_next_start(day: date, unit: str) -> date:
    """Return the start of the next bucket, or `date.max` if it would be later."""
    try:
        return round_up(day + _DAY, SumUnit(unit))
    except OverflowError:
        return date.max


def get_today(zone: str) -> date:
    """Return the current day in a time zone, or in UTC if the zone is unknown."""
    return db.utc_now().astimezone(find_zone(zone)).date()
