"""Convert the labels of a batch of tag sets to one Arrow column for each field.

A column of plain values is checked and built as a whole, which is several times faster than value
by value. If any value in the batch does not fit, each value is converted separately.
"""

from collections.abc import Callable, Mapping, Sequence
from math import isfinite
from typing import Any, TypeAlias

from app.engines.formats.model import Field
from app.engines.formats.parquet_values import AMOUNT, build_converter, is_text
from app.engines.formats.parsing import dump_json

_Labels: TypeAlias = Sequence[Mapping[str, Any]]
_Build: TypeAlias = Callable[[Any, Sequence[Any], Any], Any]
_NONE_TYPE = type(None)


class UnfitColumnError(ValueError):
    """A column that cannot be built as a whole."""


class LabelColumnBuilder:
    """Builds the column `labels`.

    Args:
        arrow: the module pyarrow.
        fields: the union of the fields of all versions.
        type_: the Arrow type of the labels, with one child for each field.
    """

    def __init__(self, arrow: Any, fields: Sequence[Field], type_: Any) -> None:
        self._arrow = arrow
        self._types = list(type_)
        self._converters = {field["key"]: build_converter(field) for field in fields}
        self._builders = {
            field["key"]: _build_texts if is_text(field) else _BUILDERS[field["type"]]
            for field in fields
            if is_text(field) or (field["type"] in _BUILDERS and not field.get("multiple"))
        }

    def build(self, rows: _Labels) -> tuple[Any, list[str | None]]:
        """Return the column and, for each row, the labels that do not fit their columns as JSON."""
        unfit: dict[int, set[str]] = {}
        known_keys = self._converters.keys()
        for number, labels in enumerate(rows):
            if not labels.keys() <= known_keys:
                unfit[number] = set(labels.keys() - known_keys)
        arrays = [self._build_column(child, rows, unfit) for child in self._types]
        other_labels: list[str | None] = [None] * len(rows)
        for number, keys in unfit.items():
            other_labels[number] = dump_json({k: v for k, v in rows[number].items() if k in keys})
        return self._arrow.StructArray.from_arrays(arrays, fields=self._types), other_labels

    def _build_column(self, child: Any, rows: _Labels, unfit: dict[int, set[str]]) -> Any:
        """Return the column of one field.

        A value that does not fit becomes null, and its key is added to `unfit`.
        """
        key = child.name
        values = [labels.get(key) for labels in rows]
        try:
            if key in self._builders:
                return self._builders[key](self._arrow, values, child.type)
        except (ValueError, OverflowError):  # Arrow raises ValueErrors for values
            pass
        convert = self._converters[key]
        converted: list[Any] = [None] * len(values)
        for number, value in enumerate(values):
            if value is not None:
                try:
                    converted[number] = convert(value)
                except (ValueError, OverflowError):
                    unfit.setdefault(number, set()).add(key)
        return self._arrow.array(converted, type=child.type)


def _require_types(values: Sequence[Any], *types: type) -> None:
    if not {_NONE_TYPE, *types}.issuperset(map(type, values)):
        raise UnfitColumnError


def _build_texts(arrow: Any, values: Sequence[Any], type_: Any) -> Any:
    _require_types(values, str)
    return arrow.array(values, type=type_)


def _build_numbers(arrow: Any, values: Sequence[Any], type_: Any) -> Any:
    _require_types(values, float)
    if not all(map(isfinite, filter(None, values))):
        raise UnfitColumnError
    return arrow.array(values, type=type_)


def _build_integers(arrow: Any, values: Sequence[Any], type_: Any) -> Any:
    _require_types(values, int)
    return arrow.array(values, type=type_)


def _build_booleans(arrow: Any, values: Sequence[Any], type_: Any) -> Any:
    _require_types(values, bool)
    return arrow.array(values, type=type_)


def _build_money(arrow: Any, values: Sequence[Any], type_: Any) -> Any:
    _require_types(values, dict)
    non_null = [value or {"amount": None, "currency": None} for value in values]
    if any(value.keys() != {"amount", "currency"} for value in non_null):
        raise UnfitColumnError
    amounts = [value["amount"] for value in non_null]
    currencies = [value["currency"] for value in non_null]
    _require_types(amounts, str)
    _require_types(currencies, str)
    fits = [amount is not None and AMOUNT.fullmatch(amount) is not None for amount in amounts]
    if fits != [value is not None for value in values]:
        raise UnfitColumnError
    texts = arrow.array(amounts, type=arrow.string())
    arrays = [texts.cast(type_[0].type), arrow.array(currencies, type=type_[1].type)]
    nulls = arrow.array([value is None for value in values])
    return arrow.StructArray.from_arrays(arrays, fields=list(type_), mask=nulls)


_BUILDERS: Mapping[str, _Build] = {
    "number": _build_numbers,
    "integer": _build_integers,
    "boolean": _build_booleans,
    "money": _build_money,
}
