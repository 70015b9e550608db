"""Translate the texts of documents, and format numbers and dates in a language.

Each language has one TOML file with texts in `languages`; babel formats numbers and dates.
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
from babel.numbers import format_currency, format_decimal

from app.engines.invoices.currencies import get_minor_digits
from app.engines.invoices.model import MAX_DECIMALS, InvoiceError, Language
from app.engines.invoices.units import find_unit_code

LANGUAGES: tuple[Language, ...] = get_args(Language)
_FOLDER = Path(__file__).parent / "languages"
_PERCENT = 100


@dataclass(frozen=True, slots=True)
class Texts:
    """The texts of a language by the names in its file."""

    locale: Locale
    labels: Mapping[str, str]
    sentences: Mapping[str, str]
    reasons: Mapping[str, str]
    units: Mapping[str, str]
    meters: Mapping[str, str]
    taxes: Mapping[str, str]

    def format_money(self, amount: Decimal, currency: str) -> str:
        """Return an amount with its currency code and all decimal places of its minor unit."""
        standard_pattern = self.locale.currency_formats["standard"].pattern
        is_code_first = standard_pattern.startswith("¤")
        number = _build_pattern(get_minor_digits(currency))
        pattern = (
            f"¤¤\N{NO-BREAK SPACE}{number}" if is_code_first else f"{number}\N{NO-BREAK SPACE}¤¤"
        )
        text = format_currency(amount, currency, pattern, self.locale, currency_digits=False)
        return _widen_spaces(text)

    def format_amount(self, amount: Decimal, currency: str) -> str:
        """Return an amount with all decimal places of its minor unit, without currency code."""
        return _widen_spaces(
            format_decimal(amount, _build_pattern(get_minor_digits(currency)), self.locale)
        )

    def format_price(self, price: Decimal, currency: str) -> str:
        """Return a unit price with at least the decimal places of its minor unit."""
        digits = get_minor_digits(currency)
        return _widen_spaces(
            format_decimal(price, _build_pattern(digits, MAX_DECIMALS), self.locale)
        )

    def format_quantity(self, quantity: Decimal) -> str:
        """Return a quantity with all its decimal places."""
        return _widen_spaces(format_decimal(quantity, _build_pattern(0, MAX_DECIMALS), self.locale))

    def format_rate(self, rate: Decimal) -> str:
        """Return a rate in percent in the format of the language."""
        pattern = self.locale.percent_formats[None].pattern.replace("0", "0.####")
        return _widen_spaces(format_decimal(rate / _PERCENT, pattern, self.locale))

    def format_day(self, timestamp: datetime, time_zone: str) -> str:
        """Return the date of a timestamp with the name of the month."""
        return format_date(timestamp.astimezone(ZoneInfo(time_zone)), "long", self.locale)

    def format_period(self, start: datetime, end: datetime, time_zone: str) -> str:
        """Return the first and the last day of a period that ends before `end`."""
        zone = ZoneInfo(time_zone)
        last = max(start, end - timedelta(microseconds=1))
        days = (format_date(day.astimezone(zone), "medium", self.locale) for day in (start, last))
        first_day, last_day = days
        if first_day == last_day:
            return first_day
        return self.sentences["period"].format(start=first_day, end=last_day)

    def get_country_name(self, code: str) -> str:
        """Return the name of a country, or its code if the language has no name for it."""
        return str(self.locale.territories.get(code, code))


@cache
def load_texts(language: Language) -> Texts:
    """Return the texts of a language. Raises `InvoiceError` if the language is unknown."""
    if language not in LANGUAGES:
        raise InvoiceError("language", f"must be one of {', '.join(LANGUAGES)}")
    content = tomllib.loads((_FOLDER / f"{language}.toml").read_text(encoding="utf-8"))
    return Texts(**{**content, "locale": Locale.parse(content["locale"])})


def describe_plan(
    plan: str, start: datetime, end: datetime, *, time_zone: str = "UTC", language: Language = "en"
) -> str:
    """Return the description of a line that charges the price of a plan for a period."""
    texts = load_texts(language)
    period = texts.format_period(start, end, time_zone)
    return texts.sentences["plan"].format(plan=plan, period=period)


def describe_unused_plan(
    plan: str, start: datetime, end: datetime, *, time_zone: str = "UTC", language: Language = "en"
) -> str:
    """Return the description of a line that credits the unused time of a plan."""
    texts = load_texts(language)
    period = texts.format_period(start, end, time_zone)
    return texts.sentences["plan_unused"].format(plan=plan, period=period)


def describe_meter(
    meter: str, *, unit: int = 1, is_bytes: bool = False, language: Language = "en"
) -> str:
    """Return the name of a meter, with the size of its unit if no unit code expresses it."""
    texts = load_texts(language)
    name = texts.meters.get(meter, meter)
    if find_unit_code(unit, is_bytes=is_bytes):
        return name
    return f"{name} (\N{MULTIPLICATION SIGN} {texts.format_quantity(Decimal(unit))})"


@lru_cache(maxsize=4096)
def describe_tier(
    description: str, start: Decimal, end: Decimal | None, language: Language = "en"
) -> str:
    """Return a description with the range of a tier: the units after `start`, up to `end`."""
    texts = load_texts(language)
    if end is None:
        values = {"start": texts.format_quantity(start)}
        return texts.sentences["last_tier"].format(description=description, **values)
    is_whole = start == start.to_integral_value()
    first = start + 1 if is_whole and end > start + 1 else start
    return texts.sentences["tier"].format(
        description=description,
        first=texts.format_quantity(first),
        last=texts.format_quantity(end),
    )


def _build_pattern(min_decimals: int, max_decimals: int = 0) -> str:
    decimals = "0" * min_decimals + "#" * max(0, max_decimals - min_decimals)
    return f"#,##0.{decimals}" if decimals else "#,##0"


def _widen_spaces(number: str) -> str:
    """Replace narrow spaces between digits, which are hard to see in print, by wider spaces."""
    return number.replace("\N{NARROW NO-BREAK SPACE}", "\N{NO-BREAK SPACE}")
