"""List the clues that show where a document may contain a value.

A word run is a sequence of adjacent words in a document. If it denotes a value, it contains a clue
to the value, for example the year of a date. Word runs without a clue are not parsed, which saves
time. A word run with a clue does not always denote the value.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable
from datetime import date, timedelta
from decimal import Decimal
from typing import Any, NamedTuple

_DIGIT_RUN = re.compile(r"[0-9]+")
_YEAR_DIGITS = 4
_LAST_DIGIT_COUNT = 4


class ClueFunctions(NamedTuple):
    """The functions that list the clues in a value and in a word run, for one field type.

    `max_words` is the maximum number of words in a word run that denotes a value.
    """

    list_value_clues: Callable[[Any], Iterable[str]]
    list_text_clues: Callable[[str], Iterable[str]]
    max_words: int


def _convert_digits_to_ascii(text: str) -> str:
    if text.isascii():
        return text
    return "".join(str(unicodedata.decimal(char, char)) for char in text)


def _list_digit_runs(text: str) -> list[str]:
    return _DIGIT_RUN.findall(_convert_digits_to_ascii(text))


def _find_amount(value: object) -> list[str]:
    amount = value["amount"] if isinstance(value, dict) else value
    return _find_amount_in_text(format(Decimal(str(amount)), "f"))


def _find_amount_in_text(text: str) -> list[str]:
    return ["".join(_list_digit_runs(text)).strip("0")]


def _find_years(value: str) -> set[str]:
    """Find the year of a date, or the years that a UTC datetime may have in any time zone."""
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
    runs = _list_digit_runs(text)
    return {run[:_YEAR_DIGITS] for run in runs if len(run) >= _YEAR_DIGITS}


def _find_minute(value: str) -> list[str]:
    return [value[3:5]]


def _find_minutes_in_text(text: str) -> set[str]:
    # Text for a full hour, such as "3 pm", may contain no minutes.
    return {"00", *_list_digit_runs(text)}


def _find_last_digits(text: str) -> list[str]:
    return ["".join(_list_digit_runs(text))[-_LAST_DIGIT_COUNT:]]


def _find_mailbox(text: str) -> list[str]:
    mailbox, separator, _ = text.casefold().removeprefix("mailto:").partition("@")
    return [mailbox] if separator else []


def _find_host(text: str) -> list[str]:
    before, separator, after = text.lower().partition("://")
    host = after if separator else before
    for delimiter in "/?#:":
        host = host.partition(delimiter)[0]
    # A canonical URL encodes an international host, but a document may not; the clue is then empty.
    return [host if host.isascii() and "xn--" not in host else ""] if "." in host else []


_AMOUNT_FUNCTIONS = ClueFunctions(_find_amount, _find_amount_in_text, 4)
_YEAR_FUNCTIONS = ClueFunctions(_find_years, _find_years_in_text, 6)

CLUE_FUNCTIONS = {
    "number": _AMOUNT_FUNCTIONS,
    "integer": _AMOUNT_FUNCTIONS,
    "money": _AMOUNT_FUNCTIONS,
    "date": _YEAR_FUNCTIONS,
    "datetime": _YEAR_FUNCTIONS,
    "time": ClueFunctions(_find_minute, _find_minutes_in_text, 4),
    "phone": ClueFunctions(_find_last_digits, _find_last_digits, 6),
    "email": ClueFunctions(_find_mailbox, _find_mailbox, 1),
    "url": ClueFunctions(_find_host, _find_host, 1),
}
"""The clue functions by field type, for the types whose values may have different spellings."""
