"""Read ODS (OpenDocument 1.3, part 3, section 9): the visible sheets, each on its own page.

The text has the same format as in `spreadsheets`. A file may repeat a cell or a row any number of
times, so empty cells and rows are only counted, and other repetitions are limited.
"""

import re
import zipfile
from collections.abc import Iterator
from datetime import timedelta
from typing import BinaryIO

from lxml import etree  # type: ignore[import-untyped]

from app.engines.documents.model import Limits, ParseFailed
from app.engines.documents.readers.archives import check_archive
from app.engines.documents.readers.open_document import check_not_encrypted, parse_xml
from app.engines.documents.readers.spreadsheets import collapse_spaces, format_value, join_pages
from app.engines.documents.text import normalize_text, replace_unstorable_chars

_OPEN_DOCUMENT = "urn:oasis:names:tc:opendocument:xmlns:"
_TEXT, _TABLE, _OFFICE, _STYLE = (
    f"{{{_OPEN_DOCUMENT}{name}:1.0}}" for name in ("text", "table", "office", "style")
)
_CELL_TAGS = (_TABLE + "table-cell", _TABLE + "covered-table-cell")
_SPACE_TAGS = {_TEXT + name for name in ("line-break", "tab", "s")}
_MAX_COLUMNS, _MAX_ROWS = 16_384, 1_048_576
_DURATION = re.compile(r"(-?)PT(\d{1,9})H(\d{1,2})M(\d{1,2})(?:[.,]\d+)?S")
_UNREADABLE = "The file is damaged or not an OpenDocument spreadsheet."


def extract_text(file: BinaryIO, limits: Limits) -> str:
    """Return the text of the visible sheets of an ODS file. Raises `ParseFailed`."""
    check_archive(file, limits, damaged_message=_UNREADABLE, older_format_message=_UNREADABLE)
    try:
        with zipfile.ZipFile(file) as archive:
            check_not_encrypted(archive)
            content = parse_xml(archive.read("content.xml"))
    except (KeyError, etree.XMLSyntaxError) as error:
        raise ParseFailed("unreadable", _UNREADABLE) from error
    body = content.find(f"{_OFFICE}body/{_OFFICE}spreadsheet")
    if body is None:
        raise ParseFailed("unreadable", _UNREADABLE)
    hidden_styles = _find_hidden_styles(content)
    sheets = (
        (sheet.get(_TABLE + "name", ""), _iterate_lines(sheet))
        for sheet in body.iterchildren(_TABLE + "table")
        if sheet.get(_TABLE + "style-name") not in hidden_styles
    )
    return normalize_text(replace_unstorable_chars(join_pages(sheets, limits)))


def _find_hidden_styles(content: etree._Element) -> set[str]:
    return {
        properties.getparent().get(_STYLE + "name")
        for properties in content.iter(_STYLE + "table-properties")
        if properties.get(_TABLE + "display") == "false"
    }


def _iterate_lines(sheet: etree._Element) -> Iterator[str]:
    """Yield the lines of a sheet, from the first to the last row with content.

    Consecutive empty rows become one empty line.
    """
    has_content = is_gap = False
    for row in sheet.iter(_TABLE + "table-row"):
        line = "\t".join(_iterate_cells(row)).rstrip("\t")
        if not line:
            is_gap = has_content
            continue
        for _ in range(_read_count(row, "number-rows-repeated", _MAX_ROWS)):
            if is_gap:
                yield ""
            yield line
            has_content, is_gap = True, False


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
    count = element.get(_TABLE + name, "1")
    is_small = count.isdecimal() and len(count) <= len(str(limit))
    return max(1, min(int(count), limit)) if is_small else limit


def _format_cell(cell: etree._Element) -> str:
    """Return the text of a cell in the format of `spreadsheets.format_value`."""
    value_type = cell.get(_OFFICE + "value-type")
    if value_type in ("float", "percentage", "currency"):
        try:
            return format_value(float(cell.get(_OFFICE + "value", "")))
        except (ValueError, OverflowError):
            return ""
    if value_type == "boolean":
        return str(cell.get(_OFFICE + "boolean-value", "")).upper()
    if value_type == "date":
        return str(cell.get(_OFFICE + "date-value", "")).replace("T", " ")
    if value_type == "time":
        return _format_time(cell.get(_OFFICE + "time-value", ""))
    paragraphs = cell.iterchildren(_TEXT + "p")
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
