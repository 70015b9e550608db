"""Taxes: numbers of customers, the rule that applies, and the totals of a document."""

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.engines.invoices.currencies import get_minor_digits
from app.engines.invoices.model import InvoiceError, Line, TaxCategory
from app.engines.invoices.tax_numbers import TaxNumberError, normalize_tax_number
from app.engines.invoices.taxes import TaxRule, build_eu_tax_rules, choose_tax_rule, compute_totals
from tests.engines.invoices.samples import BUYER, RULES, STANDARD, build_line

UNION = build_eu_tax_rules("DE", {"DE": Decimal(19), "FR": Decimal(20)})


@pytest.mark.parametrize(
    ("number", "country", "normal"),
    [
        ("DE 136.695.976", "DE", "DE136695976"),
        ("136695976", "DE", "DE136695976"),
        ("atu13585627", "AT", "ATU13585627"),
        ("094014201", "GR", "EL094014201"),
        ("GR094014201", "GR", "EL094014201"),
        ("FR 40 303 265 045", "FR", "FR40303265045"),
        ("GB 980 7806 84", "GB", "GB980780684"),
        ("XI 432 5251 79", "GB", "XI432525179"),
        ("CHE-107.787.577 MWST", "CH", "CHE107787577MWST"),
        ("12-3456789", "US", "12-3456789"),
        ("300000000000003", "SA", "300000000000003"),
    ],
)
def test_tax_numbers_get_their_compact_form(number: str, country: str, normal: str) -> None:
    assert normalize_tax_number(number, country) == normal
    assert normalize_tax_number(normal, country) == normal


@pytest.mark.parametrize(
    ("number", "country", "problem"),
    [
        ("DE136695977", "DE", "malformed"),
        ("DE13669597", "DE", "malformed"),
        ("", "DE", "malformed"),
        ("C00O2803561", "GH", "malformed"),
        ("not a number", "FR", "malformed"),
        ("DE136695976", "AT", "other_country"),
        ("ATU13585627", "DE", "other_country"),
        ("EL094014201", "DE", "other_country"),
        ("DE136695976", "US", "other_country"),
        ("XI432525179", "IE", "other_country"),
        ("980780685", "GB", "malformed"),
        ("#panic()", "US", "malformed"),
        ("", "US", "malformed"),
        ("1" * 31, "SA", "malformed"),
        ("12\u202e34", "US", "malformed"),
    ],
)
def test_tax_numbers_of_the_wrong_form_or_country_are_refused(
    number: str, country: str, problem: str
) -> None:
    with pytest.raises(TaxNumberError) as raised:
        normalize_tax_number(number, country)
    assert raised.value.field == "tax_number"
    assert ("is a tax number of" in raised.value.message) == (problem == "other_country")


@pytest.mark.parametrize(
    ("country", "number", "category", "rate"),
    [
        ("DE", "DE136695976", "S", 19),
        ("DE", None, "S", 19),
        ("IE", "IE6433435OA", "AE", 0),
        ("IE", None, "S", 19),
        ("IE", "IE6433435OB", "S", 19),
        ("IE", "DE136695976", "S", 19),
        ("FR", "FR40303265045", "AE", 0),
        ("FR", None, "S", 20),
        ("GR", "EL094014201", "AE", 0),
        ("US", None, "O", 0),
        ("GB", "GB980780684", "O", 0),
    ],
)
def test_the_first_rule_that_applies_counts(
    country: str, number: str | None, category: str, rate: int
) -> None:
    rule = choose_tax_rule(UNION, replace(BUYER, country=country, tax_number=number))
    assert (rule.category.value, rule.rate) == (category, rate)


def test_without_a_rule_for_the_country_nothing_is_computed() -> None:
    rules = [TaxRule("VAT", TaxCategory.STANDARD, Decimal(19), frozenset({"DE"}))]
    with pytest.raises(InvoiceError, match="is IE, for which there is no tax rule"):
        choose_tax_rule(rules, BUYER)


def test_rules_of_the_union_need_the_rate_of_the_seller() -> None:
    with pytest.raises(InvoiceError, match="rates"):
        build_eu_tax_rules("DE", {"FR": Decimal(20)})
    with pytest.raises(InvoiceError, match="rates"):
        build_eu_tax_rules("US", {"US": Decimal(5)})


@pytest.mark.parametrize(
    ("category", "rate"),
    [
        ("S", "0"),
        ("AE", "19"),
        ("O", "0.1"),
        ("S", "-1"),
        ("S", "101"),
        ("S", "NaN"),
        ("S", "1e-5"),
    ],
)
def test_a_rate_fits_its_category(category: str, rate: str) -> None:
    with pytest.raises(InvoiceError, match="rate"):
        TaxRule("VAT", TaxCategory(category), Decimal(rate))


def test_tax_is_rounded_once_per_rate() -> None:
    lines = [build_line(price="0.33") for _ in range(3)]
    totals = compute_totals(lines, "EUR", [STANDARD])
    assert str(totals.subtotal) == "0.99"
    assert [str(tax.amount) for tax in totals.taxes] == ["0.19"]  # by line it would be 0.18
    assert str(totals.total) == "1.18"


def test_lines_of_two_rates_have_two_taxes() -> None:
    lines = [build_line(price="100"), build_line(price="10", tax=1)]
    totals = compute_totals(lines, "EUR", [STANDARD, RULES["reduced"]])
    assert [(str(tax.base), str(tax.amount)) for tax in totals.taxes] == [
        ("100.00", "19.00"),
        ("10.00", "0.55"),
    ]
    assert str(totals.total) == "129.55"


@given(
    st.lists(st.tuples(st.integers(-(10**12), 10**15), st.integers(0, 1)), min_size=1, max_size=20),
    st.lists(st.integers(1, 10_000), min_size=2, max_size=2),
    st.sampled_from(["EUR", "JPY", "KWD"]),
)
def test_totals_equal_an_independent_computation(
    amounts: Sequence[tuple[int, int]], rates: Sequence[int], currency: str
) -> None:
    """Compare with a computation in whole minor units."""
    digits = get_minor_digits(currency)
    lines = []
    for units, tax in amounts:
        amount = Decimal(units).scaleb(-digits)
        sign = Decimal(-1 if units < 0 else 1)
        lines.append(Line("X", sign, "C62", abs(amount), amount, tax))
    rules = [TaxRule("VAT", TaxCategory.STANDARD, Decimal(rate).scaleb(-2)) for rate in rates]
    totals = compute_totals(lines, currency, rules)
    expected = []
    for position, rate in enumerate(rates):
        base = sum(units for units, tax in amounts if tax == position)
        exact = Fraction(base * rate, 10_000)
        magnitude = int(abs(exact) + Fraction(1, 2))
        expected.append(magnitude if exact > 0 else -magnitude)
    scale = 10**digits
    assert [tax.amount * scale for tax in totals.taxes] == expected
    assert totals.subtotal * scale == sum(units for units, _ in amounts)
    assert totals.total * scale == totals.subtotal * scale + sum(expected)
