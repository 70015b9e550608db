"""Normalize numbers and integers.

A number is stored as a JSON number if the shortest notation of the nearest double is the same
decimal. Otherwise, it is stored as a decimal string, so that a JSON parser that reads doubles loses
no digits.
"""

from decimal import Decimal

from app.engines.fields.decimals import format_decimal, parse_decimal
from app.engines.fields.errors import ValueProblem
from app.engines.fields.model import Field, JsonValue, Normalizer, get_range

MAX_SAFE_INTEGER = 2**53 - 1


def build_normalizer(field: Field) -> Normalizer:
    """Build the normalizer for a number or integer field, including its `min` and `max`."""
    low, high = get_range(field, parse_decimal)
    convert = _to_integer if field["type"] == "integer" else _to_number

    def normalize(value: object) -> JsonValue:
        number = parse_decimal(value)
        check_range(number, low, high)
        return convert(number)

    return normalize


def check_range(number: Decimal, low: Decimal | None, high: Decimal | None) -> None:
    """Raise ValueProblem if `number` is less than `low` or greater than `high`."""
    if low is not None and number < low:
        raise ValueProblem(f"is less than {format_decimal(low)}")
    if high is not None and number > high:
        raise ValueProblem(f"is greater than {format_decimal(high)}")


def _to_number(number: Decimal) -> JsonValue:
    if number == number.to_integral_value() and number.copy_abs() <= MAX_SAFE_INTEGER:
        return int(number)
    double = float(number)
    return double if Decimal(repr(double)) == number else format_decimal(number)


def _to_integer(number: Decimal) -> JsonValue:
    if number.copy_abs() > MAX_SAFE_INTEGER:
        raise ValueProblem("does not fit in a 53-bit integer; use a text field for identifiers")
    if number != number.to_integral_value():
        raise ValueProblem("must be a whole number")
    return int(number)
