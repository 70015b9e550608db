"""Read ODS (OpenDocument 1.3, part 3, section 9): the visible sheets, each on its own page.

The text has the same format as in `spreadsheets`. A file may repeat a cell or a row any number of
times. Repeated empty cells are therefore only counted, repeated empty rows are read once, and the
repetitions of other cells and rows are limited.
"""

import re
from collections.abc import Iterator
from datetime import timedelta
from itertools import repeat
from typing import BinaryIO

from lxml import etree  # type: ignore[import-untyped]

from app.engines.documents.model import Limits, ParseFailed
from app.engines.documents.readers import open_document_xml as odf
from app.engines.documents.readers.archives import open_archive
from app.engines.documents.readers.spreadsheets import (
    collapse_gaps,
    collapse_spaces,
    format_value,
    join_pages,
)
from app.engines.documents.text import clean_text

_CELL_TAGS = (odf.TABLE + "table-cell", odf.TABLE + "covered-table-cell")
_SPACE_TAGS = {odf.TEXT + name for name in ("line-break", "tab", "s")}
_MAX_COLUMNS, _MAX_ROWS = 16_384, 1_048_576
_DURATION = re.compile(r"(-?)PT(\d{1,9})H(\d{1,2})M(\d{1,2})(?:[.,]\d+)?S")
_UNREADABLE = "The file is damaged or not an OpenDocument spreadsheet."


def extract_text(file: BinaryIO, limits: Limits) -> str:
    """Return the text of the visible sheets of an ODS file. Raises `ParseFailed`."""
    with open_archive(file, limits, _UNREADABLE) as archive:
        content = odf.read_content(archive)
    body = content.find(f"{odf.OFFICE}body/{odf.OFFICE}spreadsheet")
    if body is None:
        raise ParseFailed("unreadable", _UNREADABLE)
    hidden_styles = odf.find_styles(
        content, odf.STYLE + "table-properties", odf.TABLE + "display", "false"
    )
    sheets = (
        (sheet.get(odf.TABLE + "name", ""), collapse_gaps(_iterate_rows(sheet)))
        for sheet in body.iterchildren(odf.TABLE + "table")
        if sheet.get(odf.TABLE + "style-name") not in hidden_styles
    )
    return clean_text(join_pages(sheets, limits))


def _iterate_rows(sheet: etree._Element) -> Iterator[str]:
    for row in sheet.iter(odf.TABLE + "table-row"):
        line = "\t".join(_iterate_cells(row)).rstrip("\t")
        count = _read_count(row, "number-rows-repeated", _MAX_ROWS) if line else 1
        yield from repeat(line, count)


def _iterate_cells(row: etree._Element) -> Iterator[str]:
    """Yield the text of each cell in a row, up to the last cell with content."""
    empty_count = 0
    for cell in row.iterchildren(*_CELL_TAGS):
        count = _read_count(cell, "number-columns-repeated", _MAX_COLUMNS)
        value = _format_cell(cell) if cell.tag == _CELL_TAGS[0] else ""
        if not value:
            empty_count = min(empty_count + count, _MAX_COLUMNS)
            continue
        yield from [""] * empty_count
        yield from [value] * count
        empty_count = 0


def _read_count(element: etree._Element, name: str, limit: int) -> int:
    return max(1, odf.read_count(element.get(odf.TABLE + name, "1"), limit))


def _format_cell(cell: etree._Element) -> str:
    """Return the text of a cell in the format of `spreadsheets.format_value`."""
    value_type = cell.get(odf.OFFICE + "value-type")
    if value_type in ("float", "percentage", "currency"):
        try:
            return format_value(float(cell.get(odf.OFFICE + "value", "")))
        except (ValueError, OverflowError):
            return ""
    if value_type == "boolean":
        return str(cell.get(odf.OFFICE + "boolean-value", "")).upper()
    if value_type == "date":
        return str(cell.get(odf.OFFICE + "date-value", "")).replace("T", " ")
    if value_type == "time":
        return _format_time(cell.get(odf.OFFICE + "time-value", ""))
    paragraphs = cell.iterchildren(odf.TEXT + "p")
    return collapse_spaces(" ".join(_read_paragraph(paragraph) for paragraph in paragraphs))


def _read_paragraph(paragraph: etree._Element) -> str:
    parts: list[str] = []
    for event, element in etree.iterwalk(paragraph, events=("start", "end")):
        if event == "start":
            parts.append(" " if element.tag in _SPACE_TAGS else element.text or "")
        elif element is not paragraph:
            parts.append(element.tail or "")
    return "".join(parts)


def _format_time(value: str) -> str:
    match = _DURATION.fullmatch(value)
    if match is None:
        return collapse_spaces(value)
    sign, hours, minutes, seconds = match.groups()
    duration = timedelta(hours=int(hours), minutes=int(minutes), seconds=int(seconds))
    return format_value(-duration if sign else duration)
