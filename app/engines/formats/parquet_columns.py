"""Convert a batch of tag sets to Arrow columns.

Arrow converts lists of plain values several times faster than lists of dictionaries. Therefore this
module collects the values of each property in a separate list. A label column of plain values is
converted as a whole, which is several times faster than converting each value. If a value in the
batch does not fit the column, each value is converted separately.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from math import isfinite
from operator import itemgetter
from typing import Any, TypeAlias

import pyarrow as pa  # type: ignore[import-untyped]

from app.engines.formats.model import Field, Row
from app.engines.formats.parquet_values import (
    AMOUNT_PATTERN,
    UnfitValueError,
    build_converter,
    is_text,
)
from app.engines.formats.parsing import dump_json

_Labels: TypeAlias = Sequence[Mapping[str, Any]]
_ColumnBuilder: TypeAlias = Callable[[Sequence[Any], pa.DataType], pa.Array]
_EMPTY_OBJECT: Mapping[str, Any] = {}


class BatchBuilder:
    """A builder that converts lists of tag sets to Arrow record batches.

    Args:
        schema: the Arrow schema of the file.
        fields: the union of the fields from all schema versions.
    """

    def __init__(self, schema: pa.Schema, fields: Sequence[Field]) -> None:
        self._schema = schema
        self._labels = _LabelColumnBuilder(fields, schema.field("labels").type if fields else ())

    def build(self, rows: Sequence[Row]) -> pa.RecordBatch:
        """Convert tag sets to a record batch with one row for each tag set."""
        labels, other_labels = self._labels.build([row.get("labels") or {} for row in rows])
        columns = {"labels": labels, "other_labels": pa.array(other_labels, pa.string())}
        types = {field.name: field.type for field in self._schema}
        for name in ("submitted_at", "decided_at"):
            timestamps = pa.array([row.get(name) for row in rows], pa.string())
            columns[name] = timestamps.cast(types[name])
        columns["artifact"] = _build_artifacts(_list_values(rows, "artifact"), types["artifact"])
        columns["schema"] = _build_structures(_list_values(rows, "schema"), types["schema"])
        tags = _list_values(rows, "tags")
        columns["tags"] = _build_list_column(tags, types["tags"], _build_tags)
        arrays = _build_arrays(rows, self._schema, columns)
        return pa.RecordBatch.from_arrays(arrays, schema=self._schema)


def _build_artifacts(artifacts: Sequence[Row | None], type_: pa.DataType) -> pa.Array:
    metadata = [dump_json(a["metadata"]) if a and a.get("metadata") else None for a in artifacts]
    return _build_structures(artifacts, type_, metadata=pa.array(metadata, pa.string()))


def _build_tags(tags: Sequence[Row], type_: pa.DataType) -> pa.Array:
    values = pa.array([dump_json(tag.get("value")) for tag in tags], pa.string())
    evidence_type = type_.field("evidence").type
    evidence = _build_list_column(
        [tag.get("evidence") for tag in tags], evidence_type, _build_structures
    )
    return _build_structures(tags, type_, value=values, evidence=evidence)


def _build_list_column(
    lists: Sequence[list[Any] | None],
    type_: pa.DataType,
    build: Callable[[list[Any], pa.DataType], pa.Array],
) -> pa.Array:
    """Build a column of lists; None becomes null.

    `build` converts the concatenated list items to a column of the type `type_.value_type`.
    """
    offsets: list[int | None] = []
    items: list[Any] = []
    for list_items in lists:
        offsets.append(None if list_items is None else len(items))
        items += list_items or ()
    item_column = build(items, type_.value_type)
    return pa.ListArray.from_arrays(pa.array([*offsets, len(items)], pa.int32()), item_column)


def _build_structures(
    objects: Sequence[Row | None], type_: pa.DataType, **columns: pa.Array
) -> pa.Array:
    """Build a column of structures; None becomes null.

    `columns` contains the arrays of fields that are already built, by field name.
    """
    null_mask = pa.array([item is None for item in objects], pa.bool_())
    arrays = _build_arrays([item or _EMPTY_OBJECT for item in objects], type_, columns)
    return pa.StructArray.from_arrays(arrays, fields=list(type_), mask=null_mask)


def _build_arrays(
    items: Sequence[Row], fields: Iterable[pa.Field], columns: Mapping[str, pa.Array]
) -> list[pa.Array]:
    """Build an array for each field from the items, unless `columns` already contains the array."""
    return [
        columns[field.name]
        if field.name in columns
        else pa.array(_list_values(items, field.name), field.type)
        for field in fields
    ]


def _list_values(items: Sequence[Row], name: str) -> list[Any]:
    """Return the values of the property `name`, one for each item; missing values are None."""
    try:
        return list(map(itemgetter(name), items))
    except KeyError:
        return [item.get(name) for item in items]


class _LabelColumnBuilder:
    """A builder for the Arrow column `labels`, which has one child column for each field.

    Args:
        fields: the union of the fields from all schema versions.
        type_: the Arrow type of the column.
    """

    def __init__(self, fields: Sequence[Field], type_: Iterable[pa.Field]) -> None:
        self._children = list(type_)
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
        Labels of unknown fields do not fit either.
        """
        unfit_keys: dict[int, set[str]] = {}
        known_keys = self._converters.keys()
        for index, labels in enumerate(rows):
            if not labels.keys() <= known_keys:
                unfit_keys[index] = set(labels.keys() - known_keys)
        arrays = [self._build_column(child, rows, unfit_keys) for child in self._children]
        other_labels: list[str | None] = [None] * len(rows)
        for index, keys in unfit_keys.items():
            other_labels[index] = dump_json({k: v for k, v in rows[index].items() if k in keys})
        return pa.StructArray.from_arrays(arrays, fields=self._children), other_labels

    def _build_column(
        self, child: pa.Field, rows: _Labels, unfit_keys: dict[int, set[str]]
    ) -> pa.Array:
        """Build the child column for one field.

        A value that does not fit the column becomes null, and the field's key is added to
        `unfit_keys`, which maps row indexes to keys.
        """
        key = child.name
        values = [labels.get(key) for labels in rows]
        try:
            if key in self._builders:
                return self._builders[key](values, child.type)
        except (ValueError, OverflowError):  # Arrow raises them for values that do not fit
            pass
        convert = self._converters[key]
        converted_values: list[Any] = [None] * len(values)
        for index, value in enumerate(values):
            if value is not None:
                try:
                    converted_values[index] = convert(value)
                except (ValueError, OverflowError):
                    unfit_keys.setdefault(index, set()).add(key)
        return pa.array(converted_values, type=child.type)


def _require_types(values: Sequence[Any], type_: type) -> None:
    if not {type_, type(None)}.issuperset(map(type, values)):
        raise UnfitValueError


def _build_plain_column(value_type: type, values: Sequence[Any], type_: pa.DataType) -> pa.Array:
    _require_types(values, value_type)
    if value_type is float and not all(map(isfinite, filter(None, values))):
        raise UnfitValueError
    return pa.array(values, type=type_)


def _build_money_column(values: Sequence[Any], type_: pa.DataType) -> pa.Array:
    _require_types(values, dict)
    non_null_values = [value or {"amount": None, "currency": None} for value in values]
    if any(value.keys() != {"amount", "currency"} for value in non_null_values):
        raise UnfitValueError
    amounts = [value["amount"] for value in non_null_values]
    currencies = [value["currency"] for value in non_null_values]
    _require_types(amounts, str)
    _require_types(currencies, str)
    fit_flags = [
        amount is not None and AMOUNT_PATTERN.fullmatch(amount) is not None for amount in amounts
    ]
    if fit_flags != [value is not None for value in values]:
        raise UnfitValueError
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
