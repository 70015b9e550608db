"""The language files are complete, and numbers and dates are those of the language."""

import string
from dataclasses import fields
from datetime import UTC, datetime
from decimal import Decimal

import pytest

from app.engines.invoices.model import InvoiceError, Language, TaxCategory
from app.engines.invoices.plain_text import clean_text
from app.engines.invoices.texts import (
    LANGUAGES,
    Translations,
    describe_meter,
    describe_plan,
    describe_tier,
    load_translations,
)

NBSP = "\N{NO-BREAK SPACE}"
TABLES = [field.name for field in fields(Translations) if field.name != "locale"]
START, END = datetime(2026, 11, 1, tzinfo=UTC), datetime(2026, 12, 1, tzinfo=UTC)


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("language", LANGUAGES)
def test_each_language_has_the_same_texts_and_values(language: Language, table: str) -> None:
    def list_values(text: str) -> set[str | None]:
        return {name for _, name, _, _ in string.Formatter().parse(text)} - {None}

    texts, english = (
        getattr(load_translations(language), table),
        getattr(load_translations("en"), table),
    )
    assert texts.keys() == english.keys()
    for name, text in texts.items():
        assert text.strip()
        assert list_values(text) == list_values(english[name])


@pytest.mark.parametrize("language", LANGUAGES)
def test_each_category_without_tax_has_a_reason(language: Language) -> None:
    taxed = {TaxCategory.STANDARD}
    assert load_translations(language).reasons.keys() == {*TaxCategory} - taxed


@pytest.mark.parametrize(
    ("language", "money", "price", "rate", "day", "period"),
    [
        (
            *("en", f"KWD{NBSP}1,234.500", "0.0001234", "5.5%", "1 November 2026"),
            "1 Nov 2026 \N{EN DASH} 30 Nov 2026",
        ),
        (
            *("de", f"1.234,500{NBSP}KWD", "0,0001234", f"5,5{NBSP}%", "1. November 2026"),
            "01.11.2026 \N{EN DASH} 30.11.2026",
        ),
        (
            *("es", f"1.234,500{NBSP}KWD", "0,0001234", f"5,5{NBSP}%", "1 de noviembre de 2026"),
            "1 nov 2026 \N{EN DASH} 30 nov 2026",
        ),
        (
            *("fr", f"1{NBSP}234,500{NBSP}KWD", "0,0001234", f"5,5{NBSP}%", "1 novembre 2026"),
            "1 nov. 2026 \N{EN DASH} 30 nov. 2026",
        ),
    ],
)
def test_numbers_and_dates_are_those_of_the_language(
    language: Language, money: str, price: str, rate: str, day: str, period: str
) -> None:
    texts = load_translations(language)
    assert texts.format_money(Decimal("1234.5"), "KWD") == money
    assert texts.format_price(Decimal("0.0001234"), "KWD") == price
    assert texts.format_rate(Decimal("5.5")) == rate
    assert texts.format_day(START, "UTC") == day
    assert texts.format_period(START, END, "UTC") == period


def test_amounts_have_the_digits_of_their_currency() -> None:
    texts = load_translations("en")
    amount = Decimal("1234567890123456")
    assert texts.format_amount(amount, "JPY") == "1,234,567,890,123,456"
    assert texts.format_amount(amount, "EUR") == "1,234,567,890,123,456.00"
    assert texts.format_amount(Decimal("-0.5"), "KWD") == "-0.500"


def test_a_period_within_a_day_is_one_day() -> None:
    texts = load_translations("en")
    assert texts.format_period(START, START.replace(hour=5), "UTC") == "1 Nov 2026"
    assert texts.format_period(START, START.replace(hour=5), "Asia/Tokyo") == "1 Nov 2026"


def test_lines_are_described_in_the_language() -> None:
    assert describe_meter("stored_bytes", unit_size=2**30, is_bytes=True, language="de") == (
        "Speicherplatz"
    )
    assert describe_meter("documents_per_month", unit_size=500, language="fr") == (
        "Documents (\N{MULTIPLICATION SIGN} 500)"
    )
    assert describe_meter("unknown_meter") == "unknown_meter"
    assert describe_plan("Team", START, END, language="es") == (
        "Plan Team, 1 nov 2026 \N{EN DASH} 30 nov 2026"
    )
    assert describe_plan("Team", START, END, period_count=1060, language="de") == (
        "Tarif Team, 01.11.2026 \N{EN DASH} 30.11.2026 (1.060 Zeiträume)"
    )
    assert describe_plan("{x}", START, END).startswith("Plan {x}, 1 Nov")
    assert describe_tier("Seiten", Decimal(5000), None, "de") == "Seiten (über 5.000)"
    assert describe_tier("GiB", Decimal("0.5"), Decimal("1.5")) == "GiB (0.5\N{EN DASH}1.5)"


def test_an_unknown_language_is_refused() -> None:
    with pytest.raises(InvoiceError, match="language"):
        load_translations("../en")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("a\nb\t c\x00", "a b c"),
        ("\u202egnp.exe", "gnp.exe"),
        ("half \ud800", "half"),
        ("e\u0301", "\u00e9"),
        ("\ufffe\uffff\ufdd0\U0001ffff", "-"),
        ("\U000323b0", "\U000323b0"),  # assigned in Unicode 15 and 17, unknown to Python 3.11
        (
            "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",
            "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",
        ),
    ],
)
def test_texts_are_cleaned(text: str, clean: str) -> None:
    assert clean_text(text) == clean
