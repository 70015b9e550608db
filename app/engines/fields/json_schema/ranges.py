"""Build regular expressions that compare decimals, dates and times stored as text.

JSON Schema compares numbers but not strings, so the limits of amounts, exact decimals and dates are
expressed as patterns. The patterns use only syntax that every regular expression engine accepts.
"""

from collections.abc import Iterator
from decimal import Decimal

from app.engines.fields.decimals import MAX_DIGITS, format_decimal

DECIMAL_PATTERN = rf"^-?(?:0|[1-9][0-9]{{0,{MAX_DIGITS - 1}}})(?:\.[0-9]{{1,{MAX_DIGITS}}})?$"
"""The pattern of a stored decimal: fixed notation without leading zeros."""

_OPTIONAL_FRACTION = r"(?:\.[0-9]+)?"
_FRACTION_LENGTH = len(".000000")


def build_decimal_min_pattern(low: Decimal) -> str:
    """Build a pattern that matches a decimal (see DECIMAL_PATTERN) if it is at least `low`."""
    if low > 0:
        return f"^(?:{'|'.join(_list_patterns_at_least(low))})$"
    return f"^(?:[0-9]|-(?:{'|'.join(_list_patterns_at_most(-low))})$)" if low else "^[0-9]"


def build_decimal_max_pattern(high: Decimal) -> str:
    """Build a pattern that matches a decimal (see DECIMAL_PATTERN) if it is at most `high`."""
    if high < 0:
        return f"^-(?:{'|'.join(_list_patterns_at_least(-high))})$"
    return f"^(?:-|(?:{'|'.join(_list_patterns_at_most(high))})$)"


def build_time_min_pattern(low: str) -> str:
    """Build a pattern that matches a canonical date, time or datetime if it is not before `low`."""
    text = low.rstrip("Z")
    return f"^(?:{'|'.join([*_list_greater_patterns(text), _escape(text)])})"


def build_time_max_pattern(high: str) -> str:
    """Build a pattern that matches a canonical date, time or datetime if it is not after `high`."""
    latest, end = high.rstrip("Z"), "Z$" if high.endswith("Z") else "$"
    # A time without a fraction is before the same time with a fraction; it needs its own pattern.
    whole_texts = [latest, latest[:-_FRACTION_LENGTH]] if "." in latest else [latest]
    whole_patterns = [_escape(text) + end for text in whole_texts]
    return f"^(?:{'|'.join([*_list_smaller_patterns(latest), *whole_patterns])})"


def _list_patterns_at_least(limit: Decimal) -> Iterator[str]:
    whole, _, fraction = format_decimal(limit).partition(".")
    yield rf"[1-9][0-9]{{{len(whole)},}}{_OPTIONAL_FRACTION}"
    for text in _list_greater_patterns(whole):
        yield f"{text}{_build_digits_pattern(len(whole), text)}{_OPTIONAL_FRACTION}"
    if fraction:
        yield from (rf"{whole}\.{text}[0-9]*" for text in _list_greater_patterns(fraction))
        yield rf"{whole}\.{fraction}[0-9]*"
    else:
        yield f"{whole}{_OPTIONAL_FRACTION}"


def _list_patterns_at_most(limit: Decimal) -> Iterator[str]:
    whole, _, fraction = format_decimal(limit).partition(".")
    if len(whole) > 1:
        yield rf"(?:0|[1-9][0-9]{{0,{len(whole) - 2}}}){_OPTIONAL_FRACTION}"
    for text in _list_smaller_patterns(whole, min_first_digit="1" if len(whole) > 1 else "0"):
        yield f"{text}{_build_digits_pattern(len(whole), text)}{_OPTIONAL_FRACTION}"
    yield from (rf"{whole}\.{text}[0-9]*" for text in _list_smaller_patterns(fraction))
    yield from (rf"{whole}\.{fraction[:end]}" for end in range(1, len(fraction)))
    yield rf"{whole}(?:\.{fraction}0*)?"


def _list_greater_patterns(text: str) -> Iterator[str]:
    """List patterns for texts whose first difference from `text` is a greater digit.

    A pattern ends with this digit. There is at most one pattern per digit of `text`.
    """
    for index, char in enumerate(text):
        if "0" <= char < "9":
            yield f"{_escape(text[:index])}[{int(char) + 1}-9]"


def _list_smaller_patterns(text: str, *, min_first_digit: str = "0") -> Iterator[str]:
    """List patterns for texts whose first difference from `text` is a smaller digit.

    A pattern ends with this digit. There is at most one pattern per digit of `text`. The first
    digit is at least `min_first_digit`.
    """
    for index, char in enumerate(text):
        min_digit = min_first_digit if index == 0 else "0"
        if min_digit < char <= "9":
            yield f"{_escape(text[:index])}[{min_digit}-{int(char) - 1}]"


def _build_digits_pattern(length: int, beginning: str) -> str:
    """Build a pattern for the digits that follow `beginning` in a number of `length` digits.

    `beginning` is a pattern that ends with a digit class such as `[3-9]`. The result is empty if no
    digits follow.
    """
    digit_count = length - (len(beginning) - len("[0-9]")) - 1
    return f"[0-9]{{{digit_count}}}" if digit_count else ""


def _escape(text: str) -> str:
    return text.replace(".", r"\.")
