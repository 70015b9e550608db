"""Compose the text of a PDF page in reading order, with the positions of its words."""

import re
from collections.abc import Sequence
from itertools import groupby
from typing import NamedTuple

from app.engines.documents.readers import right_to_left
from app.engines.documents.readers.pdf_words import OBLIQUE, turn_box
from app.engines.documents.readers.reading_order import Row, sort_into_rows
from app.engines.documents.readers.tokens import Box, Glyph, Token
from app.engines.documents.text import UNSPACED, normalize

_IDEOGRAPH = re.compile(f"[{UNSPACED}]")
# In line heights: the maximum space between two parts of a word, and their maximum overlap.
_TOUCHING, _OVERLAPPING = 0.08, 0.3
_IDEOGRAPH_GAP = 0.5
# The margin in points for the smoothing around a glyph.
_MARGIN = 0.5
_SPACE = Glyph(" ", (0.0, 0.0, 0.0, 0.0))


class Word(NamedTuple):
    """A word; `start` is its offset in the page's text, `box` its displayed position (0 to 1)."""

    text: str
    start: int
    box: list[float]


class PageText(NamedTuple):
    """The text of a page with its rows separated by line feeds, and its words in that order."""

    text: str
    words: list[Word]


class _Part(NamedTuple):
    """A word of a row; `spaced` is True if white space precedes it."""

    text: str
    box: Box
    spaced: bool


def compose(groups: dict[int, list[Token]], width: float, height: float) -> PageText:
    """Put words into reading order, upright text first.

    Args:
        groups: The words by writing direction, as `pdf_words.read_words` returns them.
        width: The displayed width of the page, in points.
        height: The displayed height of the page, in points.
    """
    lines: list[str] = []
    words: list[Word] = []
    start = 0
    leftward = right_to_left.is_right_to_left(
        token.text for tokens in groups.values() for token in tokens
    )
    for direction in sorted(groups, key=lambda direction: (direction == OBLIQUE, direction)):
        tokens = groups[direction]
        rows = [tokens] if direction == OBLIQUE else sort_into_rows(tokens, right_to_left=leftward)
        for row in rows:
            pieces: list[str] = []
            for part in _parts(row, page_is_leftward=leftward):
                if part.spaced and pieces:
                    pieces.append(" ")
                    start += 1
                box = _displayed(part.box, max(direction, 0), width, height)
                words.append(Word(part.text, start, box))
                pieces.append(part.text)
                start += len(part.text)
            lines.append("".join(pieces))
            start += 1
    return PageText("\n".join(lines), words)


def _displayed(box: Box, quarters: int, width: float, height: float) -> list[float]:
    """Return the displayed sides (0 to 1) of a box that was rotated by its writing direction."""
    across, down = (height, width) if quarters % 2 else (width, height)
    x0, y0, x1, y1 = turn_box(box, quarters, across, down)
    sides = (
        (x0 - _MARGIN) / width, (y0 - _MARGIN) / height,
        (x1 + _MARGIN) / width, (y1 + _MARGIN) / height,
    )  # fmt: skip
    return [round(min(1.0, max(0.0, side)), 5) for side in sides]


def _parts(row: Row, *, page_is_leftward: bool) -> list[_Part]:
    """Return the words of a row in reading order."""
    if any(token.glyphs and right_to_left.LETTERS.search(token.text) for token in row):
        return _leftward_parts(row, page_is_leftward=page_is_leftward)
    parts: list[_Part] = []
    last: Token | None = None
    for token in row:
        spaced = last is None or _is_spaced(last, token)
        if not spaced and last is not None and not _parts_ideographs(last, token):
            before = parts.pop()
            box = _around([before.box, token.box])
            parts.append(_Part(normalize(before.text + token.text), box, before.spaced))
        else:
            parts.append(_Part(token.text, token.box, spaced))
        last = token
    return parts


def _leftward_parts(row: Row, *, page_is_leftward: bool) -> list[_Part]:
    """Return the words of a row that has letters running from right to left."""
    visual: list[Glyph] = []
    word: list[Glyph] = []
    last: Token | None = None
    for token in row:
        if last is not None and _is_spaced(last, token):
            visual += [*right_to_left.combine_marks(word), _SPACE]
            word = []
        word += token.glyphs or [Glyph(token.text, token.box)]
        last = token
    visual += right_to_left.combine_marks(word)
    leftward = page_is_leftward or right_to_left.is_right_to_left(token.text for token in row)
    parts: list[_Part] = []
    for is_space, glyphs in groupby(
        right_to_left.to_logical(visual, right_to_left=leftward),
        lambda glyph: glyph.text == _SPACE.text,
    ):
        if not is_space:
            part = list(glyphs)
            text = normalize("".join(glyph.text for glyph in part))
            parts.append(_Part(text, _around([glyph.box for glyph in part]), spaced=True))
    return parts


def _is_spaced(last: Token, token: Token) -> bool:
    """Return whether white space separates two neighboring tokens of a row."""
    gap = token.x0 - last.x1
    height = max(last.height, token.height)
    if token.index == last.index + 1 and token.gap != "\n":
        return token.gap == " "
    if gap < -_OVERLAPPING * height:
        return True
    reach = _IDEOGRAPH_GAP if _parts_ideographs(last, token) else _TOUCHING
    return gap > reach * height


def _parts_ideographs(last: Token, token: Token) -> bool:
    """Return whether a word ends between two neighboring tokens without white space."""
    return bool(_IDEOGRAPH.match(last.text[-1]) or _IDEOGRAPH.match(token.text[0]))


def _around(boxes: Sequence[Box]) -> Box:
    x0, y0, x1, y1 = zip(*boxes, strict=True)
    return min(x0), min(y0), max(x1), max(y1)
