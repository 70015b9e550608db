"""Convert values to 64-bit digests and to numbers."""

import math
from datetime import date, datetime, time
from decimal import Decimal
from functools import lru_cache
from hashlib import blake2b
from uuid import UUID

import orjson

from app.engines.agreement.coefficients.normalizing import build_key

_CACHE_SIZE = 20_000
_SECONDS_PER_DAY = 86_400.0


def digest(value: object) -> int:
    """Return a 64-bit digest, which is the same for equal values in every process.

    The probability that any two of a million different values have the same digest is 1 in 37
    million.
    """
    return _digest_text(value) if type(value) is str else _digest_bytes(_serialize(value))


def _digest_bytes(data: bytes) -> int:
    return int.from_bytes(blake2b(data, digest_size=8).digest(), "big")


@lru_cache(maxsize=_CACHE_SIZE)
def _digest_text(text: str) -> int:
    return _digest_bytes(b"s" + text.encode("utf-8", "surrogatepass"))


def _serialize(value: object) -> bytes:
    if isinstance(value, UUID):
        return value.bytes
    if isinstance(value, str):
        return b"s" + value.encode("utf-8", "surrogatepass")
    if isinstance(value, list | tuple | set | frozenset):  # several values of one field
        return b"l" + b"".join(sorted(digest(item).to_bytes(8, "big") for item in value))
    if isinstance(value, dict):
        return b"d" + orjson.dumps(value, option=orjson.OPT_SORT_KEYS, default=str)
    return repr(build_key(value)).encode()


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
