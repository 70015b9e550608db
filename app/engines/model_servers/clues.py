"""Find the texts that may denote a value, so that other texts need no parsing.

A text that denotes a value contains a clue to the value, such as the year of a date. A text with a
clue does not always denote the value.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable
from datetime import date, timedelta
from decimal import Decimal
from typing import Any, NamedTuple

_DIGITS = re.compile(r"[0-9]+")
_YEAR_DIGITS = 4
_LAST_DIGITS = 4


class Clue(NamedTuple):
    """How to recognize values of a type; `max_words` limits the number of words in such a value."""

    list_value_clues: Callable[[Any], Iterable[str]]
    list_text_clues: Callable[[str], Iterable[str]]
    max_words: int


def _fold_digits(text: str) -> str:
    if text.isascii():
        return text
    return "".join(str(unicodedata.decimal(letter, letter)) for letter in text)


def _list_digits(text: str) -> list[str]:
    return _DIGITS.findall(_fold_digits(text))


def _find_amount(value: Any) -> list[str]:
    amount = value["amount"] if isinstance(value, dict) else value
    return _find_amount_in_text(format(Decimal(str(amount)), "f"))


def _find_amount_in_text(text: str) -> list[str]:
    return ["".join(_list_digits(text)).strip("0")]


def _find_years(value: str) -> set[str]:
    """Return the year of a date, or all years that a UTC time has in any time zone."""
    day = date.fromisoformat(value[:10])
    offsets = (
        (timedelta(days=-1), timedelta(), timedelta(days=1)) if "T" in value else (timedelta(),)
    )
    years = set()
    for offset in offsets:
        try:
            years.add((day + offset).isoformat()[:_YEAR_DIGITS])
        except OverflowError:
            continue
    return years


def _find_years_in_text(text: str) -> set[str]:
    runs = _list_digits(text)
    return {run[:_YEAR_DIGITS] for run in runs if len(run) >= _YEAR_DIGITS}


def _find_minute(value: str) -> list[str]:
    return [value[3:5]]


def _find_minutes_in_text(text: str) -> set[str]:
    # A text with a full hour may contain no minutes.
    return {"00", *_list_digits(text)}


def _find_last_digits(text: str) -> list[str]:
    return ["".join(_list_digits(text))[-_LAST_DIGITS:]]


def _find_mailbox(text: str) -> list[str]:
    mailbox, separator, _ = text.casefold().removeprefix("mailto:").partition("@")
    return [mailbox] if separator else []


def _find_host(text: str) -> list[str]:
    scheme, separator, rest = text.lower().partition("://")
    host = rest if separator else scheme
    for delimiter in "/?#:":
        host = host.partition(delimiter)[0]
    # The host of a canonical address is encoded in ASCII.
    return [host if host.isascii() and "xn--" not in host else ""] if "." in host else []


_AMOUNT = Clue(_find_amount, _find_amount_in_text, 4)
_DAY = Clue(_find_years, _find_years_in_text, 6)

CLUES = {
    "number": _AMOUNT,
    "integer": _AMOUNT,
    "money": _AMOUNT,
    "date": _DAY,
    "datetime": _DAY,
    "time": Clue(_find_minute, _find_minutes_in_text, 4),
    "phone": Clue(_find_last_digits, _find_last_digits, 6),
    "email": Clue(_find_mailbox, _find_mailbox, 1),
    "url": Clue(_find_host, _find_host, 1),
}
"""The clues of the field types whose values may have different spellings."""
