"""Arrange a document's words in rows, split joined words, and divide rows into segments."""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import median

from app.engines.extraction.model import Box, Document, SourceWord, enclose_boxes, select_words
from app.engines.extraction.patterns import CURRENCY
from app.engines.normalization import normalize

_GRID_COLUMNS = 84  # the number of characters in a line, for words without a box
_MAX_WORD_CHARS = 500
"""The maximum length of a word. Longer words are ignored, because they contain no value, and the
time to search them grows with the square of their length."""

_SPLIT_PATTERNS = (
    # Split DATE:02/02/17 after the colon, but neither 12:30 nor http://
    re.compile(r"(?<=[^\W\d_]):(?=[^/\s])|(?<=\D):(?=\d)|(?<=[)\]]):(?=\w)"),
    # Split a currency sign from the amount after it or before it.
    re.compile(rf"(?<![^\W\d_]){CURRENCY}\.?(?=[\d-])", re.IGNORECASE),
    re.compile(rf"(?<=\d)(?={CURRENCY}\)?$)", re.IGNORECASE),
    # Split DATE02/02/17 before the digits.
    re.compile(r"(?<=[^\W\d_])(?=\d{1,2}[/.-]\d{1,2}[/.-]\d{2,4})"),
)


@dataclass(slots=True)
class Token:
    """A word or a part of a word.

    `compact` is the result of `compact_text` for `text`. `start` and `end` are code point offsets
    into the document's text. `row` and `segment` are indexes in the lists of `Layout`.
    """

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
    """Consecutive tokens in one row without a wide gap, from index `first` to index `last`."""

    row: int
    page: int
    first: int
    last: int
    box: Box


@dataclass(slots=True)
class Layout:
    """A document's tokens in reading order, and its rows and segments as token indexes.

    `word_height` is the median height of the words, and `char_width` the median width of a
    character, both as fractions of the page size.
    """

    tokens: list[Token]
    rows: list[tuple[int, int]] = field(default_factory=list)
    segments: list[Segment] = field(default_factory=list)
    word_height: float = 0.01
    char_width: float = 0.01

    def join(self, first: int, last: int) -> str:
        """Return the text of the tokens from `first` to `last`, with a space between words."""
        parts = [self.tokens[first].text]
        for left, right in pairwise(self.tokens[first : last + 1]):
            if left.end != right.start:
                parts.append(" ")
            parts.append(right.text)
        return "".join(parts)


def build_layout(document: Document) -> Layout:
    """Split a document's words into tokens, and group the tokens into rows and segments.

    Words that `select_words` leaves out, and words that are too long, are ignored.
    """
    words = select_words(document.words)
    placed_words = _place_words(
        document,
        [word for word in words if word.text.strip() and len(word.text) <= _MAX_WORD_CHARS],
    )
    layout = Layout([])
    if not placed_words:
        return layout
    boxed_words = [(word.box, len(word.text)) for word in placed_words if word.box]
    layout.word_height = median(box[3] - box[1] for box, _ in boxed_words) or 0.01
    layout.char_width = median((box[2] - box[0]) / length for box, length in boxed_words) or 0.01
    for number, row in enumerate(_group_rows(placed_words)):
        first = len(layout.tokens)
        for word in row:
            layout.tokens.extend(_split_word(word, number))
        layout.rows.append((first, len(layout.tokens) - 1))
        _add_segments(layout, number)
    return layout


def compact_text(text: str) -> str:
    """Return the letters and digits of `text` in lower case without accents."""
    lowered = text.casefold()
    if not lowered.isascii():
        decomposed = normalize("NFKD", lowered)
        lowered = "".join(char for char in decomposed if not unicodedata.combining(char))
    return "".join(char for char in lowered if char.isalnum())


def _place_words(document: Document, words: Sequence[SourceWord]) -> list[SourceWord]:
    """Assign boxes to words without a box, as if the text were printed in a fixed-width font."""
    if all(word.box is not None for word in words):
        return list(words)
    line_count = document.text.count("\n") + 1
    placed_words = []
    line_index, counted_until = 0, 0
    for word in words:
        if word.box is not None:
            placed_words.append(word)
            continue
        line_index += document.text.count("\n", counted_until, word.start)
        counted_until = word.start
        left = (word.start - (document.text.rfind("\n", 0, word.start) + 1)) / _GRID_COLUMNS
        right = left + (word.end - word.start) / _GRID_COLUMNS
        box = (
            min(left, 0.99),
            line_index / line_count,
            min(right, 1.0),
            (line_index + 0.9) / line_count,
        )
        placed_words.append(word._replace(box=box))
    return placed_words


def _group_rows(words: Iterable[SourceWord]) -> list[list[SourceWord]]:
    """Group words into rows, from top to bottom, by the vertical distance between their centers."""
    rows: list[list[SourceWord]] = []
    page, center, height = 0, 0.0, 0.0
    for word in sorted(words, key=_get_sort_key):
        _, y0, _, y1 = word.box or (0, 0, 0, 0)
        word_center, word_height = (y0 + y1) / 2, y1 - y0
        if rows and word.page == page and word_center - center < 0.5 * min(height, word_height):
            rows[-1].append(word)
            # The center follows the row, so that tilted rows stay together.
            center += (word_center - center) / len(rows[-1])
            height += (word_height - height) / len(rows[-1])
        else:
            rows.append([word])
            page, center, height = word.page, word_center, word_height
    return [sorted(row, key=lambda word: (word.box or (0,), word.start)) for row in rows]


def _get_sort_key(word: SourceWord) -> tuple[int, float, float, int]:
    x0, y0, _, y1 = word.box or (0, 0, 0, 0)
    return word.page, (y0 + y1) / 2, x0, word.start


def _split_word(word: SourceWord, row: int) -> list[Token]:
    text = word.text
    cuts = {0, len(text)}
    if len(text) > 2:  # noqa: PLR2004 - nothing to split in two characters
        for pattern in _SPLIT_PATTERNS:
            cuts.update(match.end() for match in pattern.finditer(text))
    offsets = sorted(cuts)
    x0, y0, x1, y1 = word.box or (0.0, 0.0, 1.0, 1.0)
    char_width = (x1 - x0) / len(text)
    has_exact_offsets = word.end - word.start == len(text)
    tokens = []
    for left, right in pairwise(offsets):
        start, end = word.start + left, word.start + right
        if not has_exact_offsets:
            start, end = word.start, word.end
        box = (x0 + left * char_width, y0, x0 + right * char_width, y1)
        part = text[left:right]
        tokens.append(Token(part, compact_text(part), word.page, box, start, end, row))
    return tokens


def _add_segments(layout: Layout, row: int) -> None:
    first, last = layout.rows[row]
    segment_start = first
    for index in range(first, last + 1):
        token = layout.tokens[index]
        token.segment = len(layout.segments)
        gap = layout.tokens[index + 1].box[0] - token.box[2] if index < last else 1.0
        if index == last or gap > 2.5 * layout.char_width:
            layout.segments.append(_build_segment(layout, row, segment_start, index))
            segment_start = index + 1


def _build_segment(layout: Layout, row: int, first: int, last: int) -> Segment:
    box = enclose_boxes([token.box for token in layout.tokens[first : last + 1]])
    return Segment(row, layout.tokens[first].page, first, last, box)
