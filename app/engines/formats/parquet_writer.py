"""Write Apache Parquet: typed columns, in row groups of bounded size."""

from collections.abc import Callable, Iterator, Sequence
from typing import BinaryIO

import pyarrow as pa  # type: ignore[import-untyped]
from pyarrow import parquet

from app.engines.formats.archives import OutputFile
from app.engines.formats.model import Field, Fields, Options, Row
from app.engines.formats.parquet_columns import BatchBuilder
from app.engines.formats.parquet_values import DECIMAL_DIGITS, DECIMAL_SCALE
from app.engines.formats.parsing import BatchWriter

_BATCH_ROWS = 200
_GROUP_ROWS = 65_536
_GROUP_BYTES = 8 << 20
_GROUP_BYTES_PER_COLUMN = 16 << 10
"""A row group may have this many bytes for each label column, if that exceeds `_GROUP_BYTES`.

pyarrow keeps 1.4 kB of metadata for each column of each row group until the file is complete.
"""
# A dictionary is useful only for values that repeat; for other columns it would waste time.
_DICTIONARY_COLUMNS = (
    *("status", "source", "artifact.media_type", "artifact.language", "artifact.page_count"),
    *("schema.id", "schema.name", "schema.version_id", "schema.version"),
    *("labeler_id", "reviewer_id"),
    *("tags.list.element.field", "tags.list.element.source"),
    "tags.list.element.evidence.list.element.page",
)


class ParquetWriter(BatchWriter):
    """A writer that converts tag sets in small batches, and writes them in larger row groups."""

    def __init__(self, out: BinaryIO, fields: Fields, options: Options) -> None:
        super().__init__(_BATCH_ROWS)
        fields = [field for field in fields if field["type"] != "table" or field["columns"]]
        self._schema = _build_schema(fields)
        self._builder = BatchBuilder(self._schema, fields)
        self._group: list[pa.RecordBatch] = []
        self._group_row_count = self._group_bytes = 0
        label_paths = _list_label_paths(self._schema)
        self._max_group_bytes = max(_GROUP_BYTES, len(label_paths) * _GROUP_BYTES_PER_COLUMN)
        self._file = parquet.ParquetWriter(
            pa.PythonFile(OutputFile(out), mode="w"),
            self._schema,
            compression=options.get("compression", "snappy"),
            use_dictionary=[*_DICTIONARY_COLUMNS, *label_paths],
        )

    def _finish(self) -> None:
        self._end_batch()
        self._end_group()
        self._file.close()

    def _write_batch(self, rows: Sequence[Row]) -> None:
        batch = self._builder.build(rows)
        self._group.append(batch)
        self._group_row_count += batch.num_rows
        self._group_bytes += batch.nbytes
        if self._group_row_count >= _GROUP_ROWS or self._group_bytes >= self._max_group_bytes:
            self._end_group()

    def _end_group(self) -> None:
        if self._group:
            table = pa.Table.from_batches(self._group, schema=self._schema)
            self._file.write_table(table, row_group_size=table.num_rows)
            self._group = []
            self._group_row_count = self._group_bytes = 0


def _build_schema(fields: Sequence[Field]) -> pa.Schema:
    """Build the schema of a file with label columns for `fields`."""
    string, bool_, int32 = pa.string(), pa.bool_(), pa.int32()
    evidence = [("page", int32), ("box", pa.list_(pa.float64()))]
    evidence += [("start", pa.int64()), ("end", pa.int64()), ("text", string)]
    tag = [("field", string), ("value", string), ("row", int32), ("confidence", pa.float64())]
    tag += [("source", string), ("evidence", pa.list_(pa.struct(evidence)))]
    artifact = [(name, string) for name in ("id", "name", "external_id", "media_type", "sha256")]
    artifact += [("metadata", string), ("page_count", int32), ("language", string)]
    artifact += [("gold", bool_), ("archived", bool_)]
    schema = [(name, string) for name in ("id", "name", "version_id")] + [("version", int32)]
    timestamp = pa.timestamp("us", tz="UTC")
    labels = [(field["key"], _build_type(field)) for field in fields]
    columns = [(name, string) for name in ("tag_set_id", "status", "source")]
    columns.append(("revision", int32))
    columns += [("artifact", pa.struct(artifact)), ("schema", pa.struct(schema))]
    columns += [("labeler_id", string), ("reviewer_id", string)]
    columns += [("submitted_at", timestamp), ("decided_at", timestamp)]
    if labels:  # Parquet has no column for a structure without fields
        columns.append(("labels", pa.struct(labels)))
    columns += [
        ("other_labels", string),
        ("tags", pa.list_(pa.struct(tag))),
        ("text", string),
    ]
    return pa.schema(columns)


def _list_label_paths(schema: pa.Schema) -> list[str]:
    """Return the paths of all label columns; these use a dictionary, because values may repeat."""
    if "labels" not in schema.names:
        return []
    return list(_iterate_paths("labels", schema.field("labels").type))


def _iterate_paths(path: str, type_: pa.DataType) -> Iterator[str]:
    children = [type_.field(number) for number in range(type_.num_fields)]
    if not children:
        yield path
    elif str(type_).startswith("list"):
        yield from _iterate_paths(f"{path}.list.element", children[0].type)
    else:
        for child in children:
            yield from _iterate_paths(f"{path}.{child.name}", child.type)


def _build_type(field: Field) -> pa.DataType:
    if field["type"] == "table":
        columns = [(column["key"], _build_type(column)) for column in field["columns"]]
        return pa.list_(pa.struct(columns))
    type_ = _build_value_type(field["type"])
    return pa.list_(type_) if field.get("multiple") else type_


def _build_value_type(field_type: str) -> pa.DataType:
    if field_type == "money":
        amount = pa.decimal128(DECIMAL_DIGITS, DECIMAL_SCALE)
        return pa.struct([("amount", amount), ("currency", pa.string())])
    types: dict[str, Callable[[], pa.DataType]] = {
        "number": pa.float64,
        "integer": pa.int64,
        "boolean": pa.bool_,
        "date": pa.date32,
        "time": lambda: pa.time64("us"),
        "datetime": lambda: pa.timestamp("us", tz="UTC"),
    }
    return types.get(field_type, pa.string)()
