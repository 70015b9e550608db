"""Parse dates and times of day as documents write them, independently of the current date."""

import functools
import json
import re
from datetime import date, time
from pathlib import Path

from app.engines.fields.errors import ValueProblem

_SEPARATOR = r" ?([./ -]) ?"
_YEAR_FIRST = re.compile(rf"([0-9]{{4}}){_SEPARATOR}([0-9]{{1,2}}) ?\2 ?([0-9]{{1,2}})\.?")
_YEAR_LAST = re.compile(rf"([0-9]{{1,2}}){_SEPARATOR}([0-9]{{1,2}}) ?\2 ?([0-9]{{4}})\.?")
_SHORT_YEAR = re.compile(r"[0-9]{1,2} ?[./ -] ?[0-9]{1,2} ?[./ -] ?[0-9]{1,2}\.?")
_WEEK = re.compile(r"[0-9]{4}-?W[0-9]{2}")
_CJK = re.compile(r"([0-9]{4}) ?[年년] ?([0-9]{1,2}) ?[月월] ?([0-9]{1,2}) ?[日일]")
_DAY_AND_YEAR = re.compile(r"([0-9]{1,2}) ([0-9]{4})")
_TOKENS = re.compile(r"[0-9]+|[^\s0-9.,/()-]+")
_TIME = re.compile(
    r"(?P<hour>[01]?[0-9]|2[0-3])"
    r"(?:(?:[:.]| ?h ?)(?P<minute>[0-5][0-9])"
    r"(?:[:.](?P<second>[0-5][0-9])(?:[.,](?P<fraction>[0-9]{1,6}))?)?)?"
    r" ?(?P<am_pm>[ap]\.? ?m\.?)?(?: ?(?:uhr|h))?",
    re.IGNORECASE,
)
_MONTH_COUNT = 12
_NOON = 12
_NOT_A_DATE = "is not a date; use the form YYYY-MM-DD"


def parse_date(text: str) -> date:
    """Parse a date from text that `clean_text` returned.

    Accepts ISO 8601, numbers separated by periods (day first), slashes, dashes or spaces, and month
    names in any of 31 languages. Rejects an ambiguous date such as 03/04/2024 (March or April),
    a two-digit year, and an ISO week without a day. Raises ValueProblem if `text` is rejected or is
    not a date.
    """
    if _WEEK.fullmatch(text):
        raise ValueProblem("is a week; use a date in the form YYYY-MM-DD")
    try:
        return date.fromisoformat(text)
    except ValueError:
        year, month, day = _parse_written_date(text)
    try:
        return date(year, month, day)
    except ValueError:
        raise ValueProblem("is not a valid calendar date") from None


def parse_time(text: str) -> time:
    """Parse a time of day from text that `clean_text` returned.

    Accepts, for example, 14:30, 2:30 pm, 14h30 and 14.30 Uhr. Raises ValueProblem if `text` is not
    a time of day.
    """
    match = _TIME.fullmatch(text)
    if match is None or not (match["minute"] or match["am_pm"]):
        raise ValueProblem("is not a time of day; use the form HH:MM:SS")
    hour = int(match["hour"])
    if match["am_pm"]:
        if not 1 <= hour <= _NOON:
            raise ValueProblem("must have an hour from 1 to 12 with am or pm")
        hour = hour % _NOON + (_NOON if match["am_pm"][0] in "pP" else 0)
    fraction = int((match["fraction"] or "0").ljust(6, "0"))
    return time(hour, int(match["minute"] or 0), int(match["second"] or 0), fraction)


def _parse_written_date(text: str) -> tuple[int, int, int]:
    """Parse a date that is not in ISO 8601 format, and return year, month and day."""
    match = _YEAR_FIRST.fullmatch(text)
    if match is not None:
        return int(match[1]), int(match[3]), int(match[4])
    match = _CJK.fullmatch(text)
    if match is not None:
        return int(match[1]), int(match[2]), int(match[3])
    match = _YEAR_LAST.fullmatch(text)
    if match is not None:
        return _order_day_and_month(int(match[1]), int(match[3]), int(match[4]), match[2])
    if _SHORT_YEAR.fullmatch(text):
        raise ValueProblem("needs a four-digit year; use the form YYYY-MM-DD")
    return _parse_with_month_name(text)


def _order_day_and_month(
    first: int, second: int, year: int, separator: str
) -> tuple[int, int, int]:
    """Order the numbers of a date that ends with the year; return year, month and day.

    If the order of day and month is ambiguous, periods mean that the day comes first. Raises
    ValueProblem for an ambiguous date with any other separator.
    """
    if first > _MONTH_COUNT or first == second or (separator == "." and second <= _MONTH_COUNT):
        return year, second, first
    if second > _MONTH_COUNT:
        return year, first, second
    raise ValueProblem("is ambiguous: day and month could be swapped; use the form YYYY-MM-DD")


def _parse_with_month_name(text: str) -> tuple[int, int, int]:
    months, ignored_words = load_month_names()
    month: int | None = None
    numbers: list[str] = []
    for token in _TOKENS.findall(text.casefold()):
        if token.isdigit():
            numbers.append(token)
        elif token in months and month is None:
            month = months[token]
        elif token not in ignored_words:
            raise ValueProblem(_NOT_A_DATE)
    if month is None:
        raise ValueProblem(_NOT_A_DATE)
    match = _DAY_AND_YEAR.fullmatch(" ".join(sorted(numbers, key=len)))
    if match is None:
        raise ValueProblem(_NOT_A_DATE)
    return int(match[2]), month, int(match[1])


@functools.cache
def load_month_names() -> tuple[dict[str, int], frozenset[str]]:
    """Return the numbers of months by name, and the other words that may occur in a date."""
    path = Path(__file__).with_name("calendar_names.json")
    names = json.loads(path.read_text(encoding="utf-8"))
    months = {name: number for number, forms in enumerate(names["months"], 1) for name in forms}
    return months, frozenset((*names["weekdays"], *names["particles"]))
