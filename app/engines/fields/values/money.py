"""Normalize amounts of money: `{"amount": "123.45", "currency": "EUR"}`."""

import re
from decimal import Decimal
from typing import Any

from app.engines.fields.decimals import (
    check_digit_count,
    format_decimal,
    parse_decimal,
    parse_grouped,
)
from app.engines.fields.errors import ValueProblem
from app.engines.fields.model import Field, JsonValue, Normalizer, get_range
from app.engines.fields.plain_text import clean_text
from app.engines.fields.values.currencies import (
    find_single_currency,
    get_allowed_currencies,
    get_decimals,
    parse_currency,
)
from app.engines.fields.values.quantities import check_range

_WRITTEN_AMOUNT = re.compile(r"([^0-9]*)([0-9](?:[0-9.,' ]*[0-9])?)([^0-9]*)")
_SIGN_OR_BRACKET = re.compile(r"[-+()]")
# The end of `12.-` or `12,--`, in which dashes replace the cents.
_NO_CENTS = re.compile(r"([.,]) ?-{1,2}(?!-)")
_BARE_FRACTION = re.compile(r"(?<![^\W\d_])(?<![.,])[.,]$")


def build_normalizer(field: Field) -> Normalizer:
    """Build the normalizer for a money field.

    The normalizer accepts an object with amount and currency, or text such as `1.234,56 €`,
    `EUR 123.45` or `(12.50) USD` (negative). An amount without a currency is accepted if the field
    allows exactly one currency. The amount gets at least the decimal places of the currency; all
    other trailing zeros are removed.
    """
    allowed_currencies = get_allowed_currencies(field)
    low, high = get_range(field, parse_decimal)

    def normalize(value: object) -> JsonValue:
        number, token = _parse_amount(value)
        currency = (
            parse_currency(token, allowed_currencies)
            if token
            else _get_only_currency(allowed_currencies)
        )
        number = check_digit_count(number)
        check_range(number, low, high)
        return {"amount": format_decimal(number, get_decimals(currency)), "currency": currency}

    return normalize


def _parse_amount(value: object) -> tuple[Decimal, str]:
    """Parse an amount; return its number, and its currency code or sign or an empty string."""
    if isinstance(value, dict):
        return _parse_object(value)
    if isinstance(value, str):
        return _parse_text(clean_text(value))
    if isinstance(value, int | float):
        return parse_decimal(value), ""
    raise ValueProblem(
        'must be an object with "amount" and "currency", or a string such as "EUR 123.45"'
    )


def _parse_object(value: dict[Any, Any]) -> tuple[Decimal, str]:
    if not value.keys() <= {"amount", "currency"} or "amount" not in value:
        raise ValueProblem(
            'must have the property "amount"; the only other property allowed is "currency"'
        )
    currency = value.get("currency")
    return parse_decimal(value["amount"]), "" if currency is None else clean_text(currency)


def _parse_text(text: str) -> tuple[Decimal, str]:
    match = _WRITTEN_AMOUNT.fullmatch(text)
    if match is None:
        raise ValueProblem("is not an amount of money")
    before, number_text, after = match.groups()
    if (no_cents_match := _NO_CENTS.match(after)) is not None:
        number_text, after = f"{number_text}{no_cents_match[1]}00", after[no_cents_match.end() :]
    # In $.50 the point is a decimal point; in Rs.50 it belongs to the currency.
    if _BARE_FRACTION.search(before):
        before, number_text = before[:-1], before[-1] + number_text
    if before.endswith(("..", ",")):
        raise ValueProblem("is not an amount of money")
    signs = _SIGN_OR_BRACKET.findall(before + after)
    if signs not in ([], ["-"], ["+"], ["(", ")"]):
        raise ValueProblem("is not an amount of money")
    tokens = {_SIGN_OR_BRACKET.sub("", part).strip() for part in (before, after)} - {""}
    number = parse_grouped(number_text)
    if signs in (["-"], ["(", ")"]):
        number = number.copy_negate()
    return number, find_single_currency(tokens)


def _get_only_currency(allowed_currencies: tuple[str, ...]) -> str:
    if len(allowed_currencies) != 1:
        raise ValueProblem("needs a currency")
    return allowed_currencies[0]
