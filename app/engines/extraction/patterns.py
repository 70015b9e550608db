"""Find dates, times, amounts and other typed texts in a row of tokens."""

import functools
import json
import re
import unicodedata
from collections.abc import Iterator
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import NamedTuple

from app.engines import fields as field_engine

_YEARS = range(1950, 2100)


class Found(NamedTuple):
    """A typed text at `start` to `end` of a row's text; `alternative` is its less usual reading."""

    start: int
    end: int
    value: str
    alternative: str | None = None


_SEPARATED = re.compile(
    r"(?<![\d./-])(\d{1,2})\s?([/.\-])\s?(\d{1,2})\s?\2\s?(\d{4}(?=\d{1,2}:\d\d|\D|$)|\d{2}(?!\d))"
)
_YEAR_FIRST = re.compile(r"(?<![\d./-])(\d{4})\s?([/.\-])\s?(\d{1,2})\s?\2\s?(\d{1,2})(?!\d)")
_CHINESE = re.compile(r"(\d{4})\s?年\s?(\d{1,2})\s?月\s?(\d{1,2})\s?日")
_PLAIN = re.compile(r"(?<!\d)((?:19|20)\d\d)(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])(?!\d)")
_TIME = re.compile(
    r"(?<![\d:.])([01]?\d|2[0-3])[:h]([0-5]\d)(?:[:.]([0-5]\d))?(?:\s?([ap])\.?m\b\.?)?(?![\d:])",
    re.IGNORECASE,
)
_AMOUNT = re.compile(
    r"(?<![\d.,/:])-?"
    r"(?:\d{1,3}(?:[.,'\u2019 ]\d{3})+[.,]\d{2}(?!\d)"
    r"|\d{1,3}(?:[.,'\u2019]\d{3})+(?!\d)"
    r"|\d+(?:[.,]\d{1,3})?)(?![\d/:]|[.,]\d)"
)
_EMAIL = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_URL = re.compile(r"(?:https?://|www\.)[^\s,;<>]+[^\s,;.<>]", re.IGNORECASE)
_PHONE = re.compile(r"(?<![\w.,])(?:\+|00)?\(?\d[\d\s()/.-]{5,18}\d(?![\w])")
_CODE = re.compile(
    r"[A-Z]{2}\s?\d{2}(?:\s?[A-Z0-9]{4}){3,8}(?:\s?[A-Z0-9]{1,3})?|[A-Z0-9][A-Z0-9./ -]{4,32}"
)
_SIMPLE = {"email": _EMAIL, "url": _URL, "phone": _PHONE, "code": _CODE}


def find_dates(text: str) -> Iterator[Found]:
    """Yield the dates of a row, in ISO form. If the order is ambiguous, the day comes first."""
    for match in _SEPARATED.finditer(text):
        first, _, second, year = match.groups()
        usual = _build_date(year, second, first)
        other = _build_date(year, first, second)
        if usual or other:
            alternative = other if usual and other and other != usual else None
            yield Found(*match.span(), usual or other, alternative)
    for pattern, order in ((_YEAR_FIRST, (1, 3, 4)), (_CHINESE, (1, 2, 3)), (_PLAIN, (1, 2, 3))):
        for match in pattern.finditer(text):
            if iso := _build_date(*(match[group] for group in order)):
                yield Found(*match.span(), iso)
    yield from _find_named_dates(text)


def _find_named_dates(text: str) -> Iterator[Found]:
    folded = _fold(text)
    if len(folded) != len(text):
        return
    day_first, month_first, months = _load_months()
    spans: list[tuple[int, int]] = []
    for pattern, day, month in ((day_first, 1, 2), (month_first, 2, 1)):
        for match in pattern.finditer(folded):
            iso = _build_date(match[3], str(months[match[month]]), match[day])
            if iso and all(match.start() >= b or match.end() <= a for a, b in spans):
                spans.append(match.span())
                yield Found(*match.span(), iso)


@functools.cache
def _load_months() -> tuple[re.Pattern[str], re.Pattern[str], dict[str, int]]:
    path = Path(field_engine.__file__).with_name("calendar_names.json")
    names = json.loads(path.read_text(encoding="utf-8"))["months"]
    months = {_fold(name): number for number, row in enumerate(names, 1) for name in row}
    months |= {"sept": 9, "okt": 10, "dez": 12, "mai": 5}
    one = "|".join(sorted((re.escape(name) for name in months), key=len, reverse=True))
    year = r"((?:19|20)\d\d(?!\d)|(?:19|20)\d\d(?=\d\d:\d\d)|\d\d(?![\d:]))"
    between = r"[\s\-/.,']{0,3}"
    day = r"(?<![\d/.])(\d{1,2})(?:st|nd|rd|th|er|º)?"
    day_first = rf"{day}{between}(?:de |of |di )?({one}){between}(?:de |del )?{year}"
    month_first = (
        rf"(?<![^\W\d_])({one}){between}(\d{{1,2}})(?:st|nd|rd|th)?(?:\s?,\s?|\s|-|/){{1,2}}{year}"
    )
    return re.compile(day_first), re.compile(month_first), months


def find_times(text: str) -> Iterator[Found]:
    """Yield the times of a row as HH:MM:SS."""
    for match in _TIME.finditer(text):
        hour, minute, second, half = match.groups()
        number = int(hour)
        if half:
            number = number % 12 + (12 if half.lower() == "p" else 0)
        yield Found(*match.span(), f"{number:02}:{minute}:{second or '00'}")


def find_amounts(text: str) -> Iterator[Found]:
    """Yield the numbers of a row as decimals with a point."""
    for match in _AMOUNT.finditer(text):
        value = parse_amount(match[0])
        if value is None:
            continue
        yield Found(*match.span(), str(value))
        # `3 119,04` is a quantity and an amount, or one amount.
        blank = match[0].find(" ")
        if blank > 0:
            start = match.start() + blank + 1
            rest = parse_amount(text[start : match.end()])
            if rest is not None:
                yield Found(start, match.end(), str(rest))
                yield Found(match.start(), match.start() + blank, match[0][:blank].lstrip("-"))


def parse_amount(text: str) -> Decimal | None:
    """Return the decimal of a written amount; three digits after its only mark are thousands."""
    body = re.sub(r"[\s'\u2019]", "", text)
    sign, body = ("-", body[1:]) if body.startswith("-") else ("", body)
    mark = max(body.rfind("."), body.rfind(","))
    if mark < 0:
        return Decimal(sign + body) if body.isdigit() and len(body) <= 30 else None  # noqa: PLR2004
    fraction = body[mark + 1 :]
    whole = re.sub(r"[.,]", "", body[:mark])
    if len(fraction) == 3 and whole != "0":  # noqa: PLR2004 - a group of thousands
        whole, fraction = whole + fraction, ""
    if not (whole or "0").isdigit() or (fraction and not fraction.isdigit()):
        return None
    return Decimal(f"{sign}{whole or '0'}.{fraction or '0'}") if fraction else Decimal(sign + whole)


def find_simple(kind: str, text: str) -> Iterator[Found]:
    """Yield the texts of a row that look like an `email`, `url`, `phone` or `code`."""
    for match in _SIMPLE[kind].finditer(text):
        yield Found(*match.span(), match[0])


def _build_date(year: str, month: str, day: str) -> str:
    number = int(year)
    if len(year) == 2:  # noqa: PLR2004 - a year without its century
        number += 2000 if number < 80 else 1900  # noqa: PLR2004 - no receipts of 2080 yet
    if number not in _YEARS:
        return ""
    try:
        return date(number, int(month), int(day)).isoformat()
    except ValueError:
        return ""


def _fold(text: str) -> str:
    """Return the text in lower case without accents, with as many characters as before."""
    return "".join(unicodedata.normalize("NFKD", char)[0].lower()[:1] for char in text)
