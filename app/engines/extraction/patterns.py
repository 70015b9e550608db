"""Find dates, times, amounts, email addresses, URLs, phone numbers and codes in a row's text."""

import functools
import re
import unicodedata
from collections.abc import Iterator
from datetime import date
from decimal import Decimal
from typing import NamedTuple

from app.engines.fields.dates import load_month_names

_YEARS = range(1950, 2100)
_MONTH_COUNT = 12
_MINUS_SIGNS = "-\u2212\u2013"


class PatternMatch(NamedTuple):
    """A match in a row's text, from offset `start` up to `end`.

    `value` is the canonical form of the matched text, and `alternative` is a less likely reading of
    the same text, or None.
    """

    start: int
    end: int
    value: str
    alternative: str | None = None


_SEPARATED_DATE = re.compile(
    r"(?<![\d./-])(\d{1,2})\s?([/.\-])\s?(\d{1,2})\s?\2\s?(\d{4}(?=\d{1,2}:\d\d|\D|$)|\d{2}(?!\d))"
)
_YEAR_FIRST_DATE = re.compile(r"(?<![\d./-])(\d{4})\s?([/.\-])\s?(\d{1,2})\s?\2\s?(\d{1,2})(?!\d)")
_CHINESE_DATE = re.compile(r"(\d{4})\s?年\s?(\d{1,2})\s?月\s?(\d{1,2})\s?日")
_COMPACT_DATE = re.compile(r"(?<!\d)((?:19|20)\d\d)(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])(?!\d)")
_TIME = re.compile(
    r"(?<![\d:.])([01]?\d|2[0-3])[:h]([0-5]\d)(?:[:.]([0-5]\d))?(?:\s?([ap])\.?m\b\.?)?(?![\d:])",
    re.IGNORECASE,
)
CURRENCY = (
    r"(?:RM|Rs|EUR|USD|GBP|CHF|(?:US|CA|C|AU|A|NZ|HK|NT|S|MX|R)?\$"
    r"|[\u00a3\u00a5\u0e3f\u20a0-\u20c0\uffe5])"
)
"""A regular expression for the currency codes and signs that may touch an amount (`RM12.50`)."""
_AMOUNT = re.compile(
    r"(?<![\d.,/:])[-\u2212\u2013]?"
    # 1.234.567,89 and 1.234,000: all thousands separators are equal.
    r"(?:\d{1,3}([.,'\u2019 ])\d{3}(?:\1\d{3})*(?:[.,]\d{2}|(?!\1)[.,]\d{3})(?!\d)"
    r"|\d{1,2}(?:,\d{2})+,\d{3}(?:\.\d{2})?(?!\d)"  # 12,34,567.89, as in India
    r"|\d{1,3}([.,'\u2019])\d{3}(?:\2\d{3})*(?!\d)"
    rf"|\d{{1,3}}(?: \d{{3}})+(?=\s?{CURRENCY}(?!\w))"
    r"|\d+(?:[.,]\d{1,3})?)(?![\d/:]|[.,]\d)",
    re.IGNORECASE,
)
_GROUPED = re.compile(r"\d{1,3}(?:([.,])\d{3})(?:\1\d{3})*|\d{1,2}(?:,\d{2})+,\d{3}")
_MINUS_BEFORE = re.compile(rf"(?<!\w)[-\u2212\u2013]{CURRENCY}\.?\s?$", re.IGNORECASE)
_PARENTHESIS_BEFORE = re.compile(rf"\((?:{CURRENCY}\.?\s?)?$", re.IGNORECASE)
_PARENTHESIS_OR_MINUS_AFTER = re.compile(rf"(?:\s?{CURRENCY})?\)|[-\u2212](?![\w-])", re.IGNORECASE)
_EMAIL = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_URL = re.compile(r"(?:https?://|www\.)[^\s,;<>]+[^\s,;.<>]", re.IGNORECASE)
_PHONE = re.compile(r"(?<![\w.,])(?:\+|00)?\(?\d[\d\s()/.-]{5,18}\d(?![\w])")
_CODE = re.compile(
    r"[A-Z]{2}\s?\d{2}(?:\s?[A-Z0-9]{4}){3,8}(?:\s?[A-Z0-9]{1,3})?|[A-Z0-9][A-Z0-9./ -]{4,32}"
)
_PATTERNS_BY_KIND = {"email": _EMAIL, "url": _URL, "phone": _PHONE, "code": _CODE}


def find_dates(text: str) -> Iterator[PatternMatch]:
    """Yield the dates in a row's text as YYYY-MM-DD.

    If the order of day and month is ambiguous, `value` is the date read with the day first, and
    `alternative` is the date read with the month first.
    """
    for match in _SEPARATED_DATE.finditer(text):
        first, _, second, year = match.groups()
        day_first = _build_date(year, second, first)
        month_first = _build_date(year, first, second)
        if day_first or month_first:
            alternative = (
                month_first if day_first and month_first and month_first != day_first else None
            )
            yield PatternMatch(*match.span(), day_first or month_first, alternative)
    for pattern, groups in (
        (_YEAR_FIRST_DATE, (1, 3, 4)),
        (_CHINESE_DATE, (1, 2, 3)),
        (_COMPACT_DATE, (1, 2, 3)),
    ):
        for match in pattern.finditer(text):
            if iso := _build_date(*(match[group] for group in groups)):
                yield PatternMatch(*match.span(), iso)
    yield from _find_named_dates(text)


def detect_month_first(text: str) -> bool | None:
    """Return True if a numeric date has the month first, False if the day, None if unclear."""
    match = _SEPARATED_DATE.fullmatch(text)
    if match is None:
        return None
    numbers = int(match[1]), int(match[3])
    return numbers[1] > numbers[0] if max(numbers) > _MONTH_COUNT else None


def _find_named_dates(text: str) -> Iterator[PatternMatch]:
    """Yield the dates with the name of a month, such as `3 May 2024`."""
    folded = _fold_text(text)
    if len(folded) != len(text):
        return
    day_first, month_first, months = _load_months()
    spans: list[tuple[int, int]] = []
    for pattern, day_group, month_group in ((day_first, 1, 2), (month_first, 2, 1)):
        for match in pattern.finditer(folded):
            iso = _build_date(match[3], str(months[match[month_group]]), match[day_group])
            if iso and all(match.start() >= b or match.end() <= a for a, b in spans):
                spans.append(match.span())
                yield PatternMatch(*match.span(), iso)


@functools.cache
def _load_months() -> tuple[re.Pattern[str], re.Pattern[str], dict[str, int]]:
    """Return the patterns for dates with the day first and with the month first, and the months.

    The months are a mapping from names to numbers.
    """
    months = {_fold_text(name): number for name, number in load_month_names()[0].items()}
    months |= {"sept": 9, "okt": 10, "dez": 12, "mai": 5}
    name = "|".join(sorted((re.escape(name) for name in months), key=len, reverse=True))
    year = r"((?:19|20)\d\d(?!\d)|(?:19|20)\d\d(?=\d\d:\d\d)|\d\d(?![\d:]))"
    gap = r"[\s\-/.,']{0,3}"
    day = r"(?<![\d/.])(\d{1,2})(?:st|nd|rd|th|er|º)?"
    day_first = rf"{day}{gap}(?:de |of |di )?({name}){gap}(?:de |del )?{year}"
    month_first = (
        rf"(?<![^\W\d_])({name}){gap}(\d{{1,2}})(?:st|nd|rd|th)?(?:\s?,\s?|\s|-|/){{1,2}}{year}"
    )
    return re.compile(day_first), re.compile(month_first), months


def find_times(text: str) -> Iterator[PatternMatch]:
    """Yield the times in a row's text as HH:MM:SS."""
    for match in _TIME.finditer(text):
        hour, minute, second, meridiem = match.groups()
        number = int(hour)
        if meridiem:
            number = number % 12 + (12 if meridiem.lower() == "p" else 0)
        yield PatternMatch(*match.span(), f"{number:02}:{minute}:{second or '00'}")


def find_amounts(text: str) -> Iterator[PatternMatch]:
    """Yield the numbers in a row's text. Values have a decimal point and no thousands separators.

    An amount after a minus sign is negative. An amount such as `12.50` or `1,200` in parentheses or
    before a minus sign is read as negative, and `alternative` is the positive amount. If a number
    contains a space, the parts before and after the space may be yielded, too.
    """
    for match in _AMOUNT.finditer(text):
        value = parse_amount(match[0])
        if value is None:
            continue
        yield _apply_sign(text, match, value)
        # `3 119,04` may be one amount, or a quantity and an amount.
        before, _, after = match[0].partition(" ")
        amount, quantity = parse_amount(after), parse_amount(before.lstrip(_MINUS_SIGNS))
        if amount is not None and quantity is not None and not re.match(r"0\d", after):
            yield PatternMatch(match.end() - len(after), match.end(), str(amount))
            yield PatternMatch(match.start(), match.start() + len(before), str(quantity))


def _apply_sign(text: str, match: re.Match[str], value: Decimal) -> PatternMatch:
    """Return the match for an amount; parentheses or a minus sign next to it make it negative."""
    before, after = text[max(0, match.start() - 6) : match.start()], text[match.end() :][:6]
    if value <= 0 or not re.search(r"[.,]\d\d$|\d[.,'\u2019 ]\d{3}", match[0]):
        return PatternMatch(*match.span(), str(value))
    if _MINUS_BEFORE.search(before):
        return PatternMatch(*match.span(), str(-value))
    after_match = _PARENTHESIS_OR_MINUS_AFTER.match(after)
    is_in_parentheses = bool(_PARENTHESIS_BEFORE.search(before))
    if after_match and is_in_parentheses == after_match[0].endswith(")"):
        return PatternMatch(*match.span(), str(-value), str(value))
    return PatternMatch(*match.span(), str(value))


def parse_amount(text: str) -> Decimal | None:
    """Parse an amount with decimal and thousands separators, or return None if it is invalid.

    If three digits follow the only separator, it separates thousands, unless a lone 0 or more than
    three digits precede it.
    """
    number_text = re.sub(r"[\s'\u2019]", "", text)
    sign = "-" if number_text.startswith(tuple(_MINUS_SIGNS)) else ""
    unsigned = number_text[len(sign) :]
    separator_index = max(unsigned.rfind("."), unsigned.rfind(","))
    if separator_index < 0:
        is_valid = unsigned.isdecimal() and len(unsigned) <= 30  # noqa: PLR2004
        return Decimal(sign + unsigned) if is_valid else None
    fraction = unsigned[separator_index + 1 :]
    whole = re.sub(r"[.,]", "", unsigned[:separator_index])
    if whole != "0" and _GROUPED.fullmatch(unsigned):
        whole, fraction = whole + fraction, ""
    if not (whole + fraction).isdecimal():
        return None
    return Decimal(f"{sign}{whole or '0'}.{fraction}") if fraction else Decimal(sign + whole)


def find_pattern_matches(kind: str, text: str) -> Iterator[PatternMatch]:
    """Yield the parts of a row's text that look like an `email`, `url`, `phone` or `code`."""
    for match in _PATTERNS_BY_KIND[kind].finditer(text):
        yield PatternMatch(*match.span(), match[0])


def _build_date(year: str, month: str, day: str) -> str:
    number = int(year)
    if len(year) == 2:  # noqa: PLR2004 - a year without its century
        number += 2000 if number < 80 else 1900  # noqa: PLR2004 - 80 is 1980
    if number not in _YEARS:
        return ""
    try:
        return date(number, int(month), int(day)).isoformat()
    except ValueError:
        return ""


def _fold_text(text: str) -> str:
    """Return the text in lower case without accents; the number of characters does not change."""
    return "".join(unicodedata.normalize("NFKD", char)[0].lower()[:1] for char in text)
