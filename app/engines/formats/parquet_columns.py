"""Convert a batch of tag sets to Arrow columns.

Arrow converts lists of plain values several times faster than lists of dictionaries. Therefore this
module collects the values of each property in a separate list.
"""

from collections.abc import Callable, Mapping, Sequence
from operator import itemgetter
from typing import Any

from app.engines.formats.arrow_types import Arrow, ArrowArray, ArrowSchema, RecordBatch
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
        arrow: the module `pyarrow`.
        schema: the Arrow schema of the file.
        fields: the union of the fields from all schema versions.
    """

    def __init__(self, arrow: Arrow, schema: ArrowSchema, fields: Sequence[Field]) -> None:
        self._arrow = arrow
        self._schema = schema
        type_ = schema.field("labels").type if fields else ()
        self._labels = LabelColumnBuilder(arrow, fields, type_)

    def build(self, rows: Sequence[Row]) -> RecordBatch:
        """Convert tag sets to a record batch with one row for each tag set."""
        columns = self._build_string_columns(rows, _TEXT_COLUMNS)
        revisions = [row.get("revision") for row in rows]
        columns["revision"] = self._arrow.array(revisions, type=self._arrow.int32())
        columns |= {
            name: self._build_timestamp_column(rows, name)
            for name in ("submitted_at", "decided_at")
        }
        columns["artifact"] = self._build_artifact_column([row.get("artifact") for row in rows])
        columns["schema"] = self._build_schema_column([row.get("schema") for row in rows])
        columns["labels"], other_labels = self._labels.build(
            [row.get("labels") or {} for row in rows]
        )
        columns["other_labels"] = self._build_string_column(other_labels)
        columns["tags"] = _TagColumnBuilder(self._arrow).build([row.get("tags") for row in rows])
        arrays = [columns[name] for name in self._schema.names]
        return self._arrow.RecordBatch.from_arrays(arrays, schema=self._schema)

    def _build_string_column(self, values: Sequence[str | None]) -> ArrowArray:
        return self._arrow.array(values, type=self._arrow.string())

    def _build_string_columns(
        self, items: Sequence[Row], names: tuple[str, ...]
    ) -> dict[str, ArrowArray]:
        columns = zip(names, _transpose(items, names), strict=True)
        return {name: self._build_string_column(values) for name, values in columns}

    def _build_timestamp_column(self, rows: Sequence[Row], name: str) -> ArrowArray:
        type_ = self._arrow.timestamp("us", tz="UTC")
        return self._build_string_column([row.get(name) for row in rows]).cast(type_)

    def _build_artifact_column(self, artifacts: Sequence[Mapping[str, Any] | None]) -> ArrowArray:
        arrow = self._arrow
        non_null_artifacts = [artifact or _EMPTY_OBJECT for artifact in artifacts]
        columns = self._build_string_columns(non_null_artifacts, _ARTIFACT_TEXT_COLUMNS)
        metadata = [
            dump_json(a["metadata"]) if a.get("metadata") else None for a in non_null_artifacts
        ]
        columns["metadata"] = self._build_string_column(metadata)
        pages = [a.get("page_count") for a in non_null_artifacts]
        columns["page_count"] = arrow.array(pages, type=arrow.int32())
        for name in ("gold", "archived"):
            columns[name] = arrow.array(
                [a.get(name) for a in non_null_artifacts], type=arrow.bool_()
            )
        return self._build_struct_column("artifact", columns, [a is None for a in artifacts])

    def _build_schema_column(self, schemas: Sequence[Mapping[str, Any] | None]) -> ArrowArray:
        arrow = self._arrow
        non_null_schemas = [schema or _EMPTY_OBJECT for schema in schemas]
        columns = self._build_string_columns(non_null_schemas, _SCHEMA_TEXT_COLUMNS)
        versions = [s.get("version") for s in non_null_schemas]
        columns["version"] = arrow.array(versions, type=arrow.int32())
        return self._build_struct_column("schema", columns, [s is None for s in schemas])

    def _build_struct_column(
        self, name: str, columns: Mapping[str, ArrowArray], null_mask: list[bool]
    ) -> ArrowArray:
        fields = list(self._schema.field(name).type)
        arrays = [columns[field.name] for field in fields]
        mask = self._arrow.array(null_mask)
        return self._arrow.StructArray.from_arrays(arrays, fields=fields, mask=mask)


class _TagColumnBuilder:
    """A builder for the Arrow column `tags`, which includes the evidence of each tag."""

    def __init__(self, arrow: Arrow) -> None:
        self._arrow = arrow

    def build(self, tag_lists: Sequence[list[Mapping[str, Any]] | None]) -> ArrowArray:
        """Build the column from the tag lists of all tag sets; None becomes null."""
        offsets: list[int | None] = []
        count = 0
        for tags in tag_lists:
            offsets.append(None if tags is None else count)
            count += len(tags or ())
        flat_tags = [tag for tags in tag_lists if tags for tag in tags]
        field, value, row, confidence, source, evidence = _transpose(flat_tags, _TAG_PROPERTIES)
        arrow = self._arrow
        structure = arrow.StructArray.from_arrays(
            [
                arrow.array(field, type=arrow.string()),
                arrow.array([dump_json(item) for item in value], type=arrow.string()),
                arrow.array(row, type=arrow.int32()),
                arrow.array(confidence, type=arrow.float64()),
                arrow.array(source, type=arrow.string()),
                self._build_list_column(evidence, self._build_evidence_column),
            ],
            names=_TAG_PROPERTIES,
        )
        return self._wrap_in_lists([*offsets, count], structure)

    def _build_evidence_column(self, pieces: list[Mapping[str, Any]]) -> ArrowArray:
        arrow = self._arrow
        page, box, start, end, text = _transpose(pieces, _EVIDENCE_PROPERTIES)
        return arrow.StructArray.from_arrays(
            [
                arrow.array(page, type=arrow.int32()),
                self._build_list_column(
                    box, lambda edges: arrow.array(edges, type=arrow.float64())
                ),
                arrow.array(start, type=arrow.int64()),
                arrow.array(end, type=arrow.int64()),
                arrow.array(text, type=arrow.string()),
            ],
            names=_EVIDENCE_PROPERTIES,
        )

    def _build_list_column(
        self, lists: Sequence[list[Any] | None], build: Callable[[list[Any]], ArrowArray]
    ) -> ArrowArray:
        """Build a column of lists; `build` converts the concatenated list items to a column."""
        offsets: list[int | None] = []
        items: list[Any] = []
        for list_items in lists:
            offsets.append(None if list_items is None else len(items))
            items += list_items or ()
        return self._wrap_in_lists([*offsets, len(items)], build(items))

    def _wrap_in_lists(self, offsets: list[int | None], items: ArrowArray) -> ArrowArray:
        arrow = self._arrow
        return arrow.ListArray.from_arrays(arrow.array(offsets, type=arrow.int32()), items)


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
