"""Lay out the text of documents without pages on virtual pages: a fixed grid on A4.

Email, HTML, DOCX and plain text have no pages, but regions and page images need them. Their text is
therefore laid out deterministically on A4 (595 x 842 points) in 84 columns and 58 rows of a
monospaced font. East Asian wide characters take two columns, combining and invisible characters
none, and a tab advances to the next multiple of eight. A full row ends at white space, or at its
edge if there is no white space or if a Han or kana character is next to the edge. A form feed ends
the page. A row whose first letter is Hebrew or Arabic runs from right to left.

The spans of the pages cover the whole text without gaps, so the joined texts of all pages are the
whole text. A word never spans rows; a word longer than a row becomes one word per row.
"""

import functools
import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate

from app.engines.documents.model import (
    DEFAULT_LIMITS,
    Box,
    Limits,
    Page,
    ParsedDocument,
    ParseFailed,
    Word,
)
from app.engines.documents.text import UNSPACED_CHARS, WORD_PATTERN, replace_unstorable_chars

PAGE_WIDTH, PAGE_HEIGHT = 595.0, 842.0
COLUMNS, ROWS = 84, 58
CELL_WIDTH, LINE_HEIGHT = 6.0, 13.0
LEFT_MARGIN = (PAGE_WIDTH - COLUMNS * CELL_WIDTH) / 2
TOP_MARGIN = (PAGE_HEIGHT - ROWS * LINE_HEIGHT) / 2
TAB_COLUMNS = 8
# The maximum number of code points per row, including code points without width.
_MAX_ROW_CHARS = 4 * COLUMNS

_COLUMN_EDGES = [
    round((LEFT_MARGIN + column * CELL_WIDTH) / PAGE_WIDTH, 5) for column in range(COLUMNS + 1)
]
_ROW_EDGES = [round((TOP_MARGIN + row * LINE_HEIGHT) / PAGE_HEIGHT, 5) for row in range(ROWS + 1)]
_UNSPACED_CHAR = re.compile(f"[{UNSPACED_CHARS}]")
_RIGHT_TO_LEFT = "\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc"
_RTL_ROW = re.compile(rf"(?:[^\w{_RIGHT_TO_LEFT}]|[\d_])*[{_RIGHT_TO_LEFT}]")

TextSpan = tuple[int, int]


@functools.cache
def count_columns(char: str) -> int:
    """Return the number of columns that a character other than a tab occupies: 0, 1 or 2."""
    if unicodedata.east_asian_width(char) in "WF":
        return 2
    is_invisible = unicodedata.category(char) in ("Mn", "Me", "Cf") and char != "\u00ad"
    return 0 if is_invisible else 1


@dataclass(frozen=True, slots=True)
class VirtualPage:
    """One virtual page: the span of text offsets that it covers, and the span of each row."""

    start: int
    end: int
    rows: list[TextSpan]


def parse_text(text: str, limits: Limits = DEFAULT_LIMITS) -> ParsedDocument:
    """Lay out plain text on virtual pages and detect its language, in the calling process.

    The words of a page are computed on first use. Each character that the database cannot store is
    replaced with one character (see `replace_unstorable_chars`), so all offsets stay the same.
    Raises `ParseFailed` (`empty_document`, `too_large_unpacked`, `too_many_pages`).
    """
    from app.engines.documents.language import detect_language  # noqa: PLC0415 - on first use only

    text = check_text_limits(replace_unstorable_chars(text), limits)
    return ParsedDocument(text, list(lay_out_pages(text, limits)), detect_language(text))


def check_text_limits(text: str, limits: Limits) -> str:
    """Return `text` unchanged, or raise `ParseFailed` if it is blank or too long."""
    if len(text) > limits.max_text_chars:
        message = f"The text is longer than {limits.max_text_chars} characters."
        raise ParseFailed("too_large_unpacked", message)
    if not text or text.isspace():
        raise ParseFailed("empty_document", "The document has no text.")
    return text


def lay_out_pages(text: str, limits: Limits) -> Iterator[Page]:
    """Lay out `text` on virtual pages, and yield them as `Page` objects.

    Raises `ParseFailed` (`too_many_pages`) if the text fills more than `limits.max_pages` pages.
    """
    for number, virtual_page in enumerate(paginate(text), start=1):
        if number > limits.max_pages:
            message = f"The text fills more than {limits.max_pages} pages."
            raise ParseFailed("too_many_pages", message)

        yield Page(
            number=number,
            width=PAGE_WIDTH,
            height=PAGE_HEIGHT,
            rotation=0,
            start=virtual_page.start,
            text=text[virtual_page.start : virtual_page.end],
            has_text_layer=True,
            build_words=functools.partial(build_virtual_page_words, text, virtual_page),
        )


def paginate(text: str) -> Iterator[VirtualPage]:
    """Yield the virtual pages of `text`; together, the pages cover the text without gaps."""
    start = position = 0
    rows: list[TextSpan] = []
    for line in text.splitlines(keepends=True):
        for row_start, row_end in _wrap_line(line):
            if len(rows) == ROWS:
                yield VirtualPage(start, position + row_start, rows)
                start, rows = position + row_start, []
            rows.append((position + row_start, position + row_end))
        position += len(line)
        if line.endswith("\f"):
            yield VirtualPage(start, position, rows)
            start, rows = position, []
    if rows:
        yield VirtualPage(start, position, rows)


def build_virtual_page_words(text: str, virtual_page: VirtualPage) -> list[Word]:
    """Return the words of one virtual page of `text`, row by row.

    Box coordinates are between 0 and 1. The offsets are positions in `text`.
    """
    words: list[Word] = []
    for index, (start, end) in enumerate(virtual_page.rows):
        if start == end:
            continue
        row = text[start:end]
        columns = range(len(row) + 1) if _is_plain(row) else _compute_column_edges(row)
        is_right_to_left = not row.isascii() and _RTL_ROW.match(row) is not None
        top, bottom = _ROW_EDGES[index], _ROW_EDGES[index + 1]
        for match in WORD_PATTERN.finditer(row):
            first, last = match.span()
            x0, x1 = _COLUMN_EDGES[columns[first]], _COLUMN_EDGES[columns[last]]
            if is_right_to_left:
                x0, x1 = round(1 - x1, 5), round(1 - x0, 5)
            box: Box = (x0, top, x1, bottom)
            words.append(Word(match.group(), box, start + first, start + last))
    return words


def _wrap_line(line: str) -> Iterator[TextSpan]:
    """Wrap a line into one or more rows; yield their spans without trailing white space."""
    line = line.rstrip()
    length = len(line)
    is_plain = _is_plain(line)
    if is_plain and length <= COLUMNS:
        yield 0, length
        return
    start = 0
    while True:
        chunk = line[start : start + _MAX_ROW_CHARS]
        fitting_count = COLUMNS if is_plain else _count_fitting_chars(chunk)
        if start + fitting_count >= length:
            yield start, length
            return
        row_end = _find_row_end(chunk, fitting_count)
        yield start, start + len(chunk[:row_end].rstrip())
        start += row_end
        while line[start].isspace():  # stops, because the line does not end with white space
            start += 1


def _find_row_end(chunk: str, max_chars: int) -> int:
    """Return the offset in `chunk` at which the next row ends; it is at most `max_chars`."""
    if (
        max_chars == len(chunk)
        or _UNSPACED_CHAR.match(chunk, max_chars)
        or _UNSPACED_CHAR.match(chunk, max_chars - 1)
    ):
        return max_chars
    if chunk[max_chars].isspace():
        return max_chars
    parts = chunk[:max_chars].rsplit(None, 1)
    if chunk[max_chars - 1].isspace() or len(parts) < 2:  # noqa: PLR2004 - one word fills the row
        return max_chars
    return max_chars - len(parts[1])


def _is_plain(text: str) -> bool:
    """Return whether `text` is ASCII without tabs, so that each character takes one column."""
    return text.isascii() and "\t" not in text


def _count_fitting_chars(chunk: str) -> int:
    """Return the number of characters of `chunk` that fit into one row, at least one."""
    return max(1, bisect_right(_compute_column_edges(chunk), COLUMNS) - 1)


def _compute_column_edges(row: str) -> list[int]:
    """Return the column at which each character of the row begins, and the row's end column."""
    if "\t" not in row:
        return list(accumulate(map(count_columns, row), initial=0))
    columns, column = [0], 0
    for char in row:
        column += TAB_COLUMNS - column % TAB_COLUMNS if char == "\t" else count_columns(char)
        columns.append(column)
    return columns
