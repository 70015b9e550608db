"""Arrange the words of a document in rows, split glued words, and find segments of rows."""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import median

from app.engines.extraction.model import Box, Document, SourceWord, select_words

_COLUMNS = 84
_SPLITS = (
    # DATE:02/02/17, but neither 12:30 nor http://
    re.compile(r"(?<=[^\W\d_]):(?=[^/\s])|(?<=\D):(?=\d)|(?<=[)\]]):(?=\w)"),
    # Keep a sign of currency apart from its amount on either side.
    re.compile(r"(?<![^\W\d_])(?:RM|Rs|EUR|USD|GBP|CHF|[$€£¥₹])\.?(?=[\d-])", re.IGNORECASE),
    re.compile(r"(?<=\d)(?=(?:RM|EUR|USD|GBP|CHF|[$€£¥₹])$)", re.IGNORECASE),
    # DATE02/02/17
    re.compile(r"(?<=[^\W\d_])(?=\d{1,2}[/.-]\d{1,2}[/.-]\d{2,4})"),
)


@dataclass(slots=True)
class Token:
    """A word or a part of one; `compact` has only its letters and digits, in lower case."""

    text: str
    compact: str
    page: int
    box: Box
    start: int
    end: int
    row: int = 0
    segment: int = 0


@dataclass(slots=True)
class Segment:
    """Neighboring tokens of one row without a wide gap: indexes from `first` to `last`."""

    row: int
    page: int
    first: int
    last: int
    box: Box


@dataclass(slots=True)
class Layout:
    """The tokens of a document in reading order, with rows and segments of token indexes."""

    tokens: list[Token]
    rows: list[tuple[int, int]] = field(default_factory=list)
    segments: list[Segment] = field(default_factory=list)
    height: float = 0.01
    char_width: float = 0.01

    def join(self, first: int, last: int) -> str:
        """Return the text of tokens `first` to `last`, with a space between words."""
        parts = [self.tokens[first].text]
        for left, right in pairwise(self.tokens[first : last + 1]):
            if left.end != right.start:
                parts.append(" ")
            parts.append(right.text)
        return "".join(parts)


def build_layout(document: Document) -> Layout:
    """Return the tokens of the document in rows; the order of its words does not matter."""
    words = select_words(document.words)
    placed = _place_words(document, [word for word in words if word.text.strip()])
    layout = Layout([])
    if not placed:
        return layout
    layout.height = median(word.box[3] - word.box[1] for word in placed if word.box) or 0.01
    layout.char_width = (
        median((word.box[2] - word.box[0]) / len(word.text) for word in placed if word.box) or 0.01
    )
    for number, row in enumerate(_group_rows(placed)):
        first = len(layout.tokens)
        for word in row:
            layout.tokens.extend(_split_word(word, number))
        layout.rows.append((first, len(layout.tokens) - 1))
        _add_segments(layout, number)
    return layout


def compact(text: str) -> str:
    """Return the letters and digits of `text` in lower case without accents."""
    lowered = text.casefold()
    if not lowered.isascii():
        spread = unicodedata.normalize("NFKD", lowered)
        lowered = "".join(char for char in spread if not unicodedata.combining(char))
    return "".join(char for char in lowered if char.isalnum())


def _place_words(document: Document, words: Sequence[SourceWord]) -> list[SourceWord]:
    """Assign boxes to words without one, as if the text was printed in a fixed-width grid."""
    if all(word.box is not None for word in words):
        return list(words)
    lines = document.text.count("\n") + 1
    placed = []
    line, seen = 0, 0
    for word in words:
        if word.box is not None:
            placed.append(word)
            continue
        line += document.text.count("\n", seen, word.start)
        seen = word.start
        left = (word.start - (document.text.rfind("\n", 0, word.start) + 1)) / _COLUMNS
        right = left + (word.end - word.start) / _COLUMNS
        box = (min(left, 0.99), line / lines, min(right, 1.0), (line + 0.9) / lines)
        placed.append(word._replace(box=box))
    return placed


def _group_rows(words: Iterable[SourceWord]) -> list[list[SourceWord]]:
    """Group words whose vertical centers are closer than half of a line, top to bottom."""
    rows: list[list[SourceWord]] = []
    page, center, height = 0, 0.0, 0.0
    for word in sorted(words, key=_get_center):
        _, y0, _, y1 = word.box or (0, 0, 0, 0)
        middle, tall = (y0 + y1) / 2, y1 - y0
        if rows and word.page == page and middle - center < 0.5 * min(height, tall):
            rows[-1].append(word)
            # The center follows the row, so that tilted rows stay together.
            center += (middle - center) / len(rows[-1])
            height += (tall - height) / len(rows[-1])
        else:
            rows.append([word])
            page, center, height = word.page, middle, tall
    return [sorted(row, key=lambda word: (word.box or (0,), word.start)) for row in rows]


def _get_center(word: SourceWord) -> tuple[int, float, float, int]:
    x0, y0, _, y1 = word.box or (0, 0, 0, 0)
    return word.page, (y0 + y1) / 2, x0, word.start


def _split_word(word: SourceWord, row: int) -> list[Token]:
    text = word.text
    cuts = {0, len(text)}
    if len(text) > 2:  # noqa: PLR2004 - nothing to split in two characters
        for pattern in _SPLITS:
            cuts.update(match.end() for match in pattern.finditer(text))
    places = sorted(cuts)
    x0, y0, x1, y1 = word.box or (0.0, 0.0, 1.0, 1.0)
    step = (x1 - x0) / len(text)
    exact = word.end - word.start == len(text)
    tokens = []
    for left, right in pairwise(places):
        start, end = word.start + left, word.start + right
        if not exact:
            start, end = word.start, word.end
        box = (x0 + left * step, y0, x0 + right * step, y1)
        part = text[left:right]
        tokens.append(Token(part, compact(part), word.page, box, start, end, row))
    return tokens


def _add_segments(layout: Layout, row: int) -> None:
    first, last = layout.rows[row]
    begin = first
    for index in range(first, last + 1):
        token = layout.tokens[index]
        token.segment = len(layout.segments)
        gap = layout.tokens[index + 1].box[0] - token.box[2] if index < last else 1.0
        if index == last or gap > 2.5 * layout.char_width:
            layout.segments.append(_build_segment(layout, row, begin, index))
            begin = index + 1


def _build_segment(layout: Layout, row: int, first: int, last: int) -> Segment:
    boxes = [token.box for token in layout.tokens[first : last + 1]]
    box = (
        min(b[0] for b in boxes),
        min(b[1] for b in boxes),
        max(b[2] for b in boxes),
        max(b[3] for b in boxes),
    )
    return Segment(row, layout.tokens[first].page, first, last, box)
