"""Define the field types and the constraints that apply to each."""

from collections.abc import Callable
from typing import Any, TypeAlias

Field: TypeAlias = dict[str, Any]
Tag: TypeAlias = dict[str, Any]
JsonValue: TypeAlias = str | int | float | bool | dict[str, Any] | list[Any] | None
Normalizer: TypeAlias = Callable[[object], JsonValue]

TYPES: tuple[str, ...] = (
    "text",
    "number",
    "integer",
    "money",
    "date",
    "time",
    "datetime",
    "boolean",
    "choice",
    "email",
    "phone",
    "url",
    "country",
    "currency",
    "address",
    "table",
    "span",
    "region",
)

_RANGE = frozenset({"min", "max"})
_LENGTH = frozenset({"min_length", "max_length", "pattern"})
CONSTRAINTS_BY_TYPE: dict[str, frozenset[str]] = {
    "text": _LENGTH | {"formats"},
    "number": _RANGE,
    "integer": _RANGE,
    "money": _RANGE | {"currencies"},
    "date": _RANGE,
    "time": _RANGE,
    "datetime": _RANGE,
    "email": _LENGTH,
    "phone": frozenset({"pattern", "formats"}),
    "url": _LENGTH,
    "currency": frozenset({"currencies"}),
    "span": _LENGTH,
}
"""The constraints that apply to each type; other types have no constraints."""

CONSTRAINTS: frozenset[str] = frozenset().union(*CONSTRAINTS_BY_TYPE.values())
