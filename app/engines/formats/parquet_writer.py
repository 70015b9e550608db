"""Write Apache Parquet: typed columns, in row groups of bounded size."""

from collections.abc import Sequence
from typing import BinaryIO

import pyarrow as pa  # type: ignore[import-untyped]
from pyarrow import parquet

from app.engines.formats.archives import OutputFile
from app.engines.formats.model import Fields, Options, Row
from app.engines.formats.parquet_columns import BatchBuilder
from app.engines.formats.parquet_schema import build_schema, list_label_paths
from app.engines.formats.parsing import BatchWriter

_BATCH_ROWS = 200
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


class ParquetWriter(BatchWriter):
    """A writer that converts tag sets in small batches, and writes them in larger row groups."""

    def __init__(self, out: BinaryIO, fields: Fields, options: Options) -> None:
        super().__init__(_BATCH_ROWS)
        fields = [field for field in fields if field["type"] != "table" or field["columns"]]
        self._schema = build_schema(fields)
        self._builder = BatchBuilder(self._schema, fields)
        self._group: list[pa.RecordBatch] = []
        self._group_rows = self._group_bytes = 0
        label_paths = list_label_paths(self._schema)
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
        self._group_rows += batch.num_rows
        self._group_bytes += batch.nbytes
        if self._group_rows >= _GROUP_ROWS or self._group_bytes >= self._max_group_bytes:
            self._end_group()

    def _end_group(self) -> None:
        if self._group:
            table = pa.Table.from_batches(self._group, schema=self._schema)
            self._file.write_table(table, row_group_size=table.num_rows)
            self._group = []
            self._group_rows = self._group_bytes = 0
