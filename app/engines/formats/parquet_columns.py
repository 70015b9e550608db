"""Convert a batch of tag sets to Arrow columns.

Arrow converts lists of plain values several times faster than lists of dictionaries. Therefore this
module collects the values of each property in a separate list.
"""

from collections.abc import Callable, Mapping, Sequence
from operator import itemgetter
from typing import Any

import pyarrow as pa  # type: ignore[import-untyped]

from app.engines.formats.model import Field, Row
from app.engines.formats.parquet_labels import LabelColumnBuilder
from app.engines.formats.parsing import dump_json

_TEXT_COLUMNS = ("tag_set_id", "status", "source", "labeler_id", "reviewer_id", "text")
_ARTIFACT_TEXT_COLUMNS = ("id", "name", "external_id", "media_type", "sha256", "language")
_SCHEMA_TEXT_COLUMNS = ("id", "name", "version_id")
_TAG_PROPERTIES = ("field", "value", "row", "confidence", "source", "evidence")
_EVIDENCE_PROPERTIES = ("page", "box", "start", "end", "text")
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
        columns = _build_string_columns(rows, _TEXT_COLUMNS)
        columns["revision"] = pa.array([row.get("revision") for row in rows], pa.int32())
        for name in ("submitted_at", "decided_at"):
            timestamps = pa.array([row.get(name) for row in rows], pa.string())
            columns[name] = timestamps.cast(pa.timestamp("us", tz="UTC"))
        columns["artifact"] = self._build_artifact_column([row.get("artifact") for row in rows])
        columns["schema"] = self._build_schema_column([row.get("schema") for row in rows])
        columns["labels"], other_labels = self._labels.build(
            [row.get("labels") or {} for row in rows]
        )
        columns["other_labels"] = pa.array(other_labels, pa.string())
        columns["tags"] = _build_list_column(
            [row.get("tags") for row in rows], _build_tag_structures
        )
        arrays = [columns[name] for name in self._schema.names]
        return pa.RecordBatch.from_arrays(arrays, schema=self._schema)

    def _build_artifact_column(self, artifacts: Sequence[Mapping[str, Any] | None]) -> pa.Array:
        non_null_artifacts = [artifact or _EMPTY_OBJECT for artifact in artifacts]
        columns = _build_string_columns(non_null_artifacts, _ARTIFACT_TEXT_COLUMNS)
        metadata = [
            dump_json(a["metadata"]) if a.get("metadata") else None for a in non_null_artifacts
        ]
        columns["metadata"] = pa.array(metadata, pa.string())
        pages = [a.get("page_count") for a in non_null_artifacts]
        columns["page_count"] = pa.array(pages, pa.int32())
        for name in ("gold", "archived"):
            columns[name] = pa.array([a.get(name) for a in non_null_artifacts], pa.bool_())
        return self._build_struct_column("artifact", columns, [a is None for a in artifacts])

    def _build_schema_column(self, schemas: Sequence[Mapping[str, Any] | None]) -> pa.Array:
        non_null_schemas = [schema or _EMPTY_OBJECT for schema in schemas]
        columns = _build_string_columns(non_null_schemas, _SCHEMA_TEXT_COLUMNS)
        columns["version"] = pa.array([s.get("version") for s in non_null_schemas], pa.int32())
        return self._build_struct_column("schema", columns, [s is None for s in schemas])

    def _build_struct_column(
        self, name: str, columns: Mapping[str, pa.Array], null_mask: list[bool]
    ) -> pa.Array:
        fields = list(self._schema.field(name).type)
        arrays = [columns[field.name] for field in fields]
        return pa.StructArray.from_arrays(arrays, fields=fields, mask=pa.array(null_mask))


def _build_string_columns(items: Sequence[Row], names: tuple[str, ...]) -> dict[str, pa.Array]:
    columns = zip(names, _transpose(items, names), strict=True)
    return {name: pa.array(values, pa.string()) for name, values in columns}


def _build_tag_structures(tags: list[Mapping[str, Any]]) -> pa.Array:
    field, value, row, confidence, source, evidence = _transpose(tags, _TAG_PROPERTIES)
    return pa.StructArray.from_arrays(
        [
            pa.array(field, pa.string()),
            pa.array([dump_json(item) for item in value], pa.string()),
            pa.array(row, pa.int32()),
            pa.array(confidence, pa.float64()),
            pa.array(source, pa.string()),
            _build_list_column(evidence, _build_evidence_structures),
        ],
        names=_TAG_PROPERTIES,
    )


def _build_evidence_structures(pieces: list[Mapping[str, Any]]) -> pa.Array:
    page, box, start, end, text = _transpose(pieces, _EVIDENCE_PROPERTIES)
    return pa.StructArray.from_arrays(
        [
            pa.array(page, pa.int32()),
            _build_list_column(box, lambda edges: pa.array(edges, pa.float64())),
            pa.array(start, pa.int64()),
            pa.array(end, pa.int64()),
            pa.array(text, pa.string()),
        ],
        names=_EVIDENCE_PROPERTIES,
    )


def _build_list_column(
    lists: Sequence[list[Any] | None], build: Callable[[list[Any]], pa.Array]
) -> pa.Array:
    """Build a column of lists; None becomes null.

    `build` converts the concatenated list items to a column.
    """
    offsets: list[int | None] = []
    items: list[Any] = []
    for list_items in lists:
        offsets.append(None if list_items is None else len(items))
        items += list_items or ()
    return pa.ListArray.from_arrays(pa.array([*offsets, len(items)], pa.int32()), build(items))


def _transpose(
    items: Sequence[Mapping[str, Any]], names: tuple[str, ...]
) -> Sequence[Sequence[Any]]:
    """Transpose `items`: return, for each property in `names`, a list with the items' values.

    Missing values are None.
    """
    try:
        return [list(map(itemgetter(name), items)) for name in names]
    except KeyError:
        return [[item.get(name) for item in items] for name in names]
