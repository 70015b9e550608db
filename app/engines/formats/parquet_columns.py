"""Convert a batch of tag sets to Arrow columns.

Arrow converts lists of plain values several times faster than lists of dictionaries. Therefore this
module collects the values of each property in a separate list.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import itemgetter
from typing import Any

import pyarrow as pa  # type: ignore[import-untyped]

from app.engines.formats.model import Field, Row
from app.engines.formats.parquet_labels import LabelColumnBuilder
from app.engines.formats.parsing import dump_json

_EMPTY_OBJECT: Mapping[str, Any] = {}


class BatchBuilder:
    """A builder that converts lists of tag sets to Arrow record batches.

    Args:
        schema: the Arrow schema of the file.
        fields: the union of the fields from all schema versions.
    """

    def __init__(self, schema: pa.Schema, fields: Sequence[Field]) -> None:
        self._schema = schema
        self._labels = LabelColumnBuilder(fields, schema.field("labels").type if fields else ())

    def build(self, rows: Sequence[Row]) -> pa.RecordBatch:
        """Convert tag sets to a record batch with one row for each tag set."""
        labels, other_labels = self._labels.build([row.get("labels") or {} for row in rows])
        columns = {"labels": labels, "other_labels": pa.array(other_labels, pa.string())}
        types = {field.name: field.type for field in self._schema}
        for name in ("submitted_at", "decided_at"):
            timestamps = pa.array([row.get(name) for row in rows], pa.string())
            columns[name] = timestamps.cast(types[name])
        artifacts, schemas, tags = _transpose(rows, ("artifact", "schema", "tags"))
        columns["artifact"] = _build_artifacts(artifacts, types["artifact"])
        columns["schema"] = _build_structures(schemas, types["schema"])
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

    `build` converts the concatenated list items to a column of the given type.
    """
    offsets: list[int | None] = []
    items: list[Any] = []
    for list_items in lists:
        offsets.append(None if list_items is None else len(items))
        items += list_items or ()
    columns = build(items, type_.value_type)
    return pa.ListArray.from_arrays(pa.array([*offsets, len(items)], pa.int32()), columns)


def _build_structures(
    objects: Sequence[Row | None], type_: pa.DataType, **columns: pa.Array
) -> pa.Array:
    """Build a column of structures; None becomes null. See `_build_arrays` for `columns`."""
    null_mask = pa.array([item is None for item in objects], pa.bool_())
    arrays = _build_arrays([item or _EMPTY_OBJECT for item in objects], type_, columns)
    return pa.StructArray.from_arrays(arrays, fields=list(type_), mask=null_mask)


def _build_arrays(
    items: Sequence[Row], fields: Iterable[pa.Field], columns: Mapping[str, pa.Array]
) -> list[pa.Array]:
    """Build an array for each field: the array in `columns`, or the values of the property."""
    names = [field.name for field in fields if field.name not in columns]
    values = dict(zip(names, _transpose(items, names), strict=True))
    return [
        columns[field.name] if field.name in columns else pa.array(values[field.name], field.type)
        for field in fields
    ]


def _transpose(items: Sequence[Row], names: Sequence[str]) -> Sequence[Sequence[Any]]:
    """Transpose `items`: return, for each property in `names`, a list with the items' values.

    Missing values are None.
    """
    try:
        return [list(map(itemgetter(name), items)) for name in names]
    except KeyError:
        return [[item.get(name) for item in items] for name in names]
