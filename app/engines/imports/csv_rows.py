"""Read CSV with a header: one document in each row.

The column `text` contains the text, `name` and `external_id` are properties of the document, and
all other columns become its metadata. If Excel's line `sep=` precedes the header, it specifies the
delimiter. Otherwise, the character in DELIMITERS that occurs most often in the header is used; a
character that yields a column `text` takes precedence.
"""

import csv
import re
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, BinaryIO, NamedTuple

from app.engines.imports.lines import MAX_LINE_BYTES, read_lines
from app.engines.imports.records import (
    START,
    TOO_LARGE,
    UNPROCESSABLE,
    Entry,
    ImportFileError,
    ParseResult,
    Reader,
    RecordContent,
)
from app.engines.plurals import format_count

TEXT_COLUMN = "text"
PROPERTY_COLUMNS = (TEXT_COLUMN, "name", "external_id")
"""The columns that become properties of the document; the other columns become metadata."""
DELIMITERS = ",;\t|"
_MAX_HEADER_BYTES = 64 * 1024
_DELIMITER_LINE = re.compile(
    rf'(?:\xef\xbb\xbf)?"?sep=([{DELIMITERS}])"?[ \t]*\r?(?:\n|\Z)'.encode("latin-1"), re.IGNORECASE
)

csv.field_size_limit(MAX_LINE_BYTES)


class _CsvHeader(NamedTuple):
    columns: list[str]
    delimiter: str
    end: int


class _CsvRow(NamedTuple):
    columns: list[str]
    cells: list[str]
    error: tuple[str, str] | None


class _RowTooLargeError(Exception):
    """A row has more than `MAX_LINE_BYTES`; its remaining lines were skipped."""


class _CsvLines(Iterator[str]):
    """Iterates over the lines for the CSV parser.

    `offset` is the end of the last line that was read. `is_too_long` is true if a line of the row
    exceeds MAX_LINE_BYTES; such a line is replaced with an empty line. Raises _RowTooLargeError for
    a row of more than MAX_LINE_BYTES, because the parser keeps a whole row in memory.
    """

    def __init__(self, file: BinaryIO, offset: int) -> None:
        self._lines = read_lines(file, offset)
        self.offset = offset
        self.begin_row()

    def begin_row(self) -> None:
        """Begin the next row at `offset`."""
        self._row_start, self._quote_count = self.offset, 0
        self.is_too_long = False

    def __next__(self) -> str:
        data = self._read_line()
        if self.offset - self._row_start > MAX_LINE_BYTES:
            self._skip_row()
            raise _RowTooLargeError
        # A row that is not UTF-8 has surrogates, which `_parse_row` rejects.
        return data.decode("utf-8", "surrogateescape")

    def _read_line(self) -> bytes:
        line = next(self._lines)
        self.offset = line.end
        if line.data is None:
            self.is_too_long = True
            self._row_start = self.offset  # The line is not kept in memory.
            return b"\n"
        self._quote_count += line.data.count(b'"')
        return line.data

    def _skip_row(self) -> None:
        """Skip lines up to the end of the row, which has an even number of quotes."""
        with suppress(StopIteration):
            while self._quote_count % 2:
                self._read_line()


class CsvReader(Reader):
    """Reads CSV files, in which each row after the header is a record.

    Raises ImportFileError if the header is invalid.
    """

    def _scan(self, file: BinaryIO, offset: int) -> Iterator[Entry]:
        header = _read_header(file)
        offset = max(offset, header.end)
        for cells, error, end in _read_rows(file, offset, header.delimiter):
            yield Entry(_CsvRow(header.columns, cells, error), end - offset, end)
            offset = end

    def _parse(self, data: _CsvRow) -> ParseResult:
        return (None, data.error) if data.error else _parse_row(data.columns, data.cells)


def _read_rows(
    file: BinaryIO, offset: int, delimiter: str
) -> Iterator[tuple[list[str], tuple[str, str] | None, int]]:
    """Yield each row that is not blank, its error or None, and the offset after the row."""
    lines = _CsvLines(file, offset)
    rows = csv.reader(lines, delimiter=delimiter, strict=True)
    while True:
        error = None
        lines.begin_row()
        try:
            row = next(rows)
        except StopIteration:
            return
        except _RowTooLargeError:
            row, error = [], (TOO_LARGE, f"The row has more than {MAX_LINE_BYTES} bytes.")
            rows = csv.reader(lines, delimiter=delimiter, strict=True)
        except csv.Error as failure:
            row, error = [], (UNPROCESSABLE, f"Malformed CSV: {failure}.")
        if lines.is_too_long:
            error = (TOO_LARGE, f"The row has a line of more than {MAX_LINE_BYTES} bytes.")
        if row or error:
            yield row, error, lines.offset


def find_delimiter_line(head: bytes) -> re.Match[bytes] | None:
    """Match the line with the delimiter, such as `sep=;`, that Excel allows before the header.

    Group 1 of the match is the delimiter. Returns None if `head` does not begin with such a line.
    """
    return _DELIMITER_LINE.match(head)


def _read_header(file: BinaryIO) -> _CsvHeader:
    lines = read_lines(file, START.offset)
    line = next(lines, None)
    delimiter_match = find_delimiter_line(line.data) if line and line.data else None
    if delimiter_match:
        line = next(lines, None)
    delimiters = delimiter_match[1].decode() if delimiter_match else DELIMITERS
    if line is None or line.data is None or len(line.data) > _MAX_HEADER_BYTES:
        raise ImportFileError(
            "The header line must contain the names of the columns, in at most "
            f"{_MAX_HEADER_BYTES} bytes."
        )
    try:
        text = line.data.decode("utf-8-sig")
        delimiter = max(
            delimiters,
            key=lambda char: (TEXT_COLUMN in _split_header(text, char), text.count(char)),
        )
        columns = _split_header(text, delimiter)
    except UnicodeDecodeError:
        raise ImportFileError("The header line is not valid UTF-8 text.") from None
    except csv.Error as failure:
        raise ImportFileError(f"The header line is malformed: {failure}.") from None
    if TEXT_COLUMN not in columns:
        raise ImportFileError("The header line is invalid; the column `text` is missing.")
    if "" in columns or len(set(columns)) != len(columns):
        raise ImportFileError("Each column must have a unique, non-empty name.")
    return _CsvHeader(columns, delimiter, line.end)


def _split_header(text: str, delimiter: str) -> list[str]:
    return [name.strip() for name in next(csv.reader([text], delimiter=delimiter), [])]


def _parse_row(columns: list[str], row: list[str]) -> ParseResult:
    if len(row) != len(columns):
        columns_text = format_count(len(row), "column", "columns")
        message = f"The row has {columns_text}, but the header line has {len(columns)}."
        return None, (UNPROCESSABLE, message)
    values = dict(zip(columns, row, strict=True))
    if any(_has_surrogate(value) for value in row):
        return None, (UNPROCESSABLE, "The row is not valid UTF-8 text.")
    properties: dict[str, Any] = {
        name: values[name] for name in PROPERTY_COLUMNS if values.get(name) or name == TEXT_COLUMN
    }
    properties["metadata"] = {
        name: value for name, value in values.items() if name not in PROPERTY_COLUMNS and value
    }
    return RecordContent(properties), None


def _has_surrogate(value: str) -> bool:
    return not value.isascii() and any("\ud800" <= char <= "\udfff" for char in value)
