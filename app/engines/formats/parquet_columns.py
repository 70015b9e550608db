"""Convert a batch of tag sets to Arrow columns.

Arrow builds columns from lists of plain values several times faster than structures from
dictionaries. Therefore this module collects each property of a structure in a list.
"""

from collections.abc import Callable, Mapping, Sequence
from operator import itemgetter
from typing import Any

from app.engines.formats.model import Field, Row
from app.engines.formats.parquet_labels import LabelColumnBuilder
from app.engines.formats.parsing import dump_json

_TEXT_COLUMNS = ("tag_set_id", "status", "source", "labeler_id", "reviewer_id", "text")
_ARTIFACT_TEXT_COLUMNS = ("id", "name", "external_id", "media_type", "sha256", "language")
_SCHEMA_TEXT_COLUMNS = ("id", "name", "version_id")
_TAG_PROPERTIES = ("field", "value", "row", "confidence", "source", "evidence")
_EVIDENCE_PROPERTIES = ("page", "box", "start", "end", "text")
_EMPTY: Mapping[str, Any] = {}


class BatchBuilder:
    """Builds record batches.

    Args:
        arrow: the module pyarrow.
        schema: the schema of the file.
        fields: the union of the fields of all versions.
    """

    def __init__(self, arrow: Any, schema: Any, fields: Sequence[Field]) -> None:
        self._arrow = arrow
        self._schema = schema
        type_ = schema.field("labels").type if fields else ()
        self._labels = LabelColumnBuilder(arrow, fields, type_)

    def build(self, rows: Sequence[Row]) -> Any:
        """Return the record batch for tag sets."""
        columns = self._build_texts(rows, _TEXT_COLUMNS)
        revisions = [row.get("revision") for row in rows]
        columns["revision"] = self._arrow.array(revisions, type=self._arrow.int32())
        columns |= {name: self._build_times(rows, name) for name in ("submitted_at", "decided_at")}
        columns["artifact"] = self._build_artifacts([row.get("artifact") for row in rows])
        columns["schema"] = self._build_schemas([row.get("schema") for row in rows])
        columns["labels"], other_labels = self._labels.build(
            [row.get("labels") or {} for row in rows]
        )
        columns["other_labels"] = self._build_text(other_labels)
        columns["tags"] = _TagBuilder(self._arrow).build([row.get("tags") for row in rows])
        arrays = [columns[name] for name in self._schema.names]
        return self._arrow.RecordBatch.from_arrays(arrays, schema=self._schema)

    def _build_text(self, values: Sequence[str | None]) -> Any:
        return self._arrow.array(values, type=self._arrow.string())

    def _build_texts(self, items: Sequence[Row], names: tuple[str, ...]) -> dict[str, Any]:
        columns = zip(names, _transpose(items, names), strict=True)
        return {name: self._build_text(values) for name, values in columns}

    def _build_times(self, rows: Sequence[Row], name: str) -> Any:
        type_ = self._arrow.timestamp("us", tz="UTC")
        return self._build_text([row.get(name) for row in rows]).cast(type_)

    def _build_artifacts(self, artifacts: Sequence[Mapping[str, Any] | None]) -> Any:
        arrow = self._arrow
        non_null = [artifact or _EMPTY for artifact in artifacts]
        columns = self._build_texts(non_null, _ARTIFACT_TEXT_COLUMNS)
        metadata = [dump_json(a["metadata"]) if a.get("metadata") else None for a in non_null]
        columns["metadata"] = self._build_text(metadata)
        pages = [a.get("page_count") for a in non_null]
        columns["page_count"] = arrow.array(pages, type=arrow.int32())
        for name in ("gold", "archived"):
            columns[name] = arrow.array([a.get(name) for a in non_null], type=arrow.bool_())
        return self._build_structure("artifact", columns, [a is None for a in artifacts])

    def _build_schemas(self, schemas: Sequence[Mapping[str, Any] | None]) -> Any:
        arrow = self._arrow
        non_null = [schema or _EMPTY for schema in schemas]
        columns = self._build_texts(non_null, _SCHEMA_TEXT_COLUMNS)
        versions = [s.get("version") for s in non_null]
        columns["version"] = arrow.array(versions, type=arrow.int32())
        return self._build_structure("schema", columns, [s is None for s in schemas])

    def _build_structure(self, name: str, columns: Mapping[str, Any], nulls: list[bool]) -> Any:
        fields = list(self._schema.field(name).type)
        arrays = [columns[field.name] for field in fields]
        mask = self._arrow.array(nulls)
        return self._arrow.StructArray.from_arrays(arrays, fields=fields, mask=mask)


class _TagBuilder:
    """Builds the column of tags and their evidence from one list for each property."""

    def __init__(self, arrow: Any) -> None:
        self._arrow = arrow

    def build(self, tag_lists: Sequence[list[Mapping[str, Any]] | None]) -> Any:
        """Return the column; None instead of a list becomes null."""
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
                self._build_list(evidence, self._build_pieces),
            ],
            names=_TAG_PROPERTIES,
        )
        return self._wrap_in_lists([*offsets, count], structure)

    def _build_pieces(self, pieces: list[Mapping[str, Any]]) -> Any:
        arrow = self._arrow
        page, box, start, end, text = _transpose(pieces, _EVIDENCE_PROPERTIES)
        return arrow.StructArray.from_arrays(
            [
                arrow.array(page, type=arrow.int32()),
                self._build_list(box, lambda edges: arrow.array(edges, type=arrow.float64())),
                arrow.array(start, type=arrow.int64()),
                arrow.array(end, type=arrow.int64()),
                arrow.array(text, type=arrow.string()),
            ],
            names=_EVIDENCE_PROPERTIES,
        )

    def _build_list(
        self, lists: Sequence[list[Any] | None], build: Callable[[list[Any]], Any]
    ) -> Any:
        """Return a column of lists; `build` returns the column of the list items."""
        offsets: list[int | None] = []
        items: list[Any] = []
        for list_items in lists:
            offsets.append(None if list_items is None else len(items))
            items += list_items or ()
        return self._wrap_in_lists([*offsets, len(items)], build(items))

    def _wrap_in_lists(self, offsets: list[int | None], items: Any) -> Any:
        arrow = self._arrow
        return arrow.ListArray.from_arrays(arrow.array(offsets, type=arrow.int32()), items)


def _transpose(
    items: Sequence[Mapping[str, Any]], names: tuple[str, ...]
) -> Sequence[Sequence[Any]]:
    """Return the values of each property, in the order of `names`; missing values are None."""
    try:
        return [list(map(itemgetter(name), items)) for name in names]
    except KeyError:
        return [[item.get(name) for item in items] for name in names]
