"""Totals against an independent computation with fractions."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.billing.invoices.service import computing
from app.billing.invoices.service.computing import PlanPeriod
from app.billing.plans.catalog import Charge, Plan
from app.engines.invoices.charges import Tier
from app.engines.invoices.model import TaxCategory
from app.engines.invoices.taxes import TaxRule, compute_totals
from app.kit.days import TimeRange, get_month_bounds

DIGITS = {"EUR": 2, "JPY": 0, "KWD": 3}
MONTHS = st.datetimes(datetime(2001, 1, 1), datetime(2032, 12, 31), timezones=st.just(UTC))  # noqa: DTZ001
PRICES = st.decimals(0, 10**6, places=9, allow_nan=False)
PLAN = Plan("team", 1, "EUR", Decimal(0), {}, (), is_public=True)


def round_half_up(value: Fraction, digits: int) -> Fraction:
    """Round as accountants do, without the engine."""
    scaled = value * 10**digits
    whole = scaled.numerator // scaled.denominator
    return Fraction(whole + (1 if scaled - whole >= Fraction(1, 2) else 0), 10**digits)


@st.composite
def months_in_parts(draw: st.DrawFn) -> tuple[TimeRange, list[datetime]]:
    """Draw a month, and the times that divide it, to the second; some may be equal."""
    month = get_month_bounds(draw(MONTHS))
    seconds = int((month.end - month.start).total_seconds())
    cuts = sorted(draw(st.lists(st.integers(0, seconds), max_size=4)))
    return month, [month.start, *(month.start + timedelta(seconds=cut) for cut in cuts), month.end]


@given(months_in_parts(), st.sampled_from(sorted(DIGITS)), st.data())
def test_prices_of_parts_sum_to_the_rounded_exact_price(
    month: tuple[TimeRange, list[datetime]], currency: str, data: st.DataObject
) -> None:
    period, moments = month
    parts = [
        PlanPeriod(replace(PLAN, currency=currency, price=data.draw(PRICES)), start, end)
        for start, end in pairwise(moments)
    ]
    lines = computing.compute_price_lines(parts, period, "en")
    total = period.end - period.start
    exact = sum(
        Fraction(part.plan.price)
        * int((part.end - part.start).total_seconds())
        / int(total.total_seconds())
        for part in parts
    )
    assert sum(Fraction(line.amount) for line in lines) == round_half_up(
        Fraction(exact), DIGITS[currency]
    )
    assert all(line.amount > 0 for line in lines)


@given(
    months_in_parts(), st.lists(st.tuples(st.sampled_from(["free", "team"]), PRICES), min_size=5)
)
def test_the_lines_of_many_parts_sum_to_the_same_price(
    month: tuple[TimeRange, list[datetime]], plans: list[tuple[str, Decimal]]
) -> None:
    period, moments = month
    parts = [
        PlanPeriod(replace(PLAN, name=name, price=price), start, end)
        for (name, price), (start, end) in zip(plans, pairwise(moments), strict=False)
    ]
    with pytest.MonkeyPatch.context() as patch:
        lines = computing.compute_price_lines(parts, period, "en")
        patch.setattr(computing, "MAX_PRICE_LINES", 1)
        merged = computing.compute_price_lines(parts, period, "en")
    assert sum(line.amount for line in merged) == sum(line.amount for line in lines)
    assert len(merged) <= 2


@given(months_in_parts(), PRICES)
def test_changes_between_plans_of_one_price_cost_that_price(
    month: tuple[TimeRange, list[datetime]], price: Decimal
) -> None:
    period, moments = month
    parts = [PlanPeriod(replace(PLAN, price=price), start, end) for start, end in pairwise(moments)]
    lines = computing.compute_price_lines(parts, period, "fr")
    assert sum(Fraction(line.amount) for line in lines) == round_half_up(Fraction(price), 2)


@given(
    used=st.integers(0, 10**15),
    included=st.integers(0, 10**6),
    bounds=st.lists(st.integers(1, 10**9), unique=True, max_size=3),
    unit=st.sampled_from([1, 1000, 2**30]),
    share=st.integers(1, 2678400),
    meter=st.sampled_from(["documents_per_month", "stored_bytes"]),
    currency=st.sampled_from(sorted(DIGITS)),
    rate=st.sampled_from(["0", "5.5", "19", "20"]),
    data=st.data(),
)
def test_charges_and_totals(
    *,
    used: int,
    included: int,
    bounds: list[int],
    unit: int,
    share: int,
    meter: str,
    currency: str,
    rate: str,
    data: st.DataObject,
) -> None:
    prices = [data.draw(st.decimals(0, 100, places=4)) for _ in range(len(bounds) + 1)]
    ends: list[Decimal | None] = [*map(Decimal, sorted(bounds)), None]
    tiers = tuple(Tier(end, price) for end, price in zip(ends, prices, strict=True))
    part = Fraction(share, 2678400)
    lines = computing.compute_charge_lines(
        Charge(meter, included, tiers, unit), used, part, currency, "es"
    )
    quantity = Fraction(used) if meter == "documents_per_month" else used * part
    beyond = max(round_half_up(quantity, 6) - round_half_up(included * part, 6), Fraction(0))
    units = round_half_up(beyond / unit, 6)
    expected, start = Fraction(0), Fraction(0)
    for tier in tiers:
        end = units if tier.up_to is None else min(units, Fraction(tier.up_to))
        if end > start:
            expected += round_half_up((end - start) * Fraction(tier.unit_price), DIGITS[currency])
            start = end
    category = TaxCategory.STANDARD if Decimal(rate) else TaxCategory.ZERO
    totals = compute_totals(lines, currency, [TaxRule("VAT", category, Decimal(rate))])
    tax = round_half_up(expected * Fraction(rate) / 100, DIGITS[currency])
    assert (Fraction(totals.subtotal), Fraction(totals.total)) == (expected, expected + tax)
    assert -totals.total.as_tuple().exponent == DIGITS[currency]  # type: ignore[operator]
