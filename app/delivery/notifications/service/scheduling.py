"""The time at which a user gets an email: at once, in a digest, and never in the quiet hours."""

from datetime import UTC, date, datetime, time, timedelta
from typing import NamedTuple
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from app.delivery.notifications.models import EmailFrequency

DAILY_AT = time(8)
"""The local time of the daily digest."""
_HOUR = timedelta(hours=1)
_DAY = timedelta(days=1)


class Delivery(NamedTuple):
    """How a user gets emails. The quiet hours are local times; both are None if there are none."""

    email_frequency: str
    quiet_from: time | None
    quiet_to: time | None
    time_zone: str


def compute_send_time(delivery: Delivery, *, since: datetime, now: datetime) -> datetime:
    """Return the time for the email of a notification of `since`: `now` or later."""
    zone = _get_zone(delivery.time_zone)
    frequency = delivery.email_frequency
    if frequency == EmailFrequency.HOURLY:
        at = _get_next_hour(since, zone)
    elif frequency == EmailFrequency.DAILY:
        at = _get_next_daily(since, zone)
    else:
        at = now
    return _get_end_of_quiet(delivery, max(at, now), zone)


def _get_zone(name: str) -> ZoneInfo:
    """Return a time zone, or UTC if this machine does not know it."""
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return ZoneInfo("UTC")


def _get_next_hour(since: datetime, zone: ZoneInfo) -> datetime:
    # Local hours begin at another minute than those of UTC in some zones.
    local = since.astimezone(zone)
    begun = timedelta(minutes=local.minute, seconds=local.second, microseconds=local.microsecond)
    return since - begun + _HOUR


def _get_next_daily(since: datetime, zone: ZoneInfo) -> datetime:
    today = since.astimezone(zone).date()
    at = _get_last(today, DAILY_AT, zone)
    return at if at > since else _get_last(today + _DAY, DAILY_AT, zone)


def _get_end_of_quiet(delivery: Delivery, at: datetime, zone: ZoneInfo) -> datetime:
    """Return the end of the quiet hours that contain `at`, or `at` if none do."""
    begin, end = delivery.quiet_from, delivery.quiet_to
    if begin is None or end is None:
        return at
    today = at.astimezone(zone).date()
    for day in (today - _DAY, today):
        last_day = day if begin < end else day + _DAY
        quiet_end = _get_last(last_day, end, zone)
        if _get_first(day, begin, zone) <= at < quiet_end:
            return quiet_end
    return at


def _get_first(day: date, at: time, zone: ZoneInfo) -> datetime:
    """Return when a local time occurs first, if the clocks are set back."""
    return min(_list_occurrences(day, at, zone))


def _get_last(day: date, at: time, zone: ZoneInfo) -> datetime:
    """Return when a local time occurs last, if the clocks are set back.

    If the clocks are set forward and skip it, return when it would have been.
    """
    return max(_list_occurrences(day, at, zone))


def _list_occurrences(day: date, at: time, zone: ZoneInfo) -> list[datetime]:
    local = datetime.combine(day, at, zone)
    return [local.replace(fold=fold).astimezone(UTC) for fold in (0, 1)]
