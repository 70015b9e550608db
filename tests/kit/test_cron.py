"""Due times of cron expressions, including days on which clocks change."""

from datetime import UTC, datetime, timedelta
from itertools import islice

import pytest

from app.kit import cron
from app.kit.errors import ApiError

BERLIN = "Europe/Berlin"
QUARTER = timedelta(minutes=15)


def _list_times(expression: str, zone: str, after: str, number: int) -> list[str]:
    times = cron.iterate_times(expression, zone, datetime.fromisoformat(after))
    return [at.strftime("%m-%d %H:%M") for at in islice(times, number)]


def test_a_time_that_does_not_exist_is_due_once() -> None:
    found = _list_times("30 2 * * *", BERLIN, "2027-03-27T12:00:00Z", 2)
    assert found == ["03-28 01:00", "03-29 00:30"]


def test_a_time_that_comes_twice_is_due_once() -> None:
    found = _list_times("30 2 * * *", BERLIN, "2026-10-24T12:00:00Z", 2)
    assert found == ["10-25 00:30", "10-26 01:30"]
    # Between the two occurrences, and after the second.
    for after in ("2026-10-25T01:10:00Z", "2026-10-25T01:40:00Z"):
        assert _list_times("30 2 * * *", BERLIN, after, 1) == ["10-26 01:30"]


def test_hourly_expressions_follow_the_real_hours() -> None:
    found = _list_times("*/30 * * * *", BERLIN, "2026-10-24T23:45:00Z", 5)
    assert found == ["10-25 00:00", "10-25 00:30", "10-25 01:00", "10-25 01:30", "10-25 02:00"]
    found = _list_times("*/30 * * * *", BERLIN, "2027-03-28T00:10:00Z", 3)
    assert found == ["03-28 00:30", "03-28 01:00", "03-28 01:30"]


def test_the_latest_missed_time_is_found() -> None:
    first = datetime(2026, 11, 1, 5, tzinfo=UTC)
    now = datetime(2026, 11, 20, 12, tzinfo=UTC)
    assert cron.find_latest("0 6 * * *", BERLIN, first, now) == datetime(
        2026, 11, 20, 5, tzinfo=UTC
    )
    assert cron.find_latest("0 6 * * *", BERLIN, now, now) == now


def test_spaces_are_normalized() -> None:
    assert cron.check_expression("  0  6 * * 1-5 ", field="cron", min_interval=QUARTER) == (
        "0 6 * * 1-5"
    )


@pytest.mark.parametrize(
    "expression",
    [
        "",
        "* * * * *",
        "*/14 * * * *",
        "0,10 6 * * *",
        "* * * * * *",
        "@daily",
        "0 0 30 2 *",
        "0 0 31 4 *",
        "61 * * * *",
        "0 25 * * *",
        "a b c d e",
        "0 6 * *",
    ],
)
def test_expressions_that_are_refused(expression: str) -> None:
    with pytest.raises(ApiError) as refused:
        cron.check_expression(expression, field="cron", min_interval=QUARTER)
    assert (refused.value.code, refused.value.field) == ("validation_error", "cron")
