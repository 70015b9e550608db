"""Normalize values, and convert them to 64-bit digests and to numbers."""

import math
from collections.abc import Hashable
from datetime import date, datetime, time
from decimal import Context, Decimal, InvalidOperation
from functools import lru_cache
from hashlib import blake2b
from uuid import UUID

import orjson

from app.engines.fields.decimals import MAX_DIGITS
from app.engines.normalization import normalize

_EXACT_CONTEXT = Context(prec=2 * MAX_DIGITS)
"""The context for exact arithmetic. The default context would round numbers to 28 digits."""
_FREE_TEXT_TYPES = frozenset(("text", "span", "region", "address"))
_CACHE_SIZE = 20_000
_SECONDS_PER_DAY = 86_400.0


def normalize_value(field_type: str, value: object) -> Hashable:
    """Return a key that is the same for values with the same meaning.

    `value` must be in canonical form. Numbers and amounts are compared as numbers (1.50 EUR is 1.5
    EUR, but not 1.5 USD). The comparison of free text ignores case, repeated spaces and
    compatibility forms of characters (NFKC), for example ligatures. The order of a list is ignored.
    All other values have only one canonical form.
    """
    if isinstance(value, list):
        return tuple(sorted((normalize_value(field_type, item) for item in value), key=repr))
    if isinstance(value, str):
        if field_type in _FREE_TEXT_TYPES:
            return " ".join(normalize("NFKC", value).casefold().split())
        return (
            build_comparison_key(_normalize_number(value))
            if field_type in ("number", "integer")
            else value
        )
    return build_comparison_key(value)


def build_comparison_key(value: object) -> Hashable:
    """Build the comparison key for a value; equal numbers or amounts have equal keys."""
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
        return number.normalize(_EXACT_CONTEXT) if number else Decimal(0)
    except InvalidOperation:
        return text


def compute_digest(value: object) -> int:
    """Return a 64-bit digest, which is the same for equal values in every process.

    The probability that any two of a million different values have the same digest is 1 in 37
    million.
    """
    return _digest_text(value) if isinstance(value, str) else _digest_bytes(_serialize(value))


def _digest_bytes(data: bytes) -> int:
    return int.from_bytes(blake2b(data, digest_size=8).digest(), "big")


@lru_cache(maxsize=_CACHE_SIZE)
def _digest_text(text: str) -> int:
    return _digest_bytes(b"s" + text.encode("utf-8", "surrogatepass"))


def _serialize(value: object) -> bytes:
    if isinstance(value, UUID):
        return value.bytes
    if isinstance(value, list | tuple | set | frozenset):  # several values of one field
        return b"l" + b"".join(sorted(compute_digest(item).to_bytes(8, "big") for item in value))
    if isinstance(value, dict):
        return b"d" + orjson.dumps(value, option=orjson.OPT_SORT_KEYS, default=str)
    return repr(build_comparison_key(value)).encode()


def to_number(value: object) -> float | None:
    """Convert a value to a number for a level above nominal; return None if this is impossible.

    Dates and times are converted to days. An amount of money loses its currency.
    """
    if isinstance(value, dict):
        value = value.get("amount")
    if isinstance(value, str):
        value = _parse_text(value)
    if isinstance(value, datetime):
        seconds = value.hour * 3600 + value.minute * 60 + value.second
        return value.toordinal() + seconds / _SECONDS_PER_DAY
    if isinstance(value, date):
        return float(value.toordinal())
    if isinstance(value, time):
        return (value.hour * 3600 + value.minute * 60 + value.second) / _SECONDS_PER_DAY
    if isinstance(value, bool | int | float | Decimal):
        return _to_finite_float(value)
    return None


def _to_finite_float(value: float | Decimal) -> float | None:
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def _parse_text(text: str) -> float | date | time | None:
    for parse in (float, date.fromisoformat, datetime.fromisoformat, time.fromisoformat):
        try:
            return parse(text)
        except ValueError:
            continue
    return None
