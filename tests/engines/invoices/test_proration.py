"""Prices divided by the second: leap years, month ends and days of 23 and 25 hours."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.engines.invoices.charges import prorate
from app.engines.invoices.model import InvoiceError

ZONES = ["UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu"]


def find_next_month(start: datetime) -> datetime:
    return (start + timedelta(days=32)).replace(day=1)


@st.composite
def periods(draw: st.DrawFn) -> list[datetime]:
    """Draw a calendar month of a time zone, with moments inside it."""
    zone = ZoneInfo(draw(st.sampled_from(ZONES)))
    start = datetime(draw(st.integers(2024, 2032)), draw(st.integers(1, 12)), 1, tzinfo=zone)
    end = find_next_month(start)
    seconds = int((end.astimezone(UTC) - start.astimezone(UTC)).total_seconds())
    inside = draw(st.lists(st.integers(0, seconds), max_size=8).map(sorted))
    moments = (start.astimezone(UTC) + timedelta(seconds=second) for second in inside)
    return [start, *(moment.astimezone(zone) for moment in moments), end]


@given(periods(), st.integers(0, 10**9), st.sampled_from(["EUR", "JPY", "KWD"]))
def test_the_parts_of_a_period_sum_to_its_price(
    moments: list[datetime], cents: int, currency: str
) -> None:
    price = Decimal(cents).scaleb(-2)
    start, end = moments[0], moments[-1]
    parts = [prorate(price, a, b, start, end) for a, b in pairwise(moments)]
    assert sum(parts) == Fraction(price)
    assert all(part >= 0 for part in parts)


@pytest.mark.parametrize(("day", "hours"), [((2026, 3, 29), 23), ((2026, 10, 25), 25)])
def test_days_on_which_clocks_change_have_their_true_length(
    day: tuple[int, int, int], hours: int
) -> None:
    berlin = ZoneInfo("Europe/Berlin")
    start = datetime(*day, tzinfo=berlin)
    noon, end = start.replace(hour=12), start + timedelta(days=1)
    price = Decimal(hours)
    assert prorate(price, noon, end, start, end) == 12
    assert prorate(price, start, noon, start, end) == hours - 12


@pytest.mark.parametrize(("year", "days"), [(2027, 28), (2028, 29), (2100, 28)])
def test_february_has_the_days_of_its_year(year: int, days: int) -> None:
    start = datetime(year, 2, 1, tzinfo=UTC)
    end = find_next_month(start)
    part = prorate(Decimal(days), start, start + timedelta(days=1), start, end)
    assert part == 1


def test_a_change_in_the_last_second_of_a_month_costs_one_second() -> None:
    start, end = datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 2, 1, tzinfo=UTC)
    last = end - timedelta(seconds=1)
    assert prorate(Decimal(31 * 86_400), last, end, start, end) == 1
    assert prorate(Decimal(31), last, last, start, end) == 0


def test_fractions_of_a_second_are_cut() -> None:
    start, end = datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 1, 1, 0, 0, 10, tzinfo=UTC)
    late = start + timedelta(seconds=3, microseconds=999_999)
    assert prorate(Decimal(10), start, late, start, end) == 3
    assert prorate(Decimal(10), late, end, start, end) == 7


@pytest.mark.parametrize(
    ("first", "last", "field"),
    [(-1, 5, "start"), (0, 11, "start"), (6, 5, "start")],
)
def test_a_part_outside_the_period_is_refused(first: int, last: int, field: str) -> None:
    start = datetime(2026, 1, 1, tzinfo=UTC)
    moments = [start + timedelta(days=day) for day in (first, last)]
    with pytest.raises(InvoiceError) as raised:
        prorate(Decimal(1), *moments, start, start + timedelta(days=10))
    assert raised.value.field == field


def test_an_empty_period_and_a_moment_without_time_zone_are_refused() -> None:
    start = datetime(2026, 1, 1, tzinfo=UTC)
    with pytest.raises(InvoiceError, match="period_end"):
        prorate(Decimal(1), start, start, start, start)
    naive = start.replace(tzinfo=None)
    with pytest.raises(InvoiceError, match="time zone"):
        prorate(Decimal(1), naive, start, start, start + timedelta(days=1))
