"""Convert the labels in a batch of tag sets to one Arrow column for each field.

A column of plain values is converted as a whole, which is several times faster than converting each
value. If a value in the batch does not fit the column, each value is converted separately.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from math import isfinite
from typing import Any, TypeAlias

import pyarrow as pa  # type: ignore[import-untyped]

from app.engines.formats.model import Field
from app.engines.formats.parquet_values import AMOUNT_PATTERN, build_converter, is_text
from app.engines.formats.parsing import dump_json

_Labels: TypeAlias = Sequence[Mapping[str, Any]]
_ColumnBuilder: TypeAlias = Callable[[Sequence[Any], pa.DataType], pa.Array]


class UnfitColumnError(ValueError):
    """A column cannot be converted as a whole, because a value does not fit it."""


class LabelColumnBuilder:
    """A builder for the Arrow column `labels`, which has one child column for each field.

    Args:
        fields: the union of the fields from all schema versions.
        type_: the Arrow type of the column.
    """

    def __init__(self, fields: Sequence[Field], type_: Iterable[pa.Field]) -> None:
        self._types = list(type_)
        self._converters = {field["key"]: build_converter(field) for field in fields}
        self._builders = {
            field["key"]: partial(_build_plain_column, str)
            if is_text(field)
            else _COLUMN_BUILDERS[field["type"]]
            for field in fields
            if is_text(field) or (field["type"] in _COLUMN_BUILDERS and not field.get("multiple"))
        }

    def build(self, rows: _Labels) -> tuple[pa.Array, list[str | None]]:
        """Convert the labels of all rows, and return the column and the labels that do not fit.

        The second return value contains, for each row, a JSON object with these labels, or None.
        """
        unfit_keys: dict[int, set[str]] = {}
        known_keys = self._converters.keys()
        for number, labels in enumerate(rows):
            if not labels.keys() <= known_keys:
                unfit_keys[number] = set(labels.keys() - known_keys)
        arrays = [self._build_column(child, rows, unfit_keys) for child in self._types]
        other_labels: list[str | None] = [None] * len(rows)
        for number, keys in unfit_keys.items():
            other_labels[number] = dump_json({k: v for k, v in rows[number].items() if k in keys})
        return pa.StructArray.from_arrays(arrays, fields=self._types), other_labels

    def _build_column(
        self, child: pa.Field, rows: _Labels, unfit_keys: dict[int, set[str]]
    ) -> pa.Array:
        """Build the child column for one field.

        A value that does not fit the column becomes null, and the field's key is added to
        `unfit_keys`, which maps row numbers to keys.
        """
        key = child.name
        values = [labels.get(key) for labels in rows]
        try:
            if key in self._builders:
                return self._builders[key](values, child.type)
        except (ValueError, OverflowError):  # Arrow raises them for values that do not fit
            pass
        convert = self._converters[key]
        converted: list[Any] = [None] * len(values)
        for number, value in enumerate(values):
            if value is not None:
                try:
                    converted[number] = convert(value)
                except (ValueError, OverflowError):
                    unfit_keys.setdefault(number, set()).add(key)
        return pa.array(converted, type=child.type)


def _require_types(values: Sequence[Any], type_: type) -> None:
    if not {type_, type(None)}.issuperset(map(type, values)):
        raise UnfitColumnError


def _build_plain_column(value_type: type, values: Sequence[Any], type_: pa.DataType) -> pa.Array:
    _require_types(values, value_type)
    if value_type is float and not all(map(isfinite, filter(None, values))):
        raise UnfitColumnError
    return pa.array(values, type=type_)


def _build_money_column(values: Sequence[Any], type_: pa.DataType) -> pa.Array:
    _require_types(values, dict)
    non_null_values = [value or {"amount": None, "currency": None} for value in values]
    if any(value.keys() != {"amount", "currency"} for value in non_null_values):
        raise UnfitColumnError
    amounts = [value["amount"] for value in non_null_values]
    currencies = [value["currency"] for value in non_null_values]
    _require_types(amounts, str)
    _require_types(currencies, str)
    fits = [
        amount is not None and AMOUNT_PATTERN.fullmatch(amount) is not None for amount in amounts
    ]
    if fits != [value is not None for value in values]:
        raise UnfitColumnError
    texts = pa.array(amounts, type=pa.string())
    arrays = [texts.cast(type_[0].type), pa.array(currencies, type=type_[1].type)]
    null_mask = pa.array([value is None for value in values])
    return pa.StructArray.from_arrays(arrays, fields=list(type_), mask=null_mask)


_COLUMN_BUILDERS: Mapping[str, _ColumnBuilder] = {
    "number": partial(_build_plain_column, float),
    "integer": partial(_build_plain_column, int),
    "boolean": partial(_build_plain_column, bool),
    "money": _build_money_column,
}
