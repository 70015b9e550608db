"""Write CSV (RFC 4180, UTF-8): one flat line per tag set, or per row of its tables."""

import csv
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, BinaryIO

import orjson

from app.engines.formats.cells import Cells, bare, cell, cells_of, guarded, headers_of
from app.engines.formats.model import Field, Format, Row
from app.engines.formats.sample import sample_of

_CHUNK = 1 << 18  # characters

_TOP = ("tag_set_id", "status", "source")
_ARTIFACT = (
    "id",
    "name",
    "external_id",
    "media_type",
    "sha256",
    "page_count",
    "language",
    "gold",
    "archived",
)
_SCHEMA = ("id", "name", "version_id", "version")
_PEOPLE = ("labeler_id", "reviewer_id", "submitted_at", "decided_at")

_OPTIONS: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "properties": {
        "delimiter": {
            "enum": [",", ";", "\t", "|"],
            "default": ",",
            "description": "The separator between two cells.",
        },
        "separator": {
            "type": "string",
            "minLength": 1,
            "maxLength": 10,
            "default": "|",
            "description": "The separator between the values of a field with multiple values.",
        },
        "rows": {
            "enum": ["join", "explode"],
            "default": "join",
            "description": (
                "join: one line per tag set, with each table as JSON in one cell. explode: one "
                "line per table row, with a column for each of the table's columns; all other "
                "cells are repeated."
            ),
        },
        "header": {
            "type": "boolean",
            "default": True,
            "description": "Write the column names first.",
        },
        "bom": {
            "type": "boolean",
            "default": False,
            "description": "Write a byte order mark first, so that Excel detects UTF-8.",
        },
        "raw": {
            "type": "boolean",
            "default": False,
            "description": (
                "Leave cells unchanged that a spreadsheet would execute as a formula. Otherwise "
                "such cells are prefixed with an apostrophe; numbers never are."
            ),
        },
    },
    "additionalProperties": False,
}


class DelimitedWriter:
    """A CSV writer; each column is named after the path of its member in the JSON row."""

    def __init__(self, out: BinaryIO, fields: Sequence[Field], options: Mapping[str, Any]) -> None:
        self.rows = 0
        self._out = out
        self._buffer = io.StringIO()
        self._pieces: list[bytes] = []
        delimiter = options.get("delimiter", ",")
        self._csv = csv.writer(self._buffer, delimiter=delimiter, lineterminator="\r\n")
        self._separator = options.get("separator", "|")
        self._guard = bare if options.get("raw") else guarded
        self._explode = options.get("rows") == "explode"
        tables = [field for field in fields if field["type"] == "table" and self._explode]
        self._columns = self._cells([field for field in fields if field not in tables])
        self._tables = {table["key"]: self._cells(table["columns"]) for table in tables}
        self._widths = {table["key"]: len(_headers(table["columns"], "")) for table in tables}
        if options.get("bom"):
            self._buffer.write("\ufeff")
        if options.get("header", True):
            self._csv.writerow(self._header(fields, tables))

    def write(self, row: Row) -> None:
        """Add one tag set."""
        labels = row.get("labels") or {}
        line = self._common_cells(row)
        for key, cells in self._columns:
            line += cells(labels.get(key))
        if self._explode:
            self._csv.writerows(self._explode_tables(line, labels))
        else:
            self._csv.writerow(line)
        self.rows += 1
        if self._buffer.tell() > _CHUNK:
            self._flush()

    def write_json(self, line: bytes) -> None:
        """Add one tag set as JSON. Raises ValueError if it is not a JSON object."""
        try:
            row = orjson.loads(line)
        except orjson.JSONDecodeError:  # it rejects lone surrogates, which JSON allows
            row = json.loads(line)
        if not isinstance(row, dict):
            raise ValueError("a tag set must be a JSON object")  # noqa: TRY004 - a value, not a type
        self.write(row)

    def write_piece(self, piece: bytes, *, is_last: bool) -> None:
        """Add a piece of a tag set as JSON; the tag set is parsed when its last piece arrives."""
        self._pieces.append(piece)
        if is_last:
            line, self._pieces = b"".join(self._pieces), []
            self.write_json(line)

    def close(self) -> None:
        """Write the remaining data."""
        self._flush()

    def _cells(self, fields: Sequence[Field]) -> list[tuple[str, Cells]]:
        return [(field["key"], cells_of(field, self._separator, self._guard)) for field in fields]

    def _header(self, fields: Sequence[Field], tables: Sequence[Field]) -> list[str]:
        names = [*_TOP, *(f"artifact.{name}" for name in _ARTIFACT), "artifact.metadata"]
        names += [*(f"schema.{name}" for name in _SCHEMA), *_PEOPLE]
        names += _headers([field for field in fields if field not in tables], "labels.")
        if self._explode:
            names += ["table", "row"]
        for table in tables:
            names += _headers(table["columns"], f"labels.{table['key']}.")
        return names

    def _common_cells(self, row: Row) -> list[str]:
        artifact, schema = row.get("artifact") or {}, row.get("schema") or {}
        values = [row.get(name) for name in _TOP]
        values += [artifact.get(name) for name in _ARTIFACT]
        values.append(artifact.get("metadata") or None)
        values += [schema.get(name) for name in _SCHEMA]
        values += [row.get(name) for name in _PEOPLE]
        separator, guard = self._separator, self._guard
        return [cell(value, separator, guard) for value in values]

    def _explode_tables(self, line: list[str], labels: Mapping[str, Any]) -> Iterator[list[str]]:
        """Yield the line once per row of each table, or once if there are no rows."""
        empty = {key: [""] * width for key, width in self._widths.items()}
        count = 0
        for key, columns in self._tables.items():
            for number, row in enumerate(_rows(labels.get(key))):
                own = [part for name, cells in columns for part in cells(row.get(name))]
                parts = {**empty, key: own}
                yield [*line, key, str(number), *(part for all_ in parts.values() for part in all_)]
                count += 1
        if not count:
            yield [*line, "", "", *(part for all_ in empty.values() for part in all_)]

    def _flush(self) -> None:
        self._out.write(self._buffer.getvalue().encode("utf-8", "replace"))
        self._buffer.seek(0)
        self._buffer.truncate()


def _headers(fields: Sequence[Field], prefix: str) -> list[str]:
    return [name for field in fields for name in headers_of(field, prefix + field["key"])]


def _rows(value: object) -> list[Mapping[str, Any]]:
    return [row for row in value if isinstance(row, Mapping)] if isinstance(value, list) else []


FORMAT = Format(
    id="csv",
    name="CSV",
    media_type="text/csv",
    extension="csv",
    description=(
        "One flat line per tag set, UTF-8, with a column per field of any version; money has two "
        "columns, amount and currency. Safe to open in a spreadsheet."
    ),
    options_schema=_OPTIONS,
    keeps=("values", "tables"),
    sample=sample_of(DelimitedWriter, {}),
    writer=DelimitedWriter,
)
