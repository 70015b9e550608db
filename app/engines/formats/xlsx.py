"""Write an Excel workbook with a sheet for the tag sets and a sheet for each table.

Memory is constant, because XlsxWriter keeps the rows in temporary files until the workbook is
closed.
"""

import tempfile
from collections.abc import Iterable, Sequence
from datetime import date, datetime
from typing import TYPE_CHECKING, Any, BinaryIO

from app.engines.formats import xlsx_values as values
from app.engines.formats.archives import OutputFile
from app.engines.formats.cells import escape_formula
from app.engines.formats.flat import (
    COMMON_HEADERS,
    SEPARATOR_OPTION,
    LabelSplitter,
    list_common_values,
    list_field_headers,
    list_plain_fields,
    list_row_headers,
    list_table_rows,
)
from app.engines.formats.model import Field, Fields, Format, Options, Row, TooManyColumnsError
from app.engines.formats.parsing import ParsingWriter
from app.engines.formats.sample import SAMPLE_FIELDS, SAMPLE_ROW

if TYPE_CHECKING:
    from xlsxwriter import Workbook  # type: ignore[import-untyped]

MAX_ROWS = 1_048_576
"""The maximum number of rows in a sheet; additional rows are written to another sheet."""
MAX_COLUMNS = 16_384
_MAX_SHEET_NAME_LENGTH = 31
_MAIN_SHEET_NAME = "Tag sets"
_RESERVED_SHEET_NAMES = ("history",)
_CREATED_AT = datetime(2000, 1, 1)  # noqa: DTZ001 - a fixed time, written unchanged

_OPTIONS: dict[str, Any] = {
    "separator": SEPARATOR_OPTION,
    "raw": {
        "type": "boolean",
        "default": False,
        "description": (
            "Leave cells unchanged, even if they begin like a formula. Such cells are text in "
            "the workbook, but become formulas if the workbook is saved as CSV. By default, "
            "they are prefixed with an apostrophe, except numbers."
        ),
    },
}


def _check_fields(fields: Sequence[Field]) -> None:
    headers = list_field_headers(list_plain_fields(fields), "labels.")
    if len(COMMON_HEADERS) + len(headers) > MAX_COLUMNS:
        raise TooManyColumnsError


class XlsxWriter(ParsingWriter):
    """A writer that collects rows in a workbook, and writes it to the output in `close`."""

    def __init__(self, out: BinaryIO, fields: Fields, options: Options) -> None:
        import xlsxwriter  # noqa: PLC0415 - only needed for exports of this format

        super().__init__()
        self._out = _WorkbookFile(out)
        self._folder = tempfile.TemporaryDirectory(prefix="export-")
        self._book = xlsxwriter.Workbook(
            self._out, {"constant_memory": True, "tmpdir": self._folder.name}
        )
        self._book.use_zip64()
        self._book.set_properties({"created": _CREATED_AT})
        self._separator = options.get("separator", "|")
        self._escape = str if options.get("raw") else escape_formula
        self._used_names: set[str] = set()
        tables = [field for field in fields if field["type"] == "table"]
        plain_fields = list_plain_fields(fields)
        self._splitter = LabelSplitter(fields)
        headers = [*COMMON_HEADERS, *list_field_headers(plain_fields, "labels.")]
        self._main_sheet = self._build_sheet(_MAIN_SHEET_NAME, headers)
        self._converters = self._build_converters(plain_fields)
        self._tables = {
            table["key"]: (
                self._build_sheet(table["key"], list_row_headers(table)),
                self._build_converters(table["columns"]),
            )
            for table in tables
        }

    def _write_row(self, row: Row) -> None:
        """Add one tag set to the main sheet, and its table rows to the sheets of the tables."""
        plain_labels, table_labels = self._splitter.split(row.get("labels") or {})
        cells = [
            values.build_common_cell(value, self._separator, self._escape)
            for value in list_common_values(row)
        ]
        for key, convert in self._converters:
            cells += convert(plain_labels.get(key))
        self._main_sheet.write(cells)
        for key, (sheet, converters) in self._tables.items():
            for number, table_row in enumerate(list_table_rows(table_labels.get(key))):
                cells = [row.get("tag_set_id"), number]
                for name, convert in converters:
                    cells += convert(table_row.get(name))
                sheet.write(cells)

    def _finish(self) -> None:
        try:
            self._book.close()
        except Exception as error:  # noqa: BLE001 - raised again; XlsxWriter replaces errors
            raise self._out.error or error from None
        finally:
            self._folder.cleanup()

    def _build_converters(self, fields: Sequence[Field]) -> list[tuple[str, values.ValueConverter]]:
        return [
            (field["key"], values.build_converter(field, self._separator, self._escape))
            for field in fields
        ]

    def _build_sheet(self, name: str, headers: Sequence[str]) -> "_Sheet":
        return _Sheet(self._book, name, headers, self._used_names)


class _Sheet:
    """A sheet of rows with the same columns. When it is full, rows are added to a new sheet."""

    def __init__(
        self, book: "Workbook", name: str, headers: Sequence[str], used_names: set[str]
    ) -> None:
        self._book = book
        self._name = name
        self._headers = headers
        self._used_names = used_names
        self._date_format = book.add_format({"num_format": "yyyy-mm-dd"})
        self._datetime_format = book.add_format({"num_format": "yyyy-mm-dd hh:mm:ss"})
        self._start_sheet()

    def write(self, cells: Iterable[values.Cell]) -> None:
        """Add a row of cells, on a new sheet if the current sheet is full."""
        if self._next_row >= MAX_ROWS:
            self._start_sheet()
        for column, value in enumerate(cells):
            if value is not None and value != "":
                self._write_cell(column, value)
        self._next_row += 1

    def _start_sheet(self) -> None:
        self._sheet = self._book.add_worksheet(_choose_sheet_name(self._name, self._used_names))
        self._sheet.freeze_panes(1, 0)
        self._next_row = 0
        for column, header in enumerate(self._headers):
            self._write_cell(column, header)
        self._next_row = 1

    def _write_cell(self, column: int, value: str | float | date) -> None:
        row, sheet = self._next_row, self._sheet
        if isinstance(value, str):
            sheet.write_string(row, column, values.encode_text(value))
        elif isinstance(value, bool):
            sheet.write_boolean(row, column, value)
        elif isinstance(value, datetime):
            sheet.write_datetime(row, column, value, self._datetime_format)
        elif isinstance(value, date):
            sheet.write_datetime(row, column, value, self._date_format)
        else:
            sheet.write_number(row, column, value)


class _WorkbookFile(OutputFile):
    """The file object for the workbook.

    After an error it writes nothing, although XlsxWriter still tries to write the end of the file.
    """

    error: Exception | None = None

    def write(self, data: bytes) -> int:
        try:
            return len(data) if self.error else super().write(data)
        except Exception as error:
            self.error = error
            raise


def _choose_sheet_name(name: str, used_names: set[str]) -> str:
    """Choose a unique sheet name based on `name`, and add it to `used_names` in lower case.

    Excel allows at most 31 characters, ignores case, and reserves some names.
    """
    number = 1
    while True:
        suffix = f" ({number})" if number > 1 or name in _RESERVED_SHEET_NAMES else ""
        candidate = name[: _MAX_SHEET_NAME_LENGTH - len(suffix)] + suffix
        if candidate.lower() not in used_names:
            used_names.add(candidate.lower())
            return candidate
        number += 1


def _render_sample() -> str:
    """Return the example tag set's sheets as text, because workbooks are binary."""
    labels = SAMPLE_ROW["labels"]
    fields = [field for field in SAMPLE_FIELDS if field["type"] != "table"]
    cells = [
        labels["invoice_number"],
        labels["total"]["amount"],
        labels["total"]["currency"],
    ]
    lines = [
        f"Sheet: {_MAIN_SHEET_NAME}",
        "\t".join(["tag_set_id", "…", *list_field_headers(fields, "labels.")]),
        "\t".join([SAMPLE_ROW["tag_set_id"], "…", *cells]),
    ]
    for table in SAMPLE_FIELDS:
        if table["type"] == "table":
            lines += ["", f"Sheet: {table['key']}", "\t".join(list_row_headers(table))]
            for number, row in enumerate(labels[table["key"]]):
                items = [str(item) for item in row.values()]
                lines.append("\t".join([SAMPLE_ROW["tag_set_id"], str(number), *items]))
    return "\n".join(lines) + "\n"


FORMAT = Format(
    id="xlsx",
    name="Excel",
    media_type="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    extension="xlsx",
    description=(
        "A workbook with one row per tag set, one column per field from all schema versions, and "
        "one sheet per table. Cells contain numbers, booleans, dates or text. Text is truncated to "
        "32,767 characters. Exports with more than 16,384 columns fail."
    ),
    options=_OPTIONS,
    keeps=("values", "tables"),
    sample=_render_sample(),
    writer=XlsxWriter,
    keeps_removed=True,
    needs_process=True,
    check_fields=_check_fields,
)
