"""Read ODT (OpenDocument 1.3, part 3): headers, body with tables in document order, footers.

Paragraphs end with a line feed. The cells of a table row are separated by tabs, the paragraphs in a
cell by spaces. Hidden text, deleted (tracked) text and annotations are omitted; notes and text
boxes appear where they are anchored.
"""

import re
from collections.abc import Iterator
from typing import BinaryIO

from lxml import etree  # type: ignore[import-untyped]

from app.engines.documents.model import Limits, ParseFailed
from app.engines.documents.readers import open_document_xml as odf
from app.engines.documents.readers.archives import open_archive, parse_xml
from app.engines.documents.readers.numerals import read_number
from app.engines.documents.readers.open_document_lists import LIST, ListNumbers
from app.engines.documents.text import clean_text

_IMAGE = f"{{{odf.OPEN_DOCUMENT}drawing:1.0}}image"
_LINK = "{http://www.w3.org/1999/xlink}href"
_PARAGRAPH_TAGS = {odf.TEXT + "p", odf.TEXT + "h"}
_SVG = f"{{{odf.OPEN_DOCUMENT}svg-compatible:1.0}}"
_CELL, _COVERED_CELL = odf.TABLE + "table-cell", odf.TABLE + "covered-table-cell"
_SKIPPED_TAGS = {
    *(_SVG + name for name in ("title", "desc")),  # the description of a picture
    *(odf.OFFICE + name for name in ("annotation", "annotation-end", "forms")),
    *(odf.TEXT + name for name in ("tracked-changes", "sequence-decls", "variable-decls")),
    *(odf.TEXT + name for name in ("user-field-decls", "ruby-text", "hidden-text")),
}
_HEADERS = (odf.STYLE + "header", odf.STYLE + "header-first", odf.STYLE + "header-left")
_FOOTERS = (odf.STYLE + "footer", odf.STYLE + "footer-first", odf.STYLE + "footer-left")
_WHITE_SPACE = re.compile(r"[ \t\r\n]+")
_MAX_SPACES = 100
"""The maximum number of spaces per element. A file contains only a count, which may be huge."""
_UNREADABLE = "The file is damaged or not an OpenDocument text document."


def extract_text(file: BinaryIO, limits: Limits) -> str:
    """Return the visible text of an ODT file. Raises `ParseFailed`."""
    with open_archive(file, limits, _UNREADABLE) as archive:
        content = odf.read_content(archive)
        styles = (
            parse_xml(archive.read("styles.xml")) if "styles.xml" in archive.NameToInfo else None
        )
    body = content.find(f"{odf.OFFICE}body/{odf.OFFICE}text")
    if body is None:
        raise ParseFailed("unreadable", _UNREADABLE)
    hidden_styles = _find_hidden_styles(content) | _find_hidden_styles(styles)
    numbers = ListNumbers((styles, content))
    sections = [
        *_extract_parts(styles, _HEADERS, hidden_styles),
        _ElementText(hidden_styles, numbers).build_text(body),
        *_extract_parts(styles, _FOOTERS, hidden_styles),
    ]
    return clean_text("\n".join(section for section in sections if section))


def iterate_pictures(file: BinaryIO, limits: Limits) -> Iterator[bytes]:
    """Yield the pictures of an ODT file in document order. Raises `ParseFailed`."""
    with open_archive(file, limits, _UNREADABLE) as archive:
        for picture in odf.read_content(archive).iter(_IMAGE):
            path = (picture.get(_LINK) or "").removeprefix("./")
            if path in archive.NameToInfo:
                yield archive.read(path)


def _find_hidden_styles(root: etree._Element | None) -> set[str]:
    """Return the names of the styles whose text is not displayed."""
    return odf.find_styles(root, odf.STYLE + "text-properties", odf.TEXT + "display", "none")


def _extract_parts(
    styles: etree._Element | None, tags: tuple[str, ...], hidden_styles: set[str]
) -> list[str]:
    """Return the text of each displayed element whose tag is in `tags`, without duplicates."""
    parts = () if styles is None else styles.iter(*tags)
    texts = (
        _ElementText(hidden_styles, ListNumbers((styles,))).build_text(part)
        for part in parts
        if part.get(odf.STYLE + "display") != "false"
    )
    return list(dict.fromkeys(texts))


class _ElementText:
    """Collects the text of an element in document order."""

    def __init__(self, hidden_styles: set[str], numbers: ListNumbers) -> None:
        self._hidden_styles = hidden_styles
        self._numbers = numbers
        self._parts: list[str] = []

    def build_text(self, element: etree._Element) -> str:
        """Return the text of the element without line feeds at the start and the end."""
        self._add_blocks(element)
        return "".join(self._parts).strip("\n")

    def _add_blocks(self, element: etree._Element) -> None:
        for child in element:
            if self._is_skipped(child):
                continue
            if child.tag in _PARAGRAPH_TAGS:
                self._add_paragraph(child)
            elif child.tag == odf.TABLE + "table":
                self._add_rows(child)
            elif child.tag == LIST:
                self._add_list(child)
            else:
                self._add_blocks(child)

    def _add_list(self, element: etree._Element) -> None:
        with self._numbers.enter_list(element):
            for item in element:
                self._numbers.enter_item(item)
                self._add_blocks(item)

    def _add_paragraph(self, paragraph: etree._Element) -> None:
        self._parts.append(self._numbers.number_paragraph(paragraph))
        first = len(self._parts)
        self._add_inline(paragraph)
        if not "".join(self._parts[first:]).endswith("\n"):
            self._parts.append("\n")

    def _add_rows(self, table: etree._Element) -> None:
        for row in _iterate_rows(table):
            cells = [
                " ".join(_ElementText(self._hidden_styles, self._numbers).build_text(cell).split())
                if cell.tag == _CELL
                else ""
                for cell in _iterate_cells(row)
            ]
            self._parts += ["\t".join(cells), "\n"]

    def _add_inline(self, element: etree._Element) -> None:
        self._add_characters(element.text)
        for child in element:
            if not self._is_skipped(child):
                self._add_inline_element(child)
            self._add_characters(child.tail)

    def _add_characters(self, text: str | None) -> None:
        """Add text, with each run of white space as one space (ODF 1.3, part 3, 6.1.2)."""
        self._parts.append(_WHITE_SPACE.sub(" ", text or ""))

    def _add_inline_element(self, child: etree._Element) -> None:
        if child.tag == odf.TEXT + "s":
            self._parts.append(" " * odf.read_count(child.get(odf.TEXT + "c", "1"), _MAX_SPACES))
        elif child.tag == odf.TEXT + "tab":
            self._parts.append("\t")
        elif child.tag == odf.TEXT + "line-break":
            self._parts.append("\n")
        elif any(block.tag in _PARAGRAPH_TAGS for block in child.iter()):
            # A note or a text box: its paragraphs are separate lines.
            self._parts.append("\n")
            self._add_blocks(child)
        else:
            self._add_inline(child)

    def _is_skipped(self, element: etree._Element) -> bool:
        if not isinstance(element.tag, str) or element.tag in _SKIPPED_TAGS:
            return True
        # The element is a hidden section or field, or a paragraph that a field hides.
        if element.get(odf.TEXT + "display") == "none" or _is_hidden_by_condition(element):
            return True
        return element.get(odf.TEXT + "style-name") in self._hidden_styles


def _is_hidden_by_condition(element: etree._Element) -> bool:
    """Return whether a condition hides a section or paragraph, according to its stored result."""
    if element.tag in _PARAGRAPH_TAGS:
        fields = element.iter(odf.TEXT + "hidden-paragraph")
        return any(field.get(odf.TEXT + "is-hidden") == "true" for field in fields)
    return bool(element.get(odf.TEXT + "is-hidden") == "true")


def _iterate_rows(table: etree._Element) -> Iterator[etree._Element]:
    """Yield the rows of a table, including rows in groups, but not the rows of nested tables."""
    for child in table:
        if child.tag == odf.TABLE + "table-row":
            yield child
        elif child.tag in (odf.TABLE + "table-header-rows", odf.TABLE + "table-row-group",
                           odf.TABLE + "table-rows"):  # fmt: skip
            yield from _iterate_rows(child)


def _iterate_cells(row: etree._Element) -> Iterator[etree._Element]:
    """Yield the cells of a row, including the covered cells below a cell that spans rows.

    Covered cells beside a cell that spans columns are left out.
    """
    spanned_count = 0  # the number of columns to the right that the last cell also covers
    for cell in row.iterchildren(_CELL, _COVERED_CELL):
        if cell.tag == _CELL:
            spanned_count = read_number(cell.get(odf.TABLE + "number-columns-spanned"), 1) - 1
        elif spanned_count > 0:
            spanned_count -= 1
            continue
        yield cell
