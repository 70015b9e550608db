"""Parse decimal numbers in the notations that people use, and reject ambiguous numbers."""

import re
from decimal import Decimal

from app.engines.fields.errors import ValueProblem
from app.engines.fields.plain_text import clean_text

MAX_DIGITS = 50

_JSON_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]+)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?")
_WRITTEN_NUMBER = re.compile(r"([+-]?) ?([0-9.,' ]*[0-9])")
_GROUPED = re.compile(r"[0-9]{1,3}(?:([.,' ])[0-9]{3})(?:\1[0-9]{3})*")
_THOUSANDS_OR_DECIMALS = re.compile(r"[1-9][0-9]{0,2}[.,][0-9]{3}")
# The whole part of 12,34,567.89, as written in India.
_LAKHS = re.compile(r"[0-9]{1,2}(?:,[0-9]{2})+,[0-9]{3}")


def parse_decimal(value: object) -> Decimal:
    """Parse the exact decimal value of a JSON number or a string.

    A string in JSON notation (`-1234.5`, `1e3`) is parsed as a JSON number; any other string is
    parsed by `parse_grouped`. A float is converted from its shortest notation, so 0.1 is exactly
    one tenth. Raises ValueProblem if `value` is not a finite number or is ambiguous, or if an
    integer or a string has more than MAX_DIGITS digits before or after the decimal point.
    """
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise ValueProblem("must be a number")
    if isinstance(value, float):
        if value != value or value in {float("inf"), float("-inf")}:  # noqa: PLR0124 - NaN
            raise ValueProblem("must be a finite number")
        return Decimal(repr(value))
    if isinstance(value, int):
        if abs(value) >= 10**MAX_DIGITS:
            raise ValueProblem(f"has more than {MAX_DIGITS} digits")
        return Decimal(value)
    text = clean_text(value)
    return check_digit_count(Decimal(text)) if _JSON_NUMBER.fullmatch(text) else parse_grouped(text)


def parse_grouped(text: str) -> Decimal:
    """Parse a number with separators: `1.234,56`, `1,234.56`, `1 234,5`, `1'234.50`.

    If the number contains both periods and commas, the last separator is the decimal separator. A
    number such as `1.234` or `12,345` is rejected, because its only separator may separate either
    decimals or thousands. `text` must have been returned by `clean_text`. Raises ValueProblem if
    `text` is rejected, is not a number, or has too many digits (see `check_digit_count`).
    """
    match = _WRITTEN_NUMBER.fullmatch(text)
    if match is None:
        raise ValueProblem("is not a number")
    sign, unsigned = match.groups()
    separator = _find_decimal_separator(unsigned)
    whole, _, fraction = unsigned.rpartition(separator) if separator else (unsigned, "", "")
    if not fraction.isdigit() and separator:
        raise ValueProblem("is not a number")
    return check_digit_count(Decimal(f"{sign}{_remove_separators(whole)}.{fraction or '0'}"))


def check_digit_count(number: Decimal) -> Decimal:
    """Check the number of digits, and return `number`; a negative zero becomes 0.

    Raises ValueProblem if there are more than MAX_DIGITS digits before or after the decimal point.
    """
    if not number:
        return Decimal(0)
    if (
        number.adjusted() >= MAX_DIGITS
        or len(format_decimal(number).partition(".")[2]) > MAX_DIGITS
    ):
        raise ValueProblem(f"has more than {MAX_DIGITS} digits before or after the decimal point")
    return number


def format_decimal(number: Decimal, min_decimals: int = 0) -> str:
    """Format a decimal exactly in fixed notation.

    Trailing zeros are removed, but at least `min_decimals` decimals remain.
    """
    whole, _, fraction = format(number, "f").partition(".")
    fraction = fraction.rstrip("0").ljust(min_decimals, "0")
    return f"{whole}.{fraction}" if fraction else whole


def _find_decimal_separator(unsigned: str) -> str:
    point_index, comma_index = unsigned.rfind("."), unsigned.rfind(",")
    if point_index >= 0 and comma_index >= 0:
        return "." if point_index > comma_index else ","
    separator = "." if point_index >= 0 else ","
    if point_index == comma_index or unsigned.count(separator) > 1:
        return ""
    if _THOUSANDS_OR_DECIMALS.fullmatch(unsigned):
        raise ValueProblem(
            f"is ambiguous: the '{separator}' may separate decimals or thousands; "
            "write the number without thousands separators"
        )
    return separator


def _remove_separators(whole: str) -> str:
    if whole.isdigit():
        return whole
    if not whole:
        return "0"
    if _GROUPED.fullmatch(whole) or _LAKHS.fullmatch(whole):
        return re.sub("[.,' ]", "", whole)
    raise ValueProblem("has misplaced thousands separators")
