"""Write CSV (RFC 4180, UTF-8): one flat line per tag set, or one line per table row."""

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, BinaryIO

from app.engines.formats.cells import (
    FORMULA_STARTS,
    ValueSplitter,
    build_value_splitter,
    escape_formula,
    format_cell,
)
from app.engines.formats.flat import (
    COMMON_HEADERS,
    SEPARATOR_OPTION,
    LabelSplitter,
    list_common_values,
    list_field_headers,
    list_plain_fields,
    list_table_rows,
)
from app.engines.formats.model import Field, Fields, Format, Options, Row
from app.engines.formats.parsing import ParsingWriter
from app.engines.formats.sample import render_sample

_CHUNK_CHARS = 1 << 18

_OPTIONS: dict[str, Any] = {
    "delimiter": {
        "enum": [",", ";", "\t", "|"],
        "default": ",",
        "description": "The character that separates the cells of a line.",
    },
    "separator": SEPARATOR_OPTION,
    "rows": {
        "enum": ["join", "explode"],
        "default": "join",
        "description": (
            "How to write tables. join: one line per tag set, with each table as JSON in one "
            "cell. explode: one line per table row, with a column for each of the table's "
            "columns; all other cells are repeated. A table that has another type in an older "
            "schema version also has a column for the values of that version."
        ),
    },
    "header": {
        "type": "boolean",
        "default": True,
        "description": "Write the column names in the first line.",
    },
    "bom": {
        "type": "boolean",
        "default": False,
        "description": "Start the file with a byte order mark, so that Excel detects UTF-8.",
    },
    "raw": {
        "type": "boolean",
        "default": False,
        "description": (
            "Leave cells unchanged, even if a spreadsheet would execute them as formulas. By "
            "default, such cells are prefixed with an apostrophe, except numbers."
        ),
    },
}


class DelimitedWriter(ParsingWriter):
    """A CSV writer that names each column after the property's path in the JSON row."""

    def __init__(self, out: BinaryIO, fields: Fields, options: Options) -> None:
        super().__init__()
        self._out = out
        self._buffer = io.StringIO()
        delimiter = options.get("delimiter", ",")
        self._csv = csv.writer(self._buffer, delimiter=delimiter, lineterminator="\r\n")
        self._separator = options.get("separator", "|")
        self._escape = str if options.get("raw") else escape_formula
        self._writes_table_rows = options.get("rows") == "explode"
        tables = [field for field in fields if field["type"] == "table" and self._writes_table_rows]
        plain_fields = list_plain_fields(fields) if self._writes_table_rows else fields
        self._splitter = LabelSplitter(tables)
        self._value_splitters = _build_value_splitters(plain_fields)
        self._table_splitters = {
            table["key"]: _build_value_splitters(table["columns"]) for table in tables
        }
        self._column_counts = {
            table["key"]: len(list_field_headers(table["columns"], "")) for table in tables
        }
        if options.get("bom"):
            self._buffer.write("\ufeff")
        if options.get("header", True):
            self._csv.writerow(self._build_header(plain_fields, tables))

    def _write_row(self, row: Row) -> None:
        plain_labels, table_labels = self._splitter.split(row.get("labels") or {})
        values = list_common_values(row)
        for key, split in self._value_splitters:
            values += split(plain_labels.get(key))
        cells = self._format_cells(values)
        if self._writes_table_rows:
            self._csv.writerows(self._explode_tables(cells, table_labels))
        else:
            self._csv.writerow(cells)
        if self._buffer.tell() > _CHUNK_CHARS:
            self._flush()

    def _finish(self) -> None:
        self._flush()

    def _build_header(self, plain_fields: Sequence[Field], tables: Sequence[Field]) -> list[str]:
        names = list(COMMON_HEADERS)
        names += list_field_headers(plain_fields, "labels.")
        if self._writes_table_rows:
            names += ["table", "row"]
        for table in tables:
            names += list_field_headers(table["columns"], f"labels.{table['key']}.")
        return names

    def _format_cells(self, values: Sequence[Any]) -> list[str]:
        """Convert values to cells. Text that needs no escaping is used as it is."""
        separator, escape = self._separator, self._escape
        return [
            value
            if type(value) is str and value[:1] not in FORMULA_STARTS
            else format_cell(value, separator, escape)
            for value in values
        ]

    def _explode_tables(self, cells: list[str], labels: Mapping[str, Any]) -> Iterator[list[str]]:
        """Yield one line for each row of each table, or one line if there are no table rows."""
        empty_cells = {key: [""] * count for key, count in self._column_counts.items()}
        row_count = 0
        for key, splitters in self._table_splitters.items():
            for index, row in enumerate(list_table_rows(labels.get(key))):
                values = [part for name, split in splitters for part in split(row.get(name))]
                cells_by_table = {**empty_cells, key: self._format_cells(values)}
                yield [*cells, key, str(index), *chain.from_iterable(cells_by_table.values())]
                row_count += 1
        if not row_count:
            yield [*cells, "", "", *chain.from_iterable(empty_cells.values())]

    def _flush(self) -> None:
        self._out.write(self._buffer.getvalue().encode("utf-8", "replace"))
        self._buffer.seek(0)
        self._buffer.truncate()


def _build_value_splitters(fields: Sequence[Field]) -> list[tuple[str, ValueSplitter]]:
    return [(field["key"], build_value_splitter(field)) for field in fields]


FORMAT = Format(
    id="csv",
    name="CSV",
    media_type="text/csv",
    extension="csv",
    description=(
        "UTF-8 text with one column per field from all schema versions; money has two columns, "
        "amount and currency. By default, one line per tag set, and safe to open in a spreadsheet."
    ),
    options=_OPTIONS,
    keeps=("values", "tables"),
    sample=render_sample(DelimitedWriter, {}),
    writer=DelimitedWriter,
    keeps_removed=True,
    needs_process=True,
)
