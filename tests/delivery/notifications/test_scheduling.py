"""The time of an email: digests and quiet hours in any time zone, also when the clocks change."""

from datetime import UTC, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.delivery.notifications.service.scheduling import EmailSchedule, compute_send_time

VIENNA = "Europe/Vienna"
NIGHT = (time(22), time(7))


def _at(text: str) -> datetime:
    return datetime.fromisoformat(text).astimezone(UTC)


def _send_at(
    since: str,
    *,
    frequency: str = "immediate",
    quiet: tuple[time | None, time | None] = (None, None),
    zone: str = VIENNA,
    now: str | None = None,
) -> datetime:
    delivery = EmailSchedule(frequency, *quiet, zone)
    return compute_send_time(delivery, since=_at(since), now=_at(now or since))


def test_immediate_is_now() -> None:
    since, now = "2026-05-04T10:20:30+02:00", "2026-05-04T10:25:00+02:00"
    assert _send_at(since, now=now) == _at(now)


@pytest.mark.parametrize(
    ("zone", "since", "expected"),
    [
        (VIENNA, "2026-05-04T10:20:30+02:00", "2026-05-04T11:00+02:00"),
        (VIENNA, "2026-05-04T10:00:00+02:00", "2026-05-04T11:00+02:00"),
        ("Asia/Kolkata", "2026-05-04T10:20+05:30", "2026-05-04T11:00+05:30"),
        ("Asia/Kathmandu", "2026-05-04T10:59:59+05:45", "2026-05-04T11:00+05:45"),
        ("Mars/Olympus", "2026-05-04T10:20+00:00", "2026-05-04T11:00+00:00"),
        ("", "2026-05-04T10:20+00:00", "2026-05-04T11:00+00:00"),
    ],
)
def test_hourly_is_the_next_full_hour_of_the_user(zone: str, since: str, expected: str) -> None:
    assert _send_at(since, frequency="hourly", zone=zone) == _at(expected)


@pytest.mark.parametrize(
    ("since", "expected"),
    [
        ("2026-05-04T07:59:59+02:00", "2026-05-04T08:00+02:00"),
        ("2026-05-04T08:00:00+02:00", "2026-05-05T08:00+02:00"),
        ("2026-05-04T23:30:00+02:00", "2026-05-05T08:00+02:00"),
        # The next morning has another offset.
        ("2026-03-28T12:00:00+01:00", "2026-03-29T08:00+02:00"),
        ("2026-10-24T12:00:00+02:00", "2026-10-25T08:00+01:00"),
    ],
)
def test_daily_is_the_next_eight_o_clock_of_the_user(since: str, expected: str) -> None:
    assert _send_at(since, frequency="daily") == _at(expected)


def test_a_digest_that_is_overdue_is_sent_now() -> None:
    now = "2026-05-05T09:30:00+02:00"
    assert _send_at("2026-05-04T12:00+02:00", frequency="daily", now=now) == _at(now)


@pytest.mark.parametrize(
    ("at", "expected"),
    [
        ("2026-05-04T21:59:59+02:00", "2026-05-04T21:59:59+02:00"),
        ("2026-05-04T22:00:00+02:00", "2026-05-05T07:00+02:00"),
        ("2026-05-05T00:00:00+02:00", "2026-05-05T07:00+02:00"),
        ("2026-05-05T06:59:59+02:00", "2026-05-05T07:00+02:00"),
        ("2026-05-05T07:00:00+02:00", "2026-05-05T07:00+02:00"),
        # The night in which the clocks are set forward has eight hours, the other one ten.
        ("2026-03-28T23:00:00+01:00", "2026-03-29T07:00+02:00"),
        ("2026-10-24T23:00:00+02:00", "2026-10-25T07:00+01:00"),
    ],
)
def test_quiet_hours_cross_midnight(at: str, expected: str) -> None:
    assert _send_at(at, quiet=NIGHT) == _at(expected)


@pytest.mark.parametrize(
    ("at", "expected"),
    [
        ("2026-05-04T11:59+02:00", "2026-05-04T11:59+02:00"),
        ("2026-05-04T12:30+02:00", "2026-05-04T13:00+02:00"),
        ("2026-05-04T13:00+02:00", "2026-05-04T13:00+02:00"),
    ],
)
def test_quiet_hours_within_a_day(at: str, expected: str) -> None:
    assert _send_at(at, quiet=(time(12), time(13))) == _at(expected)


@pytest.mark.parametrize(
    ("at", "expected"),
    [
        # 02:30 does not exist on 29 March: the hours end when it would have been.
        ("2026-03-29T01:59+01:00", "2026-03-29T03:30+02:00"),
        # It comes twice on 25 October: the hours last until the second.
        ("2026-10-25T02:29+02:00", "2026-10-25T02:30+01:00"),
        ("2026-10-25T02:45+02:00", "2026-10-25T02:30+01:00"),
        ("2026-10-25T02:29+01:00", "2026-10-25T02:30+01:00"),
        ("2026-10-25T02:30+01:00", "2026-10-25T02:30+01:00"),
    ],
)
def test_quiet_hours_that_end_while_the_clocks_change(at: str, expected: str) -> None:
    assert _send_at(at, quiet=(time(23), time(2, 30))) == _at(expected)


def test_a_digest_in_the_quiet_hours_waits_for_their_end() -> None:
    quiet = (time(20), time(9, 30))
    since = "2026-05-04T12:00+02:00"
    assert _send_at(since, frequency="daily", quiet=quiet) == _at("2026-05-05T09:30+02:00")


_ZONES = ("UTC", VIENNA, "America/St_Johns", "Australia/Lord_Howe", "Africa/Casablanca")
_TIMES = st.builds(time, st.integers(0, 23), st.integers(0, 59))
_BEGIN = datetime(2026, 1, 1, tzinfo=UTC)
_MOMENTS = st.integers(0, 2 * 365 * 86_400).map(lambda n: _BEGIN + timedelta(seconds=n))


@given(
    frequency=st.sampled_from(("immediate", "hourly", "daily")),
    begin=_TIMES,
    end=_TIMES,
    zone=st.sampled_from(_ZONES),
    since=_MOMENTS,
    waited=st.integers(0, 200_000),
)
def test_no_email_is_sent_in_quiet_hours_or_too_late(
    frequency: str, begin: time, end: time, zone: str, since: datetime, waited: int
) -> None:
    if begin == end:
        return
    now = since + timedelta(seconds=waited)
    delivery = EmailSchedule(frequency, begin, end, zone)
    at = compute_send_time(delivery, since=since, now=now)
    local = at.astimezone(ZoneInfo(zone)).time()
    is_quiet = begin <= local < end if begin < end else local >= begin or local < end
    assert not is_quiet
    assert now <= at <= now + timedelta(hours=50)
    # When that time has come, it is sent.
    assert compute_send_time(delivery, since=since, now=at) == at
