"""Convert a batch of tag sets to Arrow columns.

Arrow builds a column from a list of plain values several times faster than a structure from
dictionaries. So the members of structures become lists here.
"""

from collections.abc import Callable, Mapping, Sequence
from operator import itemgetter
from typing import Any

from app.engines.formats.model import Field, Row
from app.engines.formats.parquet_labels import LabelColumnBuilder
from app.engines.formats.parsing import dump_json

_TEXTS = ("tag_set_id", "status", "source", "labeler_id", "reviewer_id", "text")
_ARTIFACT_TEXTS = ("id", "name", "external_id", "media_type", "sha256", "language")
_SCHEMA_TEXTS = ("id", "name", "version_id")
_TAG_MEMBERS = ("field", "value", "row", "confidence", "source", "evidence")
_PIECE_MEMBERS = ("page", "box", "start", "end", "text")
_NOTHING: Mapping[str, Any] = {}


class BatchBuilder:
    """Builds record batches.

    Args:
        arrow: the module pyarrow.
        schema: the schema of the file.
        fields: the fields of the labels.
    """

    def __init__(self, arrow: Any, schema: Any, fields: Sequence[Field]) -> None:
        self._arrow = arrow
        self._schema = schema
        type_ = schema.field("labels").type if fields else ()
        self._labels = LabelColumnBuilder(arrow, fields, type_)

    def build(self, rows: Sequence[Row]) -> Any:
        """Return the record batch of tag sets."""
        columns = self._build_texts(rows, _TEXTS)
        revisions = [row.get("revision") for row in rows]
        columns["revision"] = self._arrow.array(revisions, type=self._arrow.int32())
        columns |= {name: self._build_times(rows, name) for name in ("submitted_at", "decided_at")}
        columns["artifact"] = self._build_artifacts([row.get("artifact") for row in rows])
        columns["schema"] = self._build_schemas([row.get("schema") for row in rows])
        columns["labels"], others = self._labels.build([row.get("labels") or {} for row in rows])
        columns["other_labels"] = self._build_text(others)
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
        found = [artifact or _NOTHING for artifact in artifacts]
        columns = self._build_texts(found, _ARTIFACT_TEXTS)
        metadata = [dump_json(a["metadata"]) if a.get("metadata") else None for a in found]
        columns["metadata"] = self._build_text(metadata)
        pages = [a.get("page_count") for a in found]
        columns["page_count"] = arrow.array(pages, type=arrow.int32())
        for name in ("gold", "archived"):
            columns[name] = arrow.array([a.get(name) for a in found], type=arrow.bool_())
        return self._build_structure("artifact", columns, [a is None for a in artifacts])

    def _build_schemas(self, schemas: Sequence[Mapping[str, Any] | None]) -> Any:
        arrow = self._arrow
        found = [schema or _NOTHING for schema in schemas]
        columns = self._build_texts(found, _SCHEMA_TEXTS)
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
        field, value, row, confidence, source, evidence = _transpose(flat, _TAG_MEMBERS)
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
            names=_TAG_MEMBERS,
        )
        return self._wrap([*offsets, count], structure)

    def _build_pieces(self, pieces: list[Mapping[str, Any]]) -> Any:
        arrow = self._arrow
        page, box, start, end, text = _transpose(pieces, _PIECE_MEMBERS)
        return arrow.StructArray.from_arrays(
            [
                arrow.array(page, type=arrow.int32()),
                self._build_list(box, lambda edges: arrow.array(edges, type=arrow.float64())),
                arrow.array(start, type=arrow.int64()),
                arrow.array(end, type=arrow.int64()),
                arrow.array(text, type=arrow.string()),
            ],
            names=_PIECE_MEMBERS,
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


def _transpose(
    items: Sequence[Mapping[str, Any]], names: tuple[str, ...]
) -> Sequence[Sequence[Any]]:
    """Return the values of each member, in the order of `names`; a missing member is None."""
    try:
        return [list(map(itemgetter(name), items)) for name in names]
    except KeyError:
        return [[item.get(name) for item in items] for name in names]
