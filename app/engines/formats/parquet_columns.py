"""Convert a batch of tag sets to Arrow columns.

Arrow builds a column from a list of plain values several times faster than a structure from
dictionaries. So the members of structures become lists here, except those of the labels, which have
any type.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from app.engines.formats.model import Row
from app.engines.formats.parquet_values import LabelConverter
from app.engines.formats.parsing import dump_json

_ARTIFACT_TEXTS = ("id", "name", "external_id", "media_type", "sha256")
_SCHEMA_TEXTS = ("id", "name", "version_id")
_NOTHING: Mapping[str, Any] = {}


class BatchBuilder:
    """Builds record batches.

    Args:
        arrow: the module pyarrow.
        schema: the schema of the file.
        convert_labels: converts the labels of a row.
    """

    def __init__(self, arrow: Any, schema: Any, convert_labels: LabelConverter) -> None:
        self._arrow = arrow
        self._schema = schema
        self._convert_labels = convert_labels

    def build(self, rows: Sequence[Row]) -> Any:
        """Return the record batch of tag sets."""
        labels = [self._convert_labels(row.get("labels") or {}) for row in rows]
        columns = {
            name: self._build_plain(rows, name)
            for name in ("tag_set_id", "status", "source", "labeler_id", "reviewer_id", "text")
        }
        revisions = [row.get("revision") for row in rows]
        columns["revision"] = self._arrow.array(revisions, type=self._arrow.int32())
        columns |= {name: self._build_times(rows, name) for name in ("submitted_at", "decided_at")}
        columns["artifact"] = self._build_artifacts([row.get("artifact") for row in rows])
        columns["schema"] = self._build_schemas([row.get("schema") for row in rows])
        if "labels" in self._schema.names:
            type_ = self._schema.field("labels").type
            columns["labels"] = self._arrow.array([typed for typed, _ in labels], type=type_)
        columns["other_labels"] = self._build_texts([others for _, others in labels])
        columns["tags"] = _TagBuilder(self._arrow).build([row.get("tags") for row in rows])
        arrays = [columns[name] for name in self._schema.names]
        return self._arrow.RecordBatch.from_arrays(arrays, schema=self._schema)

    def _build_texts(self, values: list[str | None]) -> Any:
        return self._arrow.array(values, type=self._arrow.string())

    def _build_plain(self, rows: Sequence[Row], name: str) -> Any:
        return self._build_texts([row.get(name) for row in rows])

    def _build_times(self, rows: Sequence[Row], name: str) -> Any:
        type_ = self._arrow.timestamp("us", tz="UTC")
        return self._build_plain(rows, name).cast(type_)

    def _build_artifacts(self, artifacts: Sequence[Mapping[str, Any] | None]) -> Any:
        arrow = self._arrow
        found = [artifact or _NOTHING for artifact in artifacts]
        columns = {
            name: self._build_texts([a.get(name) for a in found]) for name in _ARTIFACT_TEXTS
        }
        metadata = [dump_json(a["metadata"]) if a.get("metadata") else None for a in found]
        columns["metadata"] = self._build_texts(metadata)
        pages = [a.get("page_count") for a in found]
        columns["page_count"] = arrow.array(pages, type=arrow.int32())
        columns["language"] = self._build_texts([a.get("language") for a in found])
        for name in ("gold", "archived"):
            columns[name] = arrow.array([a.get(name) for a in found], type=arrow.bool_())
        return self._build_structure("artifact", columns, [a is None for a in artifacts])

    def _build_schemas(self, schemas: Sequence[Mapping[str, Any] | None]) -> Any:
        arrow = self._arrow
        found = [schema or _NOTHING for schema in schemas]
        columns = {name: self._build_texts([s.get(name) for s in found]) for name in _SCHEMA_TEXTS}
        versions = [s.get("version") for s in found]
        columns["version"] = arrow.array(versions, type=arrow.int32())
        return self._build_structure("schema", columns, [s is None for s in schemas])

    def _build_structure(self, name: str, columns: Mapping[str, Any], nulls: list[bool]) -> Any:
        fields = list(self._schema.field(name).type)
        arrays = [columns[field.name] for field in fields]
        mask = self._arrow.array(nulls)
        return self._arrow.StructArray.from_arrays(arrays, fields=fields, mask=mask)


class _TagBuilder:
    """Builds the column of the tags with their evidence, from one list for each member."""

    def __init__(self, arrow: Any) -> None:
        self._arrow = arrow

    def build(self, tag_lists: Sequence[list[Mapping[str, Any]] | None]) -> Any:
        """Return the column; None is null."""
        offsets: list[int | None] = []
        count = 0
        for tags in tag_lists:
            offsets.append(None if tags is None else count)
            count += len(tags or ())
        flat = [tag for tags in tag_lists if tags for tag in tags]
        texts = {name: [tag.get(name) for tag in flat] for name in ("field", "source")}
        arrow = self._arrow
        structure = arrow.StructArray.from_arrays(
            [
                arrow.array(texts["field"], type=arrow.string()),
                arrow.array([dump_json(tag.get("value")) for tag in flat], type=arrow.string()),
                arrow.array([tag.get("row") for tag in flat], type=arrow.int32()),
                arrow.array([tag.get("confidence") for tag in flat], type=arrow.float64()),
                arrow.array(texts["source"], type=arrow.string()),
                self._build_list([tag.get("evidence") for tag in flat], self._build_pieces),
            ],
            names=["field", "value", "row", "confidence", "source", "evidence"],
        )
        return self._wrap([*offsets, count], structure)

    def _build_pieces(self, pieces: list[Mapping[str, Any]]) -> Any:
        arrow = self._arrow
        boxes = [piece.get("box") for piece in pieces]
        return arrow.StructArray.from_arrays(
            [
                arrow.array([piece.get("page") for piece in pieces], type=arrow.int32()),
                self._build_list(boxes, lambda edges: arrow.array(edges, type=arrow.float64())),
                arrow.array([piece.get("start") for piece in pieces], type=arrow.int64()),
                arrow.array([piece.get("end") for piece in pieces], type=arrow.int64()),
                arrow.array([piece.get("text") for piece in pieces], type=arrow.string()),
            ],
            names=["page", "box", "start", "end", "text"],
        )

    def _build_list(
        self, lists: Sequence[list[Any] | None], build: Callable[[list[Any]], Any]
    ) -> Any:
        """Return a column of lists; `build` returns the column of their items."""
        offsets: list[int | None] = []
        items: list[Any] = []
        for found in lists:
            offsets.append(None if found is None else len(items))
            items += found or ()
        return self._wrap([*offsets, len(items)], build(items))

    def _wrap(self, offsets: list[int | None], items: Any) -> Any:
        arrow = self._arrow
        return arrow.ListArray.from_arrays(arrow.array(offsets, type=arrow.int32()), items)
