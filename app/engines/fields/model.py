"""Define the field types, and the constraints that apply to each type."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeAlias, TypeVar

Field: TypeAlias = dict[str, Any]
Tag: TypeAlias = dict[str, Any]
JsonValue: TypeAlias = str | int | float | bool | dict[str, Any] | list[Any] | None
Normalizer: TypeAlias = Callable[[object], JsonValue]
_Limit = TypeVar("_Limit")

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

_RANGE_CONSTRAINTS = frozenset({"min", "max"})
_TEXT_CONSTRAINTS = frozenset({"min_length", "max_length", "pattern"})
CONSTRAINTS_BY_TYPE: dict[str, frozenset[str]] = {
    "text": _TEXT_CONSTRAINTS | {"formats"},
    "number": _RANGE_CONSTRAINTS,
    "integer": _RANGE_CONSTRAINTS,
    "money": _RANGE_CONSTRAINTS | {"currencies"},
    "date": _RANGE_CONSTRAINTS,
    "time": _RANGE_CONSTRAINTS,
    "datetime": _RANGE_CONSTRAINTS,
    "email": _TEXT_CONSTRAINTS,
    "phone": frozenset({"pattern", "formats"}),
    "url": _TEXT_CONSTRAINTS,
    "currency": frozenset({"currencies"}),
    "span": _TEXT_CONSTRAINTS,
}
"""The constraints that apply to each field type; types that are not listed have none."""

CONSTRAINTS: frozenset[str] = frozenset().union(*CONSTRAINTS_BY_TYPE.values())


def iterate_named_fields(fields: Iterable[Field]) -> Iterator[tuple[str, Field]]:
    """Yield the name and the definition of each field except tables, and of each table column.

    The name of a column is `table.column`.
    """
    for field in fields:
        if field["type"] != "table":
            yield field["key"], field
        for column in field["columns"]:
            yield f"{field['key']}.{column['key']}", column


def get_range(
    field: Field, parse: Callable[[object], _Limit]
) -> tuple[_Limit | None, _Limit | None]:
    """Return the parsed constraints `min` and `max` of a field, or None for a missing limit."""
    limits = field.get("constraints") or {}
    low, high = (
        None if limits.get(name) is None else parse(limits[name]) for name in ("min", "max")
    )
    return low, high
