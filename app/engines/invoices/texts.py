"""Translate the texts of documents, and format numbers and dates for readers of a language.

The texts of a language are one TOML file in `languages`; babel formats the rest.
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
    """The texts of a language, by the names in its file."""

    locale: Locale
    labels: Mapping[str, str]
    sentences: Mapping[str, str]
    reasons: Mapping[str, str]
    units: Mapping[str, str]
    meters: Mapping[str, str]
    taxes: Mapping[str, str]

    def format_money(self, amount: Decimal, currency: str) -> str:
        """Return an amount with the code of its currency and all decimal places of its unit."""
        standard = self.locale.currency_formats["standard"].pattern
        is_before = standard.startswith("¤")
        number = _build_pattern(get_minor_digits(currency))
        pattern = f"¤¤\N{NO-BREAK SPACE}{number}" if is_before else f"{number}\N{NO-BREAK SPACE}¤¤"
        text = format_currency(amount, currency, pattern, self.locale, currency_digits=False)
        return _widen(text)

    def format_amount(self, amount: Decimal, currency: str) -> str:
        """Return an amount with all decimal places of its currency's unit, without the code."""
        return _widen(
            format_decimal(amount, _build_pattern(get_minor_digits(currency)), self.locale)
        )

    def format_price(self, price: Decimal, currency: str) -> str:
        """Return a unit price with at least the decimal places of its currency's unit."""
        digits = get_minor_digits(currency)
        return _widen(format_decimal(price, _build_pattern(digits, MAX_DECIMALS), self.locale))

    def format_quantity(self, quantity: Decimal) -> str:
        """Return a quantity with the decimal places that it has."""
        return _widen(format_decimal(quantity, _build_pattern(0, MAX_DECIMALS), self.locale))

    def format_rate(self, rate: Decimal) -> str:
        """Return a rate in percent as readers of the language write it."""
        pattern = self.locale.percent_formats[None].pattern.replace("0", "0.####")
        return _widen(format_decimal(rate / _PERCENT, pattern, self.locale))

    def format_day(self, moment: datetime, time_zone: str) -> str:
        """Return the date of a moment with the name of the month."""
        return format_date(moment.astimezone(ZoneInfo(time_zone)), "long", self.locale)

    def format_period(self, start: datetime, end: datetime, time_zone: str) -> str:
        """Return the first and the last day of a period that ends before `end`."""
        zone = ZoneInfo(time_zone)
        last = max(start, end - timedelta(microseconds=1))
        days = (format_date(day.astimezone(zone), "medium", self.locale) for day in (start, last))
        first_day, last_day = days
        if first_day == last_day:
            return first_day
        return self.sentences["period"].format(start=first_day, end=last_day)

    def name_country(self, code: str) -> str:
        """Return the name of a country, or its code if it has none in the language."""
        return str(self.locale.territories.get(code, code))


@cache
def load_texts(language: Language) -> Texts:
    """Return the texts of a language. Raises `InvoiceError` if it has no file."""
    if language not in LANGUAGES:
        raise InvoiceError("language", f"must be one of {', '.join(LANGUAGES)}")
    content = tomllib.loads((_FOLDER / f"{language}.toml").read_text(encoding="utf-8"))
    return Texts(**{**content, "locale": Locale.parse(content["locale"])})


def describe_plan(
    plan: str, start: datetime, end: datetime, *, time_zone: str = "UTC", language: Language = "en"
) -> str:
    """Return the description of a line for the price of a plan in a period."""
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
    """Return the name of a meter, with the size of its unit if no unit code tells it."""
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


def _build_pattern(least: int, most: int = 0) -> str:
    decimals = "0" * least + "#" * max(0, most - least)
    return f"#,##0.{decimals}" if decimals else "#,##0"


def _widen(number: str) -> str:
    """Return a number in which a narrow space between digits, hard to see in print, is wider."""
    return number.replace("\N{NARROW NO-BREAK SPACE}", "\N{NO-BREAK SPACE}")
