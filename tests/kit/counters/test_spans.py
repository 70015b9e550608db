"""Division of time spans into months, days and hours."""

from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.kit.counters.spans import DAY, HOUR, MONTH, format_bucket, round_down, round_up, split

HOURS = st.integers(0, 24 * 400).map(
    lambda hours: datetime(2023, 12, 30, tzinfo=UTC) + timedelta(hours=hours)
)


def _bounds(level: int, bucket: str) -> tuple[datetime, datetime]:
    text = {MONTH: f"{bucket}-01T00", DAY: f"{bucket}T00", HOUR: bucket}[level]
    first = datetime.fromisoformat(f"{text}:00+00:00")
    return first, round_up(first + timedelta(seconds=1), level)


@given(HOURS, HOURS, st.sampled_from([[MONTH, DAY, HOUR], [DAY, HOUR], [MONTH, HOUR], [HOUR]]))
def test_the_ranges_make_up_the_span_without_gap_or_overlap(
    first: datetime, end: datetime, levels: list[int]
) -> None:
    first, end = sorted((first, end))
    covered = []
    for span in split(levels, first, end):
        assert span.first is not None
        assert span.end is not None
        assert span.first < span.end
        covered.append((_bounds(span.level, span.first)[0], _bounds(span.level, span.end)[0]))
    covered.sort()
    if first == end:
        assert covered == []
        return
    assert covered[0][0] == first
    assert covered[-1][1] == end
    assert all(left[1] == right[0] for left, right in pairwise(covered))


@given(HOURS)
def test_a_year_is_few_ranges(first: datetime) -> None:
    assert len(split([MONTH, DAY, HOUR], first, first + timedelta(days=366))) <= 5


def test_an_open_span_begins_or_ends_with_months() -> None:
    at = datetime(2026, 3, 5, 7, tzinfo=UTC)
    assert [(span.level, span.first, span.end) for span in split([MONTH, DAY, HOUR], None, at)] == [
        (MONTH, None, "2026-03"),
        (DAY, "2026-03-01", "2026-03-05"),
        (HOUR, "2026-03-05T00", "2026-03-05T07"),
    ]
    assert [(span.level, span.first, span.end) for span in split([MONTH, DAY, HOUR], at, None)] == [
        (MONTH, "2026-04", None),
        (DAY, "2026-03-06", "2026-04-01"),
        (HOUR, "2026-03-05T07", "2026-03-06T00"),
    ]
    assert [(span.first, span.end) for span in split([MONTH], None, None)] == [(None, None)]


@pytest.mark.parametrize("level", [MONTH, DAY, HOUR])
@given(seconds=st.integers(-62_000_000_000, 253_300_000_000))
def test_rounding(level: int, seconds: int) -> None:
    at = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=seconds)
    down, up = round_down(at, level), round_up(at, level)
    assert down <= at <= up
    assert format_bucket(down, level) == format_bucket(at, level)
    assert (up == at) == (down == at)


def test_years_are_told_in_four_digits() -> None:
    assert format_bucket(datetime(7, 3, 1, tzinfo=UTC), MONTH) == "0007-03"


def test_there_is_no_hour_after_the_last() -> None:
    with pytest.raises(OverflowError):
        round_up(datetime(9999, 12, 31, 23, 30, tzinfo=UTC), HOUR)


def test_a_span_may_begin_in_the_last_month() -> None:
    at = datetime(9999, 12, 5, 7, tzinfo=UTC)
    assert [(span.level, span.first, span.end) for span in split([MONTH, DAY, HOUR], at, None)] == [
        (DAY, "9999-12-06", None),
        (HOUR, "9999-12-05T07", "9999-12-06T00"),
    ]
    last = datetime(9999, 12, 31, 7, tzinfo=UTC)
    assert [
        (span.level, span.first, span.end) for span in split([MONTH, DAY, HOUR], last, None)
    ] == [(HOUR, "9999-12-31T07", None)]
