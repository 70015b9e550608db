"""Compose the text of a PDF page in reading order, with the positions of its words."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate, groupby
from operator import add
from typing import NamedTuple

from app.engines.documents.frames import BOX_UNITS
from app.engines.documents.readers import right_to_left
from app.engines.documents.readers.pages import PageWords
from app.engines.documents.readers.pdf_words import OBLIQUE, rotate_box
from app.engines.documents.readers.reading_order import sort_into_rows
from app.engines.documents.readers.segments import Box, Glyph, Line, Token, build_tokens
from app.engines.documents.text import UNSPACED_CHARS, normalize_text

_IDEOGRAPH = re.compile(f"[{UNSPACED_CHARS}]")
# The maximum gap between two parts of a word, and their maximum overlap, in line heights.
_MAX_TOUCHING_GAP, _MAX_OVERLAP = 0.08, 0.3
# The widest gap next to an ideograph that does not count as white space, in line heights.
_MAX_IDEOGRAPH_GAP = 0.5
# The margin in points for the smoothing around a glyph.
_MARGIN = 0.5
_SPACE = Glyph(" ", (0.0, 0.0, 0.0, 0.0))

# A word of a row, and whether white space precedes it.
_RowWord = tuple[Token, bool]


class PageText(NamedTuple):
    """The text of a page with line feeds between its rows, and its words in the same order."""

    text: str
    words: PageWords


def compose_text(
    words_by_direction: Mapping[int, Sequence[Token | Line]], width: float, height: float
) -> PageText:
    """Return the text and the words of a page in reading order, upright text first.

    Args:
        words_by_direction: The words by writing direction; see `pdf_words.read_words`.
        width: The displayed width of the page, in points.
        height: The displayed height of the page, in points.
    """
    composer = _PageTextComposer(width, height)
    is_rtl_page = right_to_left.is_right_to_left(
        word.text for words in words_by_direction.values() for word in words
    )
    for direction in sorted(words_by_direction, key=lambda key: (key == OBLIQUE, key)):
        words = words_by_direction[direction]
        if direction == OBLIQUE:
            composer.append_row(_form_words(build_tokens(words), is_rtl_page=is_rtl_page), 0)
            continue
        for row in sort_into_rows(words, right_to_left=is_rtl_page):
            line = row[0].line
            if len(row) == 1 and line is not None and direction == 0:
                composer.append_line(line)
            else:
                tokens = [token for segment in row for token in segment.tokens]
                composer.append_row(_form_words(tokens, is_rtl_page=is_rtl_page), direction)
    return composer.build_page_text()


class _PageTextComposer:
    """Composes the text of a page of `width` x `height` points row by row."""

    def __init__(self, width: float, height: float) -> None:
        self._size = width, height
        self._rows: list[str] = []
        self._start = 0
        self._words = PageWords()

    def append_line(self, line: Line) -> None:
        """Append an upright row that consists of one line."""
        words = self._words
        lengths = list(map(len, line.words))
        starts = list(accumulate((length + 1 for length in lengths[:-1]), initial=self._start))
        words.starts += starts
        words.ends += map(add, starts, lengths)
        words.token_indexes += range(line.index, line.index + len(line.words))
        self._append_boxes(line.boxes, line.extent)
        self._rows.append(line.text)
        self._start += len(line.text) + 1

    def append_row(self, row: Sequence[_RowWord], quarter_turns: int) -> None:
        """Append the words of a row that is rotated by `quarter_turns` clockwise quarter turns."""
        words, start = self._words, self._start
        width, height = self._size
        parts: list[str] = []
        for token, is_spaced in row:
            if is_spaced and parts:
                parts.append(" ")
                start += 1
            parts.append(token.text)
            words.starts.append(start)
            start += len(token.text)
            words.ends.append(start)
            words.token_indexes.append(token.index)
        size = (height, width) if quarter_turns % 2 else (width, height)
        boxes = [rotate_box(token.box, quarter_turns, *size) for token, _ in row]
        self._append_boxes(boxes, _enclose_boxes(boxes))
        self._rows.append("".join(parts))
        self._start = start + 1

    def _append_boxes(self, boxes: Iterable[Box], extent: Box) -> None:
        """Add boxes, enlarged by `_MARGIN` and clipped to the page; `extent` encloses them all."""
        width, height = self._size
        x_scale, y_scale = BOX_UNITS / width, BOX_UNITS / height
        sides: list[int] = []
        for x0, y0, x1, y1 in boxes:
            sides += (
                round((x0 - _MARGIN) * x_scale), round((y0 - _MARGIN) * y_scale),
                round((x1 + _MARGIN) * x_scale), round((y1 + _MARGIN) * y_scale),
            )  # fmt: skip
        left, top, right, bottom = extent
        if min(left, top, width - right, height - bottom) < _MARGIN:
            sides = [min(BOX_UNITS, max(0, side)) for side in sides]
        self._words.boxes += sides

    def build_page_text(self) -> PageText:
        """Return the text and the words of all rows that were appended."""
        return PageText("\n".join(self._rows), self._words)


def _form_words(row: Sequence[Token], *, is_rtl_page: bool) -> list[_RowWord]:
    """Form words from the tokens of a row, and return them in reading order."""
    if any(token.glyphs and right_to_left.LETTERS.search(token.text) for token in row):
        return _form_right_to_left_words(row, is_rtl_page=is_rtl_page)
    row_words: list[_RowWord] = []
    last: Token | None = None
    for token in row:
        if last is None or (token.gap == " " and token.index == last.index + 1):
            row_words.append((token, True))
        elif (is_spaced := _are_separated(last, token)) or _is_ideograph_boundary(last, token):
            row_words.append((token, is_spaced))
        else:
            previous, is_spaced = row_words.pop()
            row_words.append((_join_tokens(previous, token), is_spaced))
        last = token
    return row_words


def _join_tokens(first: Token, second: Token) -> Token:
    """Join two tokens into one word."""
    x0, y0, x1, y1 = _enclose_boxes([first.box, second.box])
    text = normalize_text(first.text + second.text)
    return replace(first, text=text, x0=x0, y0=y0, x1=x1, y1=y1)


def _form_right_to_left_words(row: Sequence[Token], *, is_rtl_page: bool) -> list[_RowWord]:
    """Form words from a row with right-to-left letters, and return them in reading order."""
    visual_glyphs: list[Glyph] = []
    word: list[Glyph] = []
    last: Token | None = None
    for token in row:
        if last is not None and _are_separated(last, token):
            visual_glyphs += [*right_to_left.combine_marks(word), _SPACE]
            word = []
        word += token.glyphs or [Glyph(token.text, token.box)]
        last = token
    visual_glyphs += right_to_left.combine_marks(word)
    is_rtl_row = is_rtl_page or right_to_left.is_right_to_left(token.text for token in row)
    row_words: list[_RowWord] = []
    for is_space, glyphs in groupby(
        right_to_left.convert_to_logical_order(visual_glyphs, right_to_left=is_rtl_row),
        lambda glyph: glyph.text == _SPACE.text,
    ):
        if not is_space:
            word = list(glyphs)
            text = normalize_text("".join(glyph.text for glyph in word))
            x0, y0, x1, y1 = _enclose_boxes([glyph.box for glyph in word])
            row_words.append((Token(text, x0, y0, x1, y1, y0, y1, 0, " ", None), True))
    return row_words


def _are_separated(last: Token, token: Token) -> bool:
    """Return whether white space separates two neighboring tokens of a row."""
    gap = token.x0 - last.x1
    height = max(last.height, token.height)
    if token.index == last.index + 1 and token.gap != "\n":
        return token.gap == " "
    if gap < -_MAX_OVERLAP * height:
        return True
    max_gap = _MAX_IDEOGRAPH_GAP if _is_ideograph_boundary(last, token) else _MAX_TOUCHING_GAP
    return gap > max_gap * height


def _is_ideograph_boundary(last: Token, token: Token) -> bool:
    """Return whether the last character of `last` or the first of `token` is a word by itself."""
    return bool(_IDEOGRAPH.match(last.text[-1]) or _IDEOGRAPH.match(token.text[0]))


def _enclose_boxes(boxes: Sequence[Box]) -> Box:
    """Return the smallest box around all boxes."""
    x0, y0, x1, y1 = zip(*boxes, strict=True)
    return min(x0), min(y0), max(x1), max(y1)
