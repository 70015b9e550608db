"""Extract the visible text of HTML with lxml, with blocks on separate lines.

Scripts, styles, the head and hidden elements are omitted; nothing is fetched. The rows of a table
become lines with their cells separated by tabs, including empty cells, as in DOCX. Empty cells are
ignored in tables that only lay out a page, which are common in emails. The items of ordered lists
begin with their number.
"""

import re
from dataclasses import dataclass, field

from lxml import etree  # type: ignore[import-untyped]

from app.engines.documents.model import ParseFailed
from app.engines.documents.readers.html_lists import ItemNumbers
from app.engines.documents.text import decode_text, detect_bom

_OMITTED_TAGS = {
    "script", "style", "head", "template", "noscript", "iframe", "object", "svg", "rt", "rp",
    "annotation", "annotation-xml", "audio", "video", "canvas", "datalist",
}  # fmt: skip
_PARAGRAPH_TAGS = {
    "p", "h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "dl", "table", "pre", "blockquote",
    "hr", "figure", "fieldset",
}  # fmt: skip
_BLOCK_TAGS = _PARAGRAPH_TAGS | {
    "address", "article", "aside", "body", "caption", "center", "dd", "details", "dialog", "dir",
    "div", "dt", "figcaption", "footer", "form", "header", "html", "legend", "li", "main", "nav",
    "option", "search", "section", "summary", "tbody", "tfoot", "thead", "tr",
}  # fmt: skip
_CELL_TAGS = {"td", "th"}
_INPUTS_WITHOUT_TEXT = {
    "checkbox", "color", "file", "hidden", "image", "password", "radio", "range",
}  # fmt: skip
_CELL_BLOCK_TAGS = tuple(_BLOCK_TAGS - {"tbody", "tfoot", "thead", "tr", "caption"})
# Other properties end with the same names, for example `backface-visibility`.
_HIDDEN_STYLE = re.compile(
    r"(?<![\w-])(?:display\s*:\s*none|visibility\s*:\s*hidden)", re.IGNORECASE
)
_META_CHARSET = re.compile(
    rb"<meta[^>]{0,512}?charset\s*=\s*[\"']?\s*([\w:.-]{1,40})", re.IGNORECASE
)
_XML_ENCODING = re.compile(
    rb"\s*<\?xml[^>]{0,512}?encoding\s*=\s*[\"']\s*([\w:.-]{1,40})", re.IGNORECASE
)
_MAX_SPAN = 1_000
_MAX_SPAN_COLUMNS = 100
"""The number of leading table columns in which cells that span rows are tracked."""
_SPACE = re.compile(r"[ \t\n\r\f]+")


def extract_text(data: bytes, charset: str | None = None) -> str:
    """Return the visible text of an HTML document. Raises `ParseFailed` (`unreadable`).

    `charset` is the character set that the enclosing message declares, if any.
    """
    declared_encoding = charset
    if (
        declared_encoding is None
        and detect_bom(data) is None
        and (match := _META_CHARSET.search(data, 0, 4096) or _XML_ENCODING.match(data))
    ):
        declared_encoding = match[1].decode("ascii", "replace")
        if declared_encoding.lower().startswith(("utf-16", "utf-32")):
            # The declaration was readable as ASCII, so it is wrong (WHATWG HTML, 13.2.3.2).
            declared_encoding = "utf-8"
    return extract_visible_text(decode_text(data, declared_encoding))


def extract_visible_text(markup: str) -> str:
    """Return the visible text of decoded HTML. Raises `ParseFailed` (`unreadable`)."""
    parser = etree.HTMLParser(
        encoding="utf-8", remove_comments=True, remove_pis=True, no_network=True, huge_tree=True
    )
    try:
        root = etree.fromstring(markup.encode("utf-8", "replace"), parser)
    except etree.XMLSyntaxError as error:
        raise ParseFailed("unreadable", "The file is not HTML.") from error
    if any(entry.type == etree.ErrorTypes.ERR_RESOURCE_LIMIT for entry in parser.error_log):
        raise ParseFailed("unreadable", "The elements of the file are nested too deeply.")
    if root is None:
        return ""
    visible_text = _VisibleText()
    walker = etree.iterwalk(root, events=("start", "end"))
    for event, element in walker:
        if event == "end":
            visible_text.leave_element(element)
        elif _is_hidden(element):
            walker.skip_subtree()
            visible_text.skip_element(element)
        elif element.tag in ("input", "select"):
            walker.skip_subtree()
            visible_text.skip_element(element, _read_control_text(element))
        else:
            visible_text.enter_element(element)
    return visible_text.build_text()


def _is_hidden(element: etree._Element) -> bool:
    if element.tag in _OMITTED_TAGS or element.get("hidden") is not None:
        return True
    style = element.get("style")
    return style is not None and _HIDDEN_STYLE.search(style) is not None


def _read_control_text(control: etree._Element) -> str:
    """Return the text that a form control shows: its value, or its selected options."""
    if control.tag == "input":
        has_text = control.get("type", "").lower() not in _INPUTS_WITHOUT_TEXT
        return control.get("value", "") if has_text else ""
    options = list(control.iter("option"))
    selection = [option for option in options if option.get("selected") is not None] or options[:1]
    return " ".join("".join(option.itertext()) for option in selection)


def _is_data_table(table: etree._Element) -> bool:
    """Return whether a table contains data, rather than only laying out a page."""
    if table.get("role") in ("presentation", "none"):
        return False
    if next(table.iterdescendants("table"), None) is not None:
        return False
    if next(table.iterdescendants("th"), None) is not None:
        return True
    multi_cell_row_count = sum(len(row.findall("td")) > 1 for row in table.iterdescendants("tr"))
    return (
        multi_cell_row_count > 1
        or next(table.iterdescendants("br", *_CELL_BLOCK_TAGS), None) is None
    )


@dataclass
class _TableState:
    """The state of a table that is being read, with its current row."""

    is_data: bool
    row_start: int  # the number of text parts before the row
    cell_count: int = 0  # the number of cells read so far in the row
    column: int = 0  # the column of the next cell
    # for each column of a cell that spans rows, the number of rows that the cell still spans
    spans: dict[int, int] = field(default_factory=dict)

    def start_row(self, start: int) -> None:
        """Start a new row; `start` is the number of text parts before it."""
        if self.cell_count:  # called at the start and at the end of each row
            self.spans = {
                column: count - (column >= self.column) for column, count in self.spans.items()
            }
        self.row_start, self.cell_count, self.column = start, 0, 0

    def enter_cell(self, cell: etree._Element) -> int:
        """Place a cell; return how many columns before it are filled by cells of earlier rows."""
        first = self.column
        while self.spans.get(self.column, 0) > 0:
            self.spans[self.column] -= 1
            self.column += 1
        skipped_count = self.column - first
        end = min(self.column + _read_span(cell, "colspan"), _MAX_SPAN_COLUMNS)
        if (row_count := _read_span(cell, "rowspan")) > 1:
            self.spans |= dict.fromkeys(range(self.column, end), row_count - 1)
        self.column = max(end, self.column + 1)
        self.cell_count += 1
        return skipped_count


def _read_span(cell: etree._Element, name: str) -> int:
    value = cell.get(name, "").strip()
    is_small = value.isdecimal() and len(value) <= len(str(_MAX_SPAN))
    return max(1, min(int(value), _MAX_SPAN)) if is_small else 1


class _VisibleText:
    """Collects the visible text, and the white space to insert before the next character.

    The cells of a data table are separated by tabs, and line breaks in these cells become spaces.
    """

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._pending_space = ""  # white space to insert before the next visible text
        # the number of tabs to insert after `_pending_space`, between the cells of a data table
        self._pending_tabs = 0
        self._pre_depth = 0
        self._skipped_elements: set[etree._Element] = set()
        self._tables: list[_TableState] = []  # the enclosing tables
        self._cell_depth = 0  # the number of enclosing cells of data tables
        self._item_numbers = ItemNumbers()
        self._pending_number = ""  # the number of a list item to insert before its text

    def enter_element(self, element: etree._Element) -> None:
        """Add the start of an element and its leading text."""
        tag = element.tag
        if tag == "br":
            self._add_line_break("\n", repeat=True)
        elif tag in _BLOCK_TAGS:
            self._add_line_break("\n\n" if tag in _PARAGRAPH_TAGS else "\n")
        if tag == "pre":
            self._pre_depth += 1
        elif tag == "table":
            self._tables.append(_TableState(_is_data_table(element), len(self._parts)))
        elif tag == "tr" and self._tables:
            self._tables[-1].start_row(len(self._parts))
        elif tag in _CELL_TAGS:
            self._enter_cell(element)
        elif tag == "li":
            self._pending_number += self._item_numbers.number_item(element)
        self._add_text(element.text)

    def leave_element(self, element: etree._Element) -> None:
        """Add the end of an element and the text after it."""
        tag = element.tag
        if element in self._skipped_elements:
            self._skipped_elements.discard(element)
        else:
            if tag in _CELL_TAGS and self._is_in_data_table():
                self._cell_depth -= 1
            elif tag in ("tr", "table") and self._tables:
                self._end_row()
            if tag == "table":
                self._tables.pop()
            elif tag == "li":
                self._pending_number = ""
            if tag in _BLOCK_TAGS:
                self._add_line_break("\n\n" if tag in _PARAGRAPH_TAGS else "\n")
                self._pre_depth -= tag == "pre"
        self._add_text(element.tail)

    def skip_element(self, element: etree._Element, text: str = "") -> None:
        """Replace an element with `text` between spaces; `leave_element` adds the text after it."""
        self._add_text(text and f" {text} ")
        self._skipped_elements.add(element)

    def build_text(self) -> str:
        """Return the collected text."""
        return "".join(self._parts)

    def _is_in_data_table(self) -> bool:
        return bool(self._tables) and self._tables[-1].is_data

    def _enter_cell(self, cell: etree._Element) -> None:
        is_first = bool(self._tables) and self._tables[-1].cell_count == 0
        skipped_count = self._tables[-1].enter_cell(cell) if self._tables else 0
        if self._is_in_data_table():
            self._cell_depth += 1
            self._pending_tabs += skipped_count
            if not is_first:
                self._pending_tabs += 1
                if not self._pending_space.startswith("\n"):
                    self._pending_space = ""
        elif not is_first and not self._pending_space.startswith("\n"):
            self._pending_space = "\t"

    def _end_row(self) -> None:
        """Insert the tabs for empty cells at the end of a row, unless all cells are empty."""
        if self._pending_tabs and len(self._parts) > self._tables[-1].row_start:
            self._parts.append("\t" * self._pending_tabs)
            self._pending_space = ""
        self._pending_tabs = 0
        self._tables[-1].start_row(len(self._parts))

    def _add_line_break(self, line_feeds: str, *, repeat: bool = False) -> None:
        """Insert `line_feeds` before the next text; in a cell of a data table, insert a space.

        Line feeds that are already pending are not repeated. If `repeat` is true, `line_feeds` are
        added to the pending line feeds, up to two in total.
        """
        if self._cell_depth:
            self._add_space()
        elif repeat and self._pending_space.startswith("\n"):
            self._pending_space = (self._pending_space + line_feeds)[:2]
        elif not self._pending_space.startswith(line_feeds):
            self._pending_space = line_feeds

    def _add_space(self) -> None:
        if not self._pending_tabs:
            self._pending_space = self._pending_space or " "

    def _add_text(self, text: str | None) -> None:
        if not text:
            return
        if self._pre_depth and not self._cell_depth:
            self._append(text.replace("\r\n", "\n"))
            return
        collapsed_text = _SPACE.sub(" ", text)
        if collapsed_text[0] == " ":
            self._add_space()
        stripped_text = collapsed_text.strip(" ")
        if stripped_text:
            self._append(stripped_text)
            self._pending_space = " " if collapsed_text[-1] == " " else ""

    def _append(self, text: str) -> None:
        if self._parts and self._pending_space:
            self._parts.append(self._pending_space)
        if self._pending_tabs:
            self._parts.append("\t" * self._pending_tabs)
        self._parts.append(self._pending_number + text)
        self._pending_space, self._pending_tabs, self._pending_number = "", 0, ""
