"""Read the translations for invoices, and format numbers and dates in each language.

Each language has one TOML file in the folder `languages`. Babel formats numbers and dates.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from functools import cache, lru_cache
from pathlib import Path
from typing import get_args
from zoneinfo import ZoneInfo

from babel import Locale
from babel.dates import format_date
from babel.numbers import NumberPattern, format_currency, format_decimal, parse_pattern

from app.engines.invoices.currencies import get_minor_digits
from app.engines.invoices.model import (
    MAX_DECIMALS,
    Document,
    InvoiceError,
    Language,
    Tax,
    find_unit_code,
)
from app.engines.invoices.plain_text import clean_text

LANGUAGES: tuple[Language, ...] = get_args(Language)
_LANGUAGE_FOLDER = Path(__file__).parent / "languages"
_PERCENT = 100


@dataclass(frozen=True, slots=True)
class Translations:
    """The translations into one language. Each mapping is a section of the language's TOML file."""

    locale: Locale
    labels: Mapping[str, str]
    sentences: Mapping[str, str]
    reasons: Mapping[str, str]
    units: Mapping[str, str]
    meters: Mapping[str, str]
    taxes: Mapping[str, str]

    def format_money(self, amount: Decimal, currency: str) -> str:
        """Format an amount with its currency code and all decimal places of the minor unit."""
        standard_pattern = self.locale.currency_formats["standard"].pattern
        is_code_first = standard_pattern.startswith("¤")
        number = _build_pattern(get_minor_digits(currency))
        pattern = (
            f"¤¤\N{NO-BREAK SPACE}{number}" if is_code_first else f"{number}\N{NO-BREAK SPACE}¤¤"
        )
        text = format_currency(amount, currency, pattern, self.locale, currency_digits=False)
        return _widen_spaces(text)

    def format_amount(self, amount: Decimal, currency: str) -> str:
        """Format an amount with all decimal places of the minor unit, without a currency code."""
        return self._format_number(amount, get_minor_digits(currency))

    def format_price(self, price: Decimal, currency: str) -> str:
        """Format a unit price with at least the decimal places of the currency's minor unit."""
        return self._format_number(price, get_minor_digits(currency), MAX_DECIMALS)

    def format_quantity(self, quantity: Decimal) -> str:
        """Format a quantity with all its decimal places, but without trailing zeros."""
        return self._format_number(quantity, 0, MAX_DECIMALS)

    def format_rate(self, rate: Decimal) -> str:
        """Format a rate in percent, with a percent sign."""
        pattern = self.locale.percent_formats[None].pattern.replace("0", "0.####")
        return _widen_spaces(format_decimal(rate / _PERCENT, pattern, self.locale))

    def format_day(self, timestamp: datetime, time_zone: str) -> str:
        """Format a timestamp as a date in a time zone, with the name of the month."""
        return format_date(timestamp.astimezone(ZoneInfo(time_zone)), "long", self.locale)

    def format_period(self, start: datetime, end: datetime, time_zone: str) -> str:
        """Format a period as its first and last day; `end` is exclusive."""
        zone = ZoneInfo(time_zone)
        last = max(start, end - timedelta(microseconds=1))
        days = (format_date(day.astimezone(zone), "medium", self.locale) for day in (start, last))
        first_day, last_day = days
        if first_day == last_day:
            return first_day
        return self.sentences["period"].format(start=first_day, end=last_day)

    def _format_number(self, number: Decimal, min_decimals: int, max_decimals: int = 0) -> str:
        pattern = _load_pattern(min_decimals, max_decimals)
        return _widen_spaces(format_decimal(number, pattern, self.locale))

    def get_country_name(self, code: str) -> str:
        """Return a country's name in this language, or its code if there is no name."""
        return str(self.locale.territories.get(code, code))


@cache
def load_translations(language: Language) -> Translations:
    """Load the translations into a language. Raises `InvoiceError` if the language is unknown."""
    if language not in LANGUAGES:
        raise InvoiceError("language", f"must be one of {', '.join(LANGUAGES)}")
    content = tomllib.loads((_LANGUAGE_FOLDER / f"{language}.toml").read_text(encoding="utf-8"))
    return Translations(**{**content, "locale": Locale.parse(content["locale"])})


@lru_cache(maxsize=4096)
def describe_plan(
    plan: str,
    start: datetime,
    end: datetime,
    *,
    period_count: int = 1,
    language: Language = "en",
) -> str:
    """Return the description for a line that charges a plan's price for a period.

    If `period_count` is greater than 1, the line charges this number of periods, the first of which
    begins at `start` and the last of which ends at `end`.
    """
    translations = load_translations(language)
    period = translations.format_period(start, end, "UTC")
    if period_count == 1:
        return translations.sentences["plan"].format(plan=plan, period=period)
    count = translations.format_quantity(Decimal(period_count))
    return translations.sentences["plan_periods"].format(plan=plan, period=period, count=count)


def describe_meter(
    meter: str, *, unit_size: int = 1, is_bytes: bool = False, language: Language = "en"
) -> str:
    """Return a meter's name, followed by the unit size if that size has no unit code."""
    translations = load_translations(language)
    name = translations.meters.get(meter, meter)
    if find_unit_code(unit_size, is_bytes=is_bytes):
        return name
    return f"{name} (\N{MULTIPLICATION SIGN} {translations.format_quantity(Decimal(unit_size))})"


@lru_cache(maxsize=4096)
def describe_tier(
    description: str, start: Decimal, end: Decimal | None, language: Language = "en"
) -> str:
    """Return a description with a tier's range: above `start`, up to and including any `end`."""
    translations = load_translations(language)
    if end is None:
        values = {"start": translations.format_quantity(start)}
        return translations.sentences["last_tier"].format(description=description, **values)
    is_whole = start == start.to_integral_value()
    first_unit = start + 1 if is_whole and end > start + 1 else start
    return translations.sentences["tier"].format(
        description=description,
        first=translations.format_quantity(first_unit),
        last=translations.format_quantity(end),
    )


def describe_payment(document: Document) -> str:
    """Return the sentence about the payment of a document.

    The sentence contains the amount to pay and the due date, if any, or the credited amount. If the
    total is not above 0, the sentence says that no payment is necessary.
    """
    translations = load_translations(document.language)
    sentence = translations.sentences[_choose_sentence(document)]
    due = translations.format_day(document.due_at, document.time_zone) if document.due_at else ""
    return sentence.format(
        total=translations.format_money(document.total, document.currency),
        due=due,
        number=clean_text(document.number or translations.labels["draft"]),
    )


def describe_reason(tax: Tax, translations: Translations) -> str | None:
    """Return the reason why no tax is charged, or None if tax is charged."""
    if tax.rate:
        return None
    return clean_text(tax.reason) if tax.reason else translations.reasons[tax.category]


def _choose_sentence(document: Document) -> str:
    if document.total <= 0:
        return "no_payment"
    if document.kind == "credit_note":
        return "credit"
    return "pay" if document.due_at else "pay_now"


@cache
def _load_pattern(min_decimals: int, max_decimals: int) -> NumberPattern:
    return parse_pattern(_build_pattern(min_decimals, max_decimals))


def _build_pattern(min_decimals: int, max_decimals: int = 0) -> str:
    decimals = "0" * min_decimals + "#" * max(0, max_decimals - min_decimals)
    return f"#,##0.{decimals}" if decimals else "#,##0"


def _widen_spaces(number: str) -> str:
    """Replace narrow spaces between digits, which are hard to see in print, with wider spaces."""
    return number.replace("\N{NARROW NO-BREAK SPACE}", "\N{NO-BREAK SPACE}")
