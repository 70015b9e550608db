"""Read XLSX and XLS workbooks with calamine: the visible sheets, one after the other.

Each sheet starts a new page, whose first line is the name of the sheet. A row is a line, with a tab
between its cells. Empty cells at the end of a row, and empty rows at both ends of a sheet, are left
out; consecutive empty rows become one. Cells have the values that the spreadsheet program computed
last, without their display formats.
"""

import datetime as dt
import re
from collections.abc import Iterable, Iterator
from typing import BinaryIO

from python_calamine import (
    CalamineError,
    CalamineSheet,
    CalamineWorkbook,
    PasswordError,
    SheetTypeEnum,
    SheetVisibleEnum,
)

from app.engines.documents import media
from app.engines.documents.model import Limits, ParseFailed
from app.engines.documents.readers.archives import check_archive, is_encrypted_package
from app.engines.documents.text import clean_text

CellValue = int | float | str | bool | dt.time | dt.date | dt.datetime | dt.timedelta

# calamine keeps all cells from the first to the last in memory, 32 bytes each.
_MAX_CELLS = 10_000_000
# A cell that has content. No match spans tags, so the search takes linear time.
_CELL = re.compile(
    rb"""<(?:\w+:)?c\s[^<>]*?\br\s*=\s*["']([A-Z]{1,3})([0-9]{1,7})["'][^<>]*(?<!/)>"""
)
_MAX_TAG_BYTES = 200
_WORKBOOK_PART = "xl/workbook.xml"
_UNREADABLE = "The file is damaged or not an Excel workbook."
_SECONDS_PER_HOUR, _SECONDS_PER_MINUTE = 3600, 60


def extract_text(file: BinaryIO, media_type: str, limits: Limits) -> str:
    """Return the text of the visible sheets of a workbook. Raises `ParseFailed`."""
    if media_type == media.XLSX:
        _check_xlsx(file, limits)
    elif is_encrypted_package(file):
        raise ParseFailed("password_protected", "The workbook is protected by a password.")
    file.seek(0)
    try:
        with CalamineWorkbook.from_filelike(file) as workbook:
            return clean_text(join_pages(_iterate_sheets(workbook), limits))
    except PasswordError as error:
        message = "The workbook is protected by a password."
        raise ParseFailed("password_protected", message) from error
    except CalamineError as error:
        raise ParseFailed("unreadable", _UNREADABLE) from error


def _check_xlsx(file: BinaryIO, limits: Limits) -> None:
    sheet_areas = _SheetAreas()
    check_archive(
        file,
        limits,
        damaged_message=_UNREADABLE,
        older_format_message="The file has an older Excel format; rename it to .xls.",
        inspect=sheet_areas.inspect,
    )
    if not sheet_areas.has_workbook:
        raise ParseFailed("unreadable", _UNREADABLE)


class _SheetAreas:
    """Measures each sheet's cell area and finds the workbook part while the archive is unpacked."""

    def __init__(self) -> None:
        self.has_workbook = False
        self._entry_name = ""
        self._chunk_end = b""  # the end of the previous chunk, because a tag may span two chunks
        self._first_row = self._first_column = 0
        self._last_row = self._last_column = 0

    def inspect(self, name: str, chunk: bytes) -> None:
        """Extend the sheet's area to include the cells in `chunk`.

        Raises `ParseFailed` if the area has more than `_MAX_CELLS` cells.
        """
        self.has_workbook = self.has_workbook or name == _WORKBOOK_PART
        if name != self._entry_name:
            self._entry_name, self._chunk_end = name, b""
            self._first_row = self._first_column = 1 << 30
            self._last_row = self._last_column = 0
        data = self._chunk_end + chunk
        for match in _CELL.finditer(data):
            row, column = int(match[2]), _parse_column(match[1])
            self._first_row, self._last_row = min(self._first_row, row), max(self._last_row, row)
            self._first_column = min(self._first_column, column)
            self._last_column = max(self._last_column, column)
        self._chunk_end = data[-_MAX_TAG_BYTES:]
        row_count = self._last_row - self._first_row + 1
        if row_count > 0 and row_count * (self._last_column - self._first_column + 1) > _MAX_CELLS:
            message = f"A sheet of the workbook spans more than {_MAX_CELLS} cells."
            raise ParseFailed("too_large_unpacked", message)


def _parse_column(letters: bytes) -> int:
    """Parse the letters of a column, and return its number from 1, such as 28 for `AB`."""
    number = 0
    for letter in letters:
        number = number * 26 + letter - ord("A") + 1
    return number


def join_pages(sheets: Iterable[tuple[str, Iterator[str]]], limits: Limits) -> str:
    """Join the text of all sheets with form feeds; sheets without lines are left out.

    `sheets` yields the name and the lines of each sheet. Raises `ParseFailed` if the text has more
    than `limits.max_text_chars` characters.
    """
    pages: list[str] = []
    char_count = 0
    for name, sheet_lines in sheets:
        lines: list[str] = []
        for line in sheet_lines:
            char_count += len(line) + 1
            if char_count > limits.max_text_chars:
                message = f"The text is longer than {limits.max_text_chars} characters."
                raise ParseFailed("too_large_unpacked", message)
            lines.append(line)
        if lines:
            pages.append("\n".join([collapse_spaces(name), *lines]))
    return "\f".join(pages)


def _iterate_sheets(workbook: CalamineWorkbook) -> Iterator[tuple[str, Iterator[str]]]:
    """Yield the name and the lines of each visible sheet."""
    for index, metadata in enumerate(workbook.sheets_metadata):
        is_visible = metadata.visible == SheetVisibleEnum.Visible
        if is_visible and metadata.typ == SheetTypeEnum.WorkSheet:
            sheet = workbook.get_sheet_by_index(index)
            yield sheet.name, _iterate_lines(sheet)


def _iterate_lines(sheet: CalamineSheet) -> Iterator[str]:
    rows = ("\t".join(map(format_value, row)).rstrip("\t") for row in sheet.iter_rows())
    return collapse_gaps(rows)


def collapse_gaps(rows: Iterable[str]) -> Iterator[str]:
    """Yield the rows of a sheet as lines, from the first to the last row with content.

    Consecutive empty rows become one empty line.
    """
    has_content = is_gap = False
    for row in rows:
        if not row:
            is_gap = has_content
            continue
        if is_gap:
            yield ""
        yield row
        has_content, is_gap = True, False


def format_value(value: CellValue) -> str:
    """Return the value of a cell as text on one line."""
    if isinstance(value, str):
        return collapse_spaces(value)
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, float):
        return _format_number(value)
    if isinstance(value, dt.datetime):
        return value.isoformat(" ")
    if isinstance(value, dt.timedelta):
        return _format_duration(value)
    return str(value)


def _format_number(value: float) -> str:
    """Format a number; a fraction has 15 significant digits, as spreadsheet programs show it.

    Further digits are rounding errors: the sum of 0.1 and 0.2 is stored as 0.30000000000000004.
    """
    rounded_value = value if value.is_integer() else float(f"{value:.15g}")
    return str(int(rounded_value)) if rounded_value.is_integer() else str(rounded_value)


def _format_duration(value: dt.timedelta) -> str:
    """Format a duration as hours, minutes and seconds, for example `30:00:00`."""
    sign, seconds = ("-" if value.days < 0 else ""), round(abs(value).total_seconds())
    hours, remaining_seconds = divmod(seconds, _SECONDS_PER_HOUR)
    minutes, seconds = divmod(remaining_seconds, _SECONDS_PER_MINUTE)
    return f"{sign}{hours}:{minutes:02}:{seconds:02}"


def collapse_spaces(text: str) -> str:
    """Replace each run of white space with one space, and strip the text."""
    return " ".join(text.split())
