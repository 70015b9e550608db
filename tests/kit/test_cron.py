"""Due times of cron expressions, including days on which clocks change."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import Any

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


@pytest.mark.parametrize(
    ("expression", "in_autumn", "in_spring"),
    [
        ("0 */2 * * *", ["10-25 00:00", "10-25 03:00"], ["03-28 01:00", "03-28 02:00"]),
        ("*/30 2 * * *", ["10-25 00:00", "10-25 00:30", "10-26 01:00"], ["03-28 01:00"]),
        ("*/30 */2 * * *", ["10-25 00:00", "10-25 00:30", "10-25 03:00"], ["03-28 01:00"]),
    ],
)
def test_steps_of_local_hours_are_due_once(
    expression: str, in_autumn: list[str], in_spring: list[str]
) -> None:
    for after, expected in (("2026-10-24T23:40Z", in_autumn), ("2027-03-28T00:40Z", in_spring)):
        assert _list_times(expression, BERLIN, after, len(expected)) == expected


def test_the_latest_missed_time_is_found() -> None:
    first = datetime(2026, 11, 1, 5, tzinfo=UTC)
    now = datetime(2026, 11, 20, 12, tzinfo=UTC)
    assert cron.find_latest("0 6 * * *", BERLIN, first, now) == datetime(
        2026, 11, 20, 5, tzinfo=UTC
    )
    assert cron.find_latest("0 6 * * *", BERLIN, now, now) == now


@pytest.mark.parametrize(
    ("expression", "now", "latest"),
    [
        ("*/15 * * * *", "2026-11-20T12:07:00Z", "2026-11-20T12:00:00Z"),
        ("30 2 * * *", "2026-10-25T01:45:00Z", "2026-10-25T00:30:00Z"),
        ("30 2 * * *", "2026-03-29T01:00:00Z", "2026-03-29T01:00:00Z"),
        ("0 6 1 * *", "2026-11-20T12:00:00Z", "2026-11-01T05:00:00Z"),
        ("0 6 24 12 *", "2026-11-20T12:00:00Z", "2025-12-24T05:00:00Z"),
        ("0 6 29 2 *", "2026-11-20T12:00:00Z", "2024-02-29T05:00:00Z"),
    ],
)
def test_a_year_of_missed_times_is_not_listed(
    expression: str, now: str, latest: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = cron.find_next(expression, BERLIN, datetime(2015, 1, 1, tzinfo=UTC))
    assert first is not None
    listed = []
    list_all = cron.iterate_times

    def iterate_times(*args: Any) -> Iterator[datetime]:
        for due in list_all(*args):
            listed.append(due)
            yield due

    monkeypatch.setattr(cron, "iterate_times", iterate_times)
    found = cron.find_latest(expression, BERLIN, first, datetime.fromisoformat(now))
    assert found == datetime.fromisoformat(latest)
    assert len(listed) < 200


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
