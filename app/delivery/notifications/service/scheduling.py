"""Computation of send times for emails: immediately or in a digest, never in the quiet hours."""

from datetime import UTC, date, datetime, time, timedelta
from typing import NamedTuple
from zoneinfo import ZoneInfo

from app.delivery.notifications.models import EmailFrequency
from app.kit.days import find_zone

DAILY_DIGEST_TIME = time(8)
"""The local time of the daily digest."""
_HOUR = timedelta(hours=1)
_DAY = timedelta(days=1)


class EmailSchedule(NamedTuple):
    """A user's preferences for notification emails.

    The quiet hours are local times in `time_zone`; both are None if the user has no quiet hours.
    """

    email_frequency: str
    quiet_from: time | None
    quiet_to: time | None
    time_zone: str


def compute_send_time(schedule: EmailSchedule, *, since: datetime, now: datetime) -> datetime:
    """Compute when to send the email for a notification that was created at `since`.

    The result is never before `now`. An email in a digest is sent with the next digest after
    `since`. A send time in the quiet hours is moved to the end of the quiet hours.
    """
    zone = find_zone(schedule.time_zone)
    frequency = schedule.email_frequency
    if frequency == EmailFrequency.HOURLY:
        send_at = _get_next_hour(since, zone)
    elif frequency == EmailFrequency.DAILY:
        send_at = _get_next_daily_digest(since, zone)
    else:
        send_at = now
    return _skip_quiet_hours(schedule, max(send_at, now), zone)


def _get_next_hour(since: datetime, zone: ZoneInfo) -> datetime:
    # In some zones, local hours do not begin at a full UTC hour.
    local = since.astimezone(zone)
    elapsed = timedelta(minutes=local.minute, seconds=local.second, microseconds=local.microsecond)
    return since - elapsed + _HOUR


def _get_next_daily_digest(since: datetime, zone: ZoneInfo) -> datetime:
    today = since.astimezone(zone).date()
    send_at = _get_last_occurrence(today, DAILY_DIGEST_TIME, zone)
    if send_at > since:
        return send_at
    return _get_last_occurrence(today + _DAY, DAILY_DIGEST_TIME, zone)


def _skip_quiet_hours(schedule: EmailSchedule, at: datetime, zone: ZoneInfo) -> datetime:
    """Return the end of the quiet hours if `at` is within quiet hours, otherwise `at`."""
    begin, end = schedule.quiet_from, schedule.quiet_to
    if begin is None or end is None:
        return at
    today = at.astimezone(zone).date()
    for day in (today - _DAY, today):
        last_day = day if begin < end else day + _DAY
        quiet_end = _get_last_occurrence(last_day, end, zone)
        if _get_first_occurrence(day, begin, zone) <= at < quiet_end:
            return quiet_end
    return at


def _get_first_occurrence(day: date, at: time, zone: ZoneInfo) -> datetime:
    """Return the first occurrence of a local time; there are two if clocks are set back."""
    return min(_list_occurrences(day, at, zone))


def _get_last_occurrence(day: date, at: time, zone: ZoneInfo) -> datetime:
    """Return the last occurrence of a local time; there are two if clocks are set back.

    If clocks are set forward and skip the local time, the UTC offset before the change applies.
    """
    return max(_list_occurrences(day, at, zone))


def _list_occurrences(day: date, at: time, zone: ZoneInfo) -> list[datetime]:
    local = datetime.combine(day, at, zone)
    return [local.replace(fold=fold).astimezone(UTC) for fold in (0, 1)]
