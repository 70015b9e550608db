"""Normalize amounts of money: `{"amount": "123.45", "currency": "EUR"}`."""

import re
from decimal import Decimal
from typing import Any

from app.engines.fields.decimals import bounded, decimal_of, digits_of, read_written
from app.engines.fields.errors import ValueProblem
from app.engines.fields.model import Field, JsonValue, Normaliser
from app.engines.fields.plain import plain
from app.engines.fields.values.currencies import agreed, allowed_of, currency_of, minor_digits
from app.engines.fields.values.quantities import check_range

_WRITTEN = re.compile(r"([^0-9]*)([0-9](?:[0-9.,' ]*[0-9])?)([^0-9]*)")
_SIGN_OR_BRACKET = re.compile(r"[-+()]")
_NO_CENTS = re.compile(r"([.,]) ?-{1,2}(?!-)")
_BARE_FRACTION = re.compile(r"(?<![^\W\d_])(?<![.,])[.,]$")


def make(field: Field) -> Normaliser:
    """Return the normalizer of a money field.

    Accepts the object, or text such as `1.234,56 €`, `EUR 123.45`, `(12.50) USD`. An amount without
    a currency is accepted if the field allows exactly one. The amount keeps its decimals and has at
    least as many as the currency.
    """
    allowed = allowed_of(field)
    limits = field.get("constraints") or {}
    low, high = (None if limits.get(m) is None else decimal_of(limits[m]) for m in ("min", "max"))

    def normalise(value: object) -> JsonValue:
        number, token = _parts(value)
        currency = currency_of(token, allowed) if token else _get_only_currency(allowed)
        number = bounded(number)
        check_range(number, low, high)
        return {"amount": digits_of(number, minor_digits(currency)), "currency": currency}

    return normalise


def _parts(value: object) -> tuple[Decimal, str]:
    if isinstance(value, dict):
        return _from_object(value)
    if isinstance(value, str):
        return _from_text(plain(value))
    if isinstance(value, int | float):
        return decimal_of(value), ""
    raise ValueProblem('must be {"amount", "currency"} or text such as "EUR 123.45"')


def _from_object(value: dict[Any, Any]) -> tuple[Decimal, str]:
    if not value.keys() <= {"amount", "currency"} or "amount" not in value:
        raise ValueProblem('must have the members "amount" and "currency"')
    currency = value.get("currency")
    return decimal_of(value["amount"]), "" if currency is None else plain(currency)


def _from_text(text: str) -> tuple[Decimal, str]:
    match = _WRITTEN.fullmatch(text)
    if match is None:
        raise ValueProblem("is not an amount of money")
    before, body, after = match.groups()
    if (no_cents := _NO_CENTS.match(after)) is not None:
        body, after = f"{body}{no_cents[1]}00", after[no_cents.end() :]
    # In $.50 the point is a decimal point; in Rs.50 it belongs to the currency.
    if _BARE_FRACTION.search(before):
        before, body = before[:-1], before[-1] + body
    if before.endswith(("..", ",")):
        raise ValueProblem("is not an amount of money")
    signs = _SIGN_OR_BRACKET.findall(before + after)
    if signs not in ([], ["-"], ["+"], ["(", ")"]):
        raise ValueProblem("is not an amount of money")
    tokens = {_SIGN_OR_BRACKET.sub("", part).strip() for part in (before, after)} - {""}
    number = read_written(body)
    if signs in (["-"], ["(", ")"]):
        number = number.copy_negate()
    return number, agreed(tokens)


def _get_only_currency(allowed: tuple[str, ...]) -> str:
    if len(allowed) != 1:
        raise ValueProblem("needs a currency")
    return allowed[0]
