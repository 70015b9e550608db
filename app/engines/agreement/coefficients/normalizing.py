"""Normalize values so that values with the same meaning are equal."""

from collections.abc import Hashable
from decimal import Context, Decimal, InvalidOperation

import orjson

from app.engines.fields.decimals import MAX_DIGITS
from app.engines.normalization import normalize

_EXACT = Context(prec=2 * MAX_DIGITS)
"""The context for exact arithmetic. The default context would round numbers to 28 digits."""
_FREE_TEXT_TYPES = frozenset(("text", "span", "region", "address"))


def normalize_value(field_type: str, value: object) -> Hashable:
    """Return a key that is the same for values with the same meaning.

    `value` must be in canonical form. Numbers and amounts are compared as numbers (1.50 EUR is 1.5
    EUR, but not 1.5 USD). The comparison of free text ignores case, repeated spaces and
    compatibility forms of characters (NFKC), for example ligatures. All other values have only
    one canonical form.
    """
    if isinstance(value, list):
        return tuple(sorted((normalize_value(field_type, item) for item in value), key=repr))
    if isinstance(value, str):
        if field_type in _FREE_TEXT_TYPES:
            return " ".join(normalize("NFKC", value).casefold().split())
        return build_key(_normalize_number(value)) if field_type in ("number", "integer") else value
    return build_key(value)


def build_key(value: object) -> Hashable:
    """Build a key that is the same for equal numbers or amounts, however they are written."""
    if isinstance(value, bool):
        return ("boolean", value)  # otherwise True would equal 1
    if isinstance(value, int | float | Decimal):
        return ("number", _normalize_number(str(value)))
    if isinstance(value, dict):
        if value.keys() == {"amount", "currency"}:
            return ("money", _normalize_number(str(value["amount"])), value["currency"])
        return ("object", orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode())
    return value if isinstance(value, Hashable) else repr(value)


def _normalize_number(text: str) -> Hashable:
    """Return the number in normal form, or the text unchanged if it is not a number."""
    try:
        number = Decimal(text)
        return number.normalize(_EXACT) if number else Decimal(0)
    except InvalidOperation:
        return text
