"""Texts of the lines of invoices, in the customer's language."""

import tomllib
from collections.abc import Mapping
from datetime import datetime, timedelta
from functools import cache
from pathlib import Path

from babel.dates import format_date

_FOLDER = Path(__file__).parents[1] / "languages"
_UNITS = {1: "B", 10**3: "kB", 10**6: "MB", 10**9: "GB", 2**20: "MiB", 2**30: "GiB", 2**40: "TiB"}
_INSTANT = timedelta(microseconds=1)


def describe_plan(plan: str, start: datetime, end: datetime, language: str) -> str:
    """Return the text of the line for a plan's price from `start` to before `end`."""
    return _get_texts(language)["plan"].format(plan=plan, **_format_dates(start, end, language))


def describe_charge(meter: str, unit: int, language: str) -> str:
    """Return the text of the lines for what a meter counts; `unit` has the price."""
    return _get_texts(language)[meter].format(unit=_UNITS.get(unit, f"{unit} B"))


def describe_part(text: str, plan: str, start: datetime, end: datetime, language: str) -> str:
    """Return the text of a charge that was due under a plan in a part of the period."""
    dates = _format_dates(start, end, language)
    return _get_texts(language)["during"].format(text=text, plan=plan, **dates)


def describe_cancellation(number: str, language: str) -> str:
    """Return the note on a credit note that cancels a whole invoice."""
    return _get_texts(language)["cancels"].format(number=number)


def _format_dates(start: datetime, end: datetime, language: str) -> dict[str, str]:
    return {
        "start": format_date(start, "medium", locale=language),
        "end": format_date(end - _INSTANT, "medium", locale=language),
    }


@cache
def _get_texts(language: str) -> Mapping[str, str]:
    return tomllib.loads((_FOLDER / f"{language}.toml").read_text(encoding="utf-8"))
