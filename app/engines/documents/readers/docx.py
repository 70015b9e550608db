"""Read DOCX with python-docx: headers, body with tables in document order, notes, footers.

Paragraphs end with a line feed. The cells of a table row are separated by tabs, the paragraphs in a
cell by spaces. Hidden text, deleted (tracked) text and field codes are omitted; text boxes, content
controls, inserted text and embedded files are included. Equations are written on one line.
Checkboxes become symbols, whether they are content controls, form fields or characters of a symbol
font.
"""

import re
from collections.abc import Collection, Iterable, Mapping
from io import BytesIO
from typing import BinaryIO

import docx
from docx.document import Document
from docx.opc.constants import CONTENT_TYPE, RELATIONSHIP_TYPE
from docx.opc.exceptions import OpcError
from docx.opc.part import Part, XmlPart
from docx.oxml import parse_xml
from lxml import etree  # type: ignore[import-untyped]

from app.engines.documents.model import Limits, ParseFailed
from app.engines.documents.readers import docx_symbols
from app.engines.documents.readers.archives import check_archive
from app.engines.documents.readers.docx_chunks import read_chunks
from app.engines.documents.readers.docx_fields import WordFields
from app.engines.documents.readers.docx_hidden import HiddenStyles, is_row_hidden
from app.engines.documents.readers.docx_numbering import Numbering
from app.engines.documents.readers.docx_styles import WORD_NAMESPACE as _WORD
from app.engines.documents.readers.docx_styles import Styles, get_on_off_value, is_on
from app.engines.documents.readers.equations import EQUATION, format_equation
from app.engines.documents.text import clean_text

_MAX_SYMBOL_CODE = 0xFFFF
_WORD_2010 = "{http://schemas.microsoft.com/office/word/2010/wordml}"
_FALLBACK = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"
_SKIPPED_TAGS = {
    _FALLBACK,
    *(_WORD + name for name in ("pPr", "rPr", "tblPr", "tcPr", "trPr", "del", "moveFrom")),
    _WORD + "rt",  # the pronunciation above East Asian characters
}
_CHARACTER_ELEMENTS = {
    _WORD + "tab": "\t",
    _WORD + "ptab": "\t",
    _WORD + "br": "\n",
    _WORD + "cr": "\n",
    _WORD + "noBreakHyphen": "-",
}
_RELATION_ID = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
_HEADER_AND_FOOTER = {RELATIONSHIP_TYPE.HEADER, RELATIONSHIP_TYPE.FOOTER}
_PARTS_BEFORE_BODY = (RELATIONSHIP_TYPE.HEADER,)
_PARTS_AFTER_BODY = (
    RELATIONSHIP_TYPE.FOOTNOTES,
    RELATIONSHIP_TYPE.ENDNOTES,
    RELATIONSHIP_TYPE.FOOTER,
)


def extract_text(file: BinaryIO, limits: Limits) -> str:
    """Return the visible text of a DOCX file. Raises `ParseFailed`."""
    document = open_document(file, limits)
    part = document.part
    styles = Styles(_find_root(part, RELATIONSHIP_TYPE.STYLES))
    numbering = Numbering(_find_root(part, RELATIONSHIP_TYPE.NUMBERING), styles)
    hidden_styles = HiddenStyles(styles)
    chunks = read_chunks(part, lambda data: extract_text(BytesIO(data), limits))
    sections = [
        *_extract_related_text(part, _PARTS_BEFORE_BODY, hidden_styles, numbering),
        _PartText(part.element, hidden_styles, numbering, chunks).build_text(),
        *_extract_related_text(part, _PARTS_AFTER_BODY, hidden_styles, numbering),
    ]
    return clean_text("\n".join(section for section in sections if section))


def _find_root(part: Part, relation_type: str) -> etree._Element | None:
    """Return the root element of a related part, or None if the document has no such part."""
    related_part = next(iter(find_related_parts(part, (relation_type,))), None)
    return related_part.element if isinstance(related_part, XmlPart) else None


def open_document(file: BinaryIO, limits: Limits) -> Document:
    """Check the unpacked size of a file, and open it with python-docx. Raises `ParseFailed`."""
    check_archive(
        file,
        limits,
        damaged_message="The file is damaged or not a Word document.",
        older_format_message="The file has an older Word format; save it as DOCX.",
    )
    file.seek(0)
    try:
        document = docx.Document(file)
    except (OpcError, KeyError, ValueError, etree.XMLSyntaxError) as error:
        raise ParseFailed("unreadable", "The file is not a Word document.") from error
    if document.part.content_type != CONTENT_TYPE.WML_DOCUMENT_MAIN:
        raise ParseFailed("unreadable", "The file is not a Word document.")
    return document


def _extract_related_text(
    part: Part, relation_types: Iterable[str], hidden_styles: HiddenStyles, numbering: Numbering
) -> list[str]:
    """Return the text of each related part, sorted by type and part name, without duplicates."""
    part_texts: dict[str, None] = {}
    for relation_type in relation_types:
        parts = find_related_parts(part, (relation_type,))
        for target in sorted(parts, key=lambda part: _get_natural_sort_key(str(part.partname))):
            text = _PartText(parse_xml(target.blob), hidden_styles, numbering).build_text()
            part_texts.setdefault(text)
    return list(part_texts)


def find_related_parts(part: Part, relation_types: Collection[str]) -> list[Part]:
    """Return the parts to which `part` refers by internal relations of the types `relation_types`.

    Headers and footers that no page displays are left out.
    """
    relations = [
        relation
        for relation in part.rels.values()
        if relation.reltype in relation_types and not relation.is_external
    ]
    if _HEADER_AND_FOOTER.isdisjoint(relation_types):
        return [relation.target_part for relation in relations]
    displayed_ids = _find_displayed_ids(part)
    return [
        relation.target_part
        for relation in relations
        if relation.reltype not in _HEADER_AND_FOOTER or relation.rId in displayed_ids
    ]


def _find_displayed_ids(part: Part) -> set[str]:
    """Return the relation ids of the headers and footers that pages display.

    If the headers and footers of the first page or of even pages are turned off, Word keeps them in
    the file.
    """
    if not isinstance(part, XmlPart):
        return set()
    sections = list(part.element.iter(_WORD + "sectPr"))
    settings = _find_root(part, RELATIONSHIP_TYPE.SETTINGS)
    page_types = {
        "default",
        "first" if any(get_on_off_value(section, "titlePg") for section in sections) else "",
        "even" if get_on_off_value(settings, "evenAndOddHeaders") else "",
    }
    return {
        reference.get(_RELATION_ID)
        for section in sections
        for reference in section.iterchildren(_WORD + "headerReference", _WORD + "footerReference")
        if reference.get(_WORD + "type", "default") in page_types
    }


def _get_natural_sort_key(name: str) -> list[str]:
    return [part.zfill(9) for part in re.split(r"(\d+)", name)]


class _PartText:
    """Collects the text of one part of the DOCX file in document order."""

    def __init__(
        self,
        root: etree._Element,
        hidden_styles: HiddenStyles,
        numbering: Numbering,
        chunks: Mapping[str, str] | None = None,
    ) -> None:
        self._chunks = chunks or {}
        self._pieces: list[str] = []
        self._hidden_styles = hidden_styles
        self._numbering = numbering
        self._fields = WordFields(root)
        numbering.start_part()
        self._cell_depth = 0  # the number of enclosing table cells
        self._hidden_flags: list[bool] = []  # for each enclosing paragraph, whether it is hidden
        # for each enclosing content control: its start in `_pieces`, and its checkbox symbol
        self._controls: list[tuple[int, str]] = []
        walker = etree.iterwalk(root, events=("start", "end"))
        for event, element in walker:
            if self._is_skipped(element):
                if event == "start":
                    walker.skip_subtree()
            elif element.tag == EQUATION:
                if event == "start":
                    self._pieces.append(format_equation(element))
                    walker.skip_subtree()
            elif event == "start":
                self._enter_element(element)
            else:
                self._leave_element(element.tag)

    def build_text(self) -> str:
        """Return the collected text."""
        return "".join(self._pieces).strip("\n")

    def _is_skipped(self, element: etree._Element) -> bool:
        tag = element.tag
        if tag == _WORD + "r":
            in_hidden_paragraph = bool(self._hidden_flags) and self._hidden_flags[-1]
            return self._hidden_styles.is_run_hidden(
                element, in_hidden_paragraph=in_hidden_paragraph
            )
        if tag == _WORD + "t":
            return element in self._fields.codes
        return tag in _SKIPPED_TAGS or (tag == _WORD + "tr" and is_row_hidden(element))

    def _enter_element(self, element: etree._Element) -> None:
        tag = element.tag
        if tag == _WORD + "t":
            font = _get_font(element.getparent())
            text = element.text or ""
            is_symbol = docx_symbols.is_symbol_font(font)
            self._pieces.append(docx_symbols.decode_symbols(text, font) if is_symbol else text)
        elif tag in _CHARACTER_ELEMENTS:
            character = _CHARACTER_ELEMENTS[tag]
            self._pieces.append(" " if self._cell_depth and character.isspace() else character)
        elif tag == _WORD + "p":
            self._enter_paragraph(element)
        elif tag == _WORD + "txbxContent":
            self._separate_text_box()
        elif tag == _WORD + "tc":
            self._cell_depth += 1
        elif tag == _WORD + "sym":
            self._pieces.append(_get_symbol(element))
        elif tag == _WORD + "fldChar":
            self._pieces.append(self._fields.form_values.get(element, ""))
        elif tag == _WORD + "altChunk":
            self._add_chunk(self._chunks.get(element.get(_RELATION_ID), ""))
        elif tag == _WORD + "sdt":
            self._controls.append((len(self._pieces), _get_checkbox_symbol(element)))

    def _enter_paragraph(self, paragraph: etree._Element) -> None:
        is_hidden = self._hidden_styles.is_paragraph_hidden(paragraph)
        self._hidden_flags.append(is_hidden)
        if not is_hidden and (number := self._numbering.number_paragraph(paragraph)):
            self._pieces.append(number)

    def _leave_element(self, tag: str) -> None:
        if tag == _WORD + "p":
            self._hidden_flags.pop()
            self._pieces.append(" " if self._cell_depth else "\n")
        elif tag == _WORD + "tc":
            self._cell_depth -= 1
            self._remove_trailing(" ")
            self._pieces.append(" " if self._cell_depth else "\t")
        elif tag == _WORD + "tr" and not self._cell_depth:
            self._remove_trailing("\t")
            self._pieces.append("\n")
        elif tag == _WORD + "sdt":
            start, checkbox = self._controls.pop()
            if checkbox and not "".join(self._pieces[start:]).strip():
                self._pieces.insert(start, checkbox)

    def _add_chunk(self, text: str) -> None:
        self._pieces.append(" ".join(text.split()) + " " if self._cell_depth else text + "\n")

    def _separate_text_box(self) -> None:
        """Separate a text box from the text before it in the paragraph that anchors it."""
        if self._pieces and not self._pieces[-1].endswith(("\n", "\t", " ")):
            self._pieces.append(" " if self._cell_depth else "\n")

    def _remove_trailing(self, separator: str) -> None:
        if self._pieces and self._pieces[-1] == separator:
            self._pieces.pop()


def _get_font(run: etree._Element) -> str | None:
    """Return the font that a run specifies directly, or None."""
    properties = run.find(_WORD + "rPr")
    fonts = None if properties is None else properties.find(_WORD + "rFonts")
    name: str | None = None if fonts is None else fonts.get(_WORD + "ascii")
    return name


def _get_symbol(element: etree._Element) -> str:
    """Return the character of a `sym` element, or "" if its code is invalid."""
    try:
        code = int(element.get(_WORD + "char") or "", 16)
    except ValueError:
        return ""
    font = element.get(_WORD + "font")
    return docx_symbols.get_symbol(code, font) if 0 < code <= _MAX_SYMBOL_CODE else ""


def _get_checkbox_symbol(control: etree._Element) -> str:
    """Return the symbol of a checkbox content control, or "" for other content controls."""
    box = control.find(f"{_WORD}sdtPr/{_WORD_2010}checkbox")
    if box is None:
        return ""
    checked = box.find(_WORD_2010 + "checked")
    value = "0" if checked is None else checked.get(_WORD_2010 + "val", "1")
    return docx_symbols.TICKED_BOX if is_on(value) else docx_symbols.EMPTY_BOX
