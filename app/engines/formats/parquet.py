"""Write Apache Parquet: typed columns, in row groups of bounded size.

pyarrow is imported when the first writer is created, because it uses 50 MB of memory per process.
"""

import importlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, BinaryIO

from app.engines.formats.arrow_types import (
    Arrow,
    ArrowSchema,
    DataType,
    ParquetFile,
    RecordBatch,
)
from app.engines.formats.model import Field, Format, Row
from app.engines.formats.parquet_columns import BatchBuilder
from app.engines.formats.parquet_values import DECIMAL_DIGITS, DECIMAL_SCALE, build_converter
from app.engines.formats.parsing import ParsingWriter, parse_row
from app.engines.formats.sample import SAMPLE_FIELDS, SAMPLE_ROW

_BATCH_ROWS = 200
_BATCH_BYTES = 4 << 20
_GROUP_ROWS = 65_536
_GROUP_BYTES = 8 << 20
_GROUP_BYTES_PER_COLUMN = 16 << 10
"""The maximum size of a row group for each label column, in a file with many label columns.

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

_OPTIONS: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "properties": {
        "compression": {
            "enum": ["snappy", "zstd", "gzip", "none"],
            "default": "snappy",
            "description": (
                "The compression of the data pages. zstd gives smaller files; all readers support "
                "snappy."
            ),
        },
    },
    "additionalProperties": False,
}


class ParquetWriter(ParsingWriter):
    """A writer that converts tag sets in small batches, and writes them in larger row groups."""

    def __init__(self, out: BinaryIO, fields: Sequence[Field], options: Mapping[str, Any]) -> None:
        super().__init__()
        pyarrow = importlib.import_module("pyarrow")
        self._arrow: Arrow = pyarrow
        fields = [field for field in fields if field["type"] != "table" or field["columns"]]
        self._schema = _build_schema(self._arrow, fields)
        self._builder = BatchBuilder(self._arrow, self._schema, fields)
        self._batch: list[dict[str, Any]] = []
        self._batch_bytes = 0
        self._group: list[RecordBatch] = []
        self._group_rows = self._group_bytes = 0
        label_paths = _list_label_paths(self._schema)
        self._max_group_bytes = max(_GROUP_BYTES, len(label_paths) * _GROUP_BYTES_PER_COLUMN)
        self._is_open = True
        self._file: ParquetFile = importlib.import_module("pyarrow.parquet").ParquetWriter(
            pyarrow.PythonFile(_OutputFile(out), mode="w"),
            self._schema,
            compression=options.get("compression", "snappy"),
            use_dictionary=[*_DICTIONARY_COLUMNS, *label_paths],
        )

    def write(self, row: Row) -> None:
        """Add one tag set."""
        self.write_json(json.dumps(row).encode())

    def write_json(self, line: bytes) -> None:
        """Add one tag set as JSON. Raises ValueError if it is not a JSON object."""
        self._batch.append(parse_row(line))
        self._batch_bytes += len(line)
        self.rows += 1
        if len(self._batch) >= _BATCH_ROWS or self._batch_bytes >= _BATCH_BYTES:
            self._end_batch()

    def close(self) -> None:
        """Write the remaining rows and the footer."""
        if self._is_open:
            self._end_batch()
            self._end_group()
            self._file.close()
            self._is_open = False

    def _end_batch(self) -> None:
        if not self._batch:
            return
        batch = self._builder.build(self._batch)
        self._batch, self._batch_bytes = [], 0
        self._group.append(batch)
        self._group_rows += batch.num_rows
        self._group_bytes += batch.nbytes
        if self._group_rows >= _GROUP_ROWS or self._group_bytes >= self._max_group_bytes:
            self._end_group()

    def _end_group(self) -> None:
        if self._group:
            table = self._arrow.Table.from_batches(self._group, schema=self._schema)
            self._file.write_table(table, row_group_size=table.num_rows)
            self._group = []
            self._group_rows = self._group_bytes = 0


class _OutputFile:
    """The file object that pyarrow writes to; closing it does not close the output."""

    def __init__(self, out: BinaryIO) -> None:
        self._out = out
        self.closed = False

    def write(self, data: bytes) -> None:
        self._out.write(data)

    def flush(self) -> None:
        """Do nothing; the owner of the output flushes it."""

    def close(self) -> None:
        self.closed = True


def _build_schema(arrow: Arrow, fields: Sequence[Field]) -> ArrowSchema:
    string, bool_, int32 = arrow.string(), arrow.bool_(), arrow.int32()
    evidence = [("page", int32), ("box", arrow.list_(arrow.float64()))]
    evidence += [("start", arrow.int64()), ("end", arrow.int64()), ("text", string)]
    tag = [("field", string), ("value", string), ("row", int32), ("confidence", arrow.float64())]
    tag += [("source", string), ("evidence", arrow.list_(arrow.struct(evidence)))]
    artifact = [(name, string) for name in ("id", "name", "external_id", "media_type", "sha256")]
    artifact += [("metadata", string), ("page_count", int32), ("language", string)]
    artifact += [("gold", bool_), ("archived", bool_)]
    schema = [(name, string) for name in ("id", "name", "version_id")] + [("version", int32)]
    timestamp = arrow.timestamp("us", tz="UTC")
    labels = [(field["key"], _build_type(arrow, field)) for field in fields]
    columns = [(name, string) for name in ("tag_set_id", "status", "source")]
    columns.append(("revision", int32))
    columns += [("artifact", arrow.struct(artifact)), ("schema", arrow.struct(schema))]
    columns += [("labeler_id", string), ("reviewer_id", string)]
    columns += [("submitted_at", timestamp), ("decided_at", timestamp)]
    if labels:  # Parquet has no column for a structure without fields
        columns.append(("labels", arrow.struct(labels)))
    columns += [
        ("other_labels", string),
        ("tags", arrow.list_(arrow.struct(tag))),
        ("text", string),
    ]
    return arrow.schema(columns)


def _list_label_paths(schema: ArrowSchema) -> list[str]:
    """Return the paths of all label columns; they use dictionaries, because values may repeat."""
    if "labels" not in schema.names:
        return []
    return list(_iterate_paths("labels", schema.field("labels").type))


def _iterate_paths(path: str, type_: DataType) -> Iterator[str]:
    children = [type_.field(number) for number in range(type_.num_fields)]
    if not children:
        yield path
    elif str(type_).startswith("list"):
        yield from _iterate_paths(f"{path}.list.element", children[0].type)
    else:
        for child in children:
            yield from _iterate_paths(f"{path}.{child.name}", child.type)


def _build_type(arrow: Arrow, field: Field) -> DataType:
    if field["type"] == "table":
        columns = [(column["key"], _build_type(arrow, column)) for column in field["columns"]]
        return arrow.list_(arrow.struct(columns))
    type_ = _build_value_type(arrow, field["type"])
    return arrow.list_(type_) if field.get("multiple") else type_


def _build_value_type(arrow: Arrow, field_type: str) -> DataType:
    if field_type == "money":
        amount = arrow.decimal128(DECIMAL_DIGITS, DECIMAL_SCALE)
        return arrow.struct([("amount", amount), ("currency", arrow.string())])
    types: dict[str, Callable[[], DataType]] = {
        "number": arrow.float64,
        "integer": arrow.int64,
        "boolean": arrow.bool_,
        "date": arrow.date32,
        "time": lambda: arrow.time64("us"),
        "datetime": lambda: arrow.timestamp("us", tz="UTC"),
    }
    return types.get(field_type, arrow.string)()


def _render_sample() -> str:
    """Return the example tag set's row as JSON text, because Parquet files are binary."""
    converters = {field["key"]: build_converter(field) for field in SAMPLE_FIELDS}
    labels = {key: converters[key](value) for key, value in SAMPLE_ROW["labels"].items()}
    artifact = {
        **SAMPLE_ROW["artifact"],
        "metadata": json.dumps(SAMPLE_ROW["artifact"]["metadata"]),
    }
    extra_columns = {"other_labels": None, "tags": None, "text": None}
    row = {**SAMPLE_ROW, "artifact": artifact, "labels": labels, **extra_columns}
    return json.dumps(row, default=str, indent=1) + "\n"


FORMAT = Format(
    id="parquet",
    name="Apache Parquet",
    media_type="application/vnd.apache.parquet",
    extension="parquet",
    description=(
        "Typed columns for analysis, one row per tag set; tables are lists of structures. A value "
        "that does not fit the type of its column is kept as JSON in `other_labels`."
    ),
    options_schema=_OPTIONS,
    keeps=("values", "tables", "evidence", "confidence", "text"),
    default_parts=("evidence",),
    sample=_render_sample(),
    writer=ParquetWriter,
    keeps_removed=True,
    needs_process=True,
)
