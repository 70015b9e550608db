"""Turn values into keys of eight bytes, and into numbers."""

import math
from datetime import date, datetime, time
from decimal import Decimal
from functools import lru_cache
from hashlib import blake2b
from typing import Any
from uuid import UUID

import orjson

from app.engines.agreement.coefficients.normalizing import build_key

_CACHED = 20_000
_SECONDS_PER_DAY = 86_400.0


def digest(value: Any) -> int:
    """Return 64 bits that are equal for equal values, in every process.

    Two of a million values share them with a probability of 1 : 37 million.
    """
    return _digest_text(value) if type(value) is str else _digest_bytes(_serialize(value))


def _digest_bytes(data: bytes) -> int:
    return int.from_bytes(blake2b(data, digest_size=8).digest(), "big")


@lru_cache(maxsize=_CACHED)
def _digest_text(text: str) -> int:
    return _digest_bytes(b"s" + text.encode("utf-8", "surrogatepass"))


def _serialize(value: Any) -> bytes:
    if isinstance(value, UUID):
        return value.bytes
    if isinstance(value, str):
        return b"s" + value.encode("utf-8", "surrogatepass")
    if isinstance(value, list | tuple | set | frozenset):  # several values of one field
        return b"l" + b"".join(sorted(digest(item).to_bytes(8, "big") for item in value))
    if isinstance(value, dict):
        return b"d" + orjson.dumps(value, option=orjson.OPT_SORT_KEYS, default=str)
    return repr(build_key(value)).encode()


def to_number(value: Any) -> float | None:
    """Return the number on the scale of interval and ratio levels, or None if there is none.

    Dates and times count in days, an amount of money without its currency.
    """
    if isinstance(value, dict):
        value = value.get("amount")
    if isinstance(value, str):
        value = _parse(value)
    if isinstance(value, datetime):
        clock = value.hour * 3600 + value.minute * 60 + value.second
        return value.toordinal() + clock / _SECONDS_PER_DAY
    if isinstance(value, date):
        return float(value.toordinal())
    if isinstance(value, time):
        return (value.hour * 3600 + value.minute * 60 + value.second) / _SECONDS_PER_DAY
    if isinstance(value, bool | int | float | Decimal):
        return _to_finite(value)
    return None


def _to_finite(value: float | Decimal) -> float | None:
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def _parse(text: str) -> float | date | time | None:
    for parse in (float, date.fromisoformat, datetime.fromisoformat, time.fromisoformat):
        try:
            return parse(text)
        except ValueError:
            continue
    return None
