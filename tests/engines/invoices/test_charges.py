"""Amounts of lines: minor units, rounding, tiers and included quantities."""

from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.engines.invoices.charges import (
    Tier,
    compute_line,
    compute_price_line,
    compute_usage_lines,
    sum_amounts,
)
from app.engines.invoices.currencies import can_have_xml, get_minor_digits, round_amount
from app.engines.invoices.model import InvoiceError, Line, get_unit_code


def tiers(*pairs: tuple[str | None, str]) -> list[Tier]:
    return [Tier(None if end is None else Decimal(end), Decimal(price)) for end, price in pairs]


def compute_lines(*pairs: tuple[str | None, str], quantity: int, **options: Any) -> list[Line]:
    """Compute the price lines in EUR for `quantity` units, by default without included units."""
    defaults = {"description": "Documents", "included": 0, "unit_size": 1, "currency": "EUR"}
    return compute_usage_lines(tiers=tiers(*pairs), quantity=quantity, **{**defaults, **options})


@pytest.mark.parametrize(
    ("currency", "digits"), [("EUR", 2), ("JPY", 0), ("KWD", 3), ("IQD", 3), ("CLF", 4)]
)
def test_minor_units_are_those_of_iso_4217(currency: str, digits: int) -> None:
    assert get_minor_digits(currency) == digits
    assert can_have_xml(currency) == (digits <= 2)


@pytest.mark.parametrize("currency", ["XAU", "EURO", "eur", "", "XXX"])
def test_a_code_without_minor_unit_is_refused(currency: str) -> None:
    with pytest.raises(InvoiceError) as raised:
        get_minor_digits(currency)
    assert raised.value.field == "currency"


@pytest.mark.parametrize(
    ("value", "currency", "rounded"),
    [
        ("0.005", "EUR", "0.01"),
        ("0.0049999999999999999999999999999999", "EUR", "0.00"),
        ("-0.005", "EUR", "-0.01"),
        ("-0.004", "EUR", "0.00"),
        ("2.675", "EUR", "2.68"),
        ("0.5", "JPY", "1"),
        ("1.5", "JPY", "2"),
        ("2.5", "JPY", "3"),
        ("1.0005", "KWD", "1.001"),
        ("1000000000000000.005", "EUR", "1000000000000000.01"),
    ],
)
def test_rounding_is_half_up_away_from_zero(value: str, currency: str, rounded: str) -> None:
    assert str(round_amount(Decimal(value), currency)) == rounded


@given(st.fractions(min_value=-(10**18), max_value=10**18), st.sampled_from(["EUR", "JPY", "KWD"]))
def test_rounding_moves_by_half_a_unit_at_most(value: Fraction, currency: str) -> None:
    unit = Fraction(1, 10 ** get_minor_digits(currency))
    rounded = round_amount(value, currency)
    assert abs(Fraction(rounded) - value) <= unit / 2
    assert rounded == -round_amount(-value, currency)
    assert (Fraction(rounded) / unit).denominator == 1


def test_amounts_of_any_size_are_multiplied_and_summed_exactly() -> None:
    line = compute_line(
        description="Documents",
        quantity=Decimal("999999999999999999.999999999999"),
        unit_price=Decimal("999999999999999999.999999999999"),
        currency="EUR",
    )
    assert line.amount == Decimal("999999999999999999999999999998000000.00")
    amounts = [Decimal(10) ** 30, Decimal("0.01"), -(Decimal(10) ** 30)]
    assert sum_amounts(amounts, "EUR") == Decimal("0.01")


def test_tiers_are_charged_step_by_step_beyond_the_included_quantity() -> None:
    pairs = [("5000", "0.05"), ("10000", "0.04"), (None, "0.03")]
    lines = compute_lines(*pairs, quantity=13_001, included=1_000)
    assert [(line.description, str(line.quantity), str(line.amount)) for line in lines] == [
        ("Documents (1\N{EN DASH}5,000)", "5000", "250.00"),
        ("Documents (5,001\N{EN DASH}10,000)", "5000", "200.00"),
        ("Documents (above 10,000)", "2001", "60.03"),
    ]


@pytest.mark.parametrize("quantity", [0, 999, 1_000])
def test_the_included_quantity_is_free(quantity: int) -> None:
    assert not compute_lines((None, "0.05"), quantity=quantity, included=1_000)


def test_bytes_are_charged_by_the_unit_and_the_amount_follows_from_the_shown_quantity() -> None:
    (line,) = compute_lines(
        (None, "0.25"),
        quantity=20 * 2**30 + 1_000_000,
        included=10 * 2**30,
        unit_size=2**30,
        unit_code=get_unit_code(2**30, is_bytes=True),
    )
    assert (str(line.quantity), line.unit, line.amount) == ("10.000931", "E62", Decimal("2.50"))
    assert round_amount(line.quantity * line.unit_price, "EUR") == line.amount


def test_units_without_a_code_count_as_pieces() -> None:
    assert [get_unit_code(unit) for unit in (1, 100, 1_000, 10**6, 500)] == [
        *("C62", "CEN", "MIL", "MIO", "C62"),
    ]


@given(
    quantity=st.integers(0, 10**15),
    included=st.integers(0, 10**6),
    unit=st.sampled_from([1, 100, 1_000]),
    ends=st.lists(st.integers(1, 10**6), max_size=4, unique=True).map(sorted),
    prices=st.lists(st.integers(0, 10**7), min_size=5, max_size=5),
    currency=st.sampled_from(["EUR", "JPY", "KWD"]),
)
def test_tiers_equal_an_independent_computation(
    quantity: int, included: int, unit: int, ends: list[int], prices: list[int], currency: str
) -> None:
    """Compare with a sum over the tiers in integers of a millionth."""
    steps = [*ends, None]
    pairs = [
        (None if end is None else str(end), f"{price}e-6")
        for end, price in zip(steps, prices, strict=False)
    ]
    options = {"included": included, "unit_size": unit, "currency": currency}
    lines = compute_lines(*pairs, quantity=quantity, **options)
    left = Fraction(max(0, quantity - included), unit)
    start, expected = 0, []
    for end, price in zip(steps, prices, strict=False):
        share = left if end is None else min(left, Fraction(end - start))
        if share > 0:
            expected.append((share, share * price / 10**6))
        left -= share
        start = end or start
    assert [Fraction(line.quantity) for line in lines] == [share for share, _ in expected]
    digits = get_minor_digits(currency)
    for line, (_, exact) in zip(lines, expected, strict=True):
        assert line.amount == Decimal(int(exact * 10**digits + Fraction(1, 2))).scaleb(-digits)


@pytest.mark.parametrize(
    "wrong",
    [
        [],
        [(None, "1"), ("5", "2")],
        [("5", "1"), ("5", "2"), (None, "3")],
        [("0", "1"), (None, "2")],
        [(None, "-1")],
    ],
)
def test_tiers_out_of_order_are_refused(wrong: list[tuple[str | None, str]]) -> None:
    with pytest.raises(InvoiceError, match="tiers"):
        compute_lines(*wrong, quantity=1)


def test_a_quantity_beyond_the_last_tier_is_refused() -> None:
    with pytest.raises(InvoiceError, match="without an upper limit"):
        compute_lines(("5", "1"), quantity=6)


def test_a_credit_has_a_negative_quantity_and_a_positive_price() -> None:
    line = compute_price_line(description="Unused", price=Fraction(-49, 3), currency="EUR")
    assert (line.quantity, line.unit_price, line.amount) == (
        *(Decimal(-1), Decimal("16.33"), Decimal("-16.33")),
    )
