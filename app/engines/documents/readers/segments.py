"""Represent the words of a page before they are sorted, and runs of words on one line."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import NamedTuple

MAX_WORD_GAP = 0.9  # in line heights; a wider gap ends a segment
MIN_GUTTER = 0.45  # in line heights; the minimum width of a gutter
WIDE_GAP_FACTOR = 1.6  # a wide gap is at least this many times as wide as the usual gap

Box = tuple[float, float, float, float]
"""The coordinates x0, y0, x1, y1 in points, measured from the top left of the page."""


class Glyph(NamedTuple):
    """The characters at one position of the page."""

    text: str
    box: Box


class _Text:
    """Text on one line. `top` and `bottom` are the edges of its font's box.

    Superscripts do not change these edges.
    """

    __slots__ = ()
    top: float
    bottom: float

    @property
    def height(self) -> float:
        """Return the height of the font in points."""
        return self.bottom - self.top

    @property
    def middle(self) -> float:
        """Return the vertical center of the font in points."""
        return (self.top + self.bottom) / 2


@dataclass(eq=False, slots=True)
class Token(_Text):
    """A word or a part of a word, with its position in points from the top left of the page.

    `x0`, `y0`, `x1`, `y1` enclose the ink; `top` and `bottom` are the edges of the font's box,
    which most words of a line share. `index` is the token's position in file order.
    `gap` is the text in the file before the token: nothing, a space or a line feed. `glyphs` is
    only set on pages with letters that run from right to left.
    """

    text: str
    x0: float
    y0: float
    x1: float
    y1: float
    top: float
    bottom: float
    index: int
    gap: str
    glyphs: list[Glyph] | None

    @property
    def box(self) -> Box:
        """Return the box of the ink."""
        return self.x0, self.y0, self.x1, self.y1


@dataclass(eq=False, slots=True)
class Line(_Text):
    """Words side by side with the same font metrics, used instead of tokens to save time.

    `text` is the words joined by spaces. `gaps` are the widths of the spaces in points; no gap is
    negative, or wider than `MAX_WORD_GAP` line heights. `index` is the position of the first word
    in file order. `extent` is the box around all `boxes`.
    """

    text: str
    words: list[str]
    extent: Box
    boxes: list[Box]
    gaps: list[float]
    top: float
    bottom: float
    index: int

    @property
    def x0(self) -> float:
        """Return the left edge of the first word."""
        return self.boxes[0][0]

    @property
    def x1(self) -> float:
        """Return the right edge of the last word."""
        return self.boxes[-1][2]

    def build_tokens(self) -> list[Token]:
        """Return the words as tokens."""
        tokens = [
            Token(word, *box, self.top, self.bottom, index, " ", None)
            for index, (word, box) in enumerate(
                zip(self.words, self.boxes, strict=True), start=self.index
            )
        ]
        tokens[0].gap = "\n"
        return tokens


class Segment(_Text):
    """Words side by side on one line, from left to right.

    `line` is set if the segment is a whole `Line`; its tokens are then built on first use.
    """

    __slots__ = ("_gaps", "_tokens", "bottom", "index", "line", "top", "x0", "x1")

    def __init__(self, start: Token | Line) -> None:
        self.line = start if isinstance(start, Line) else None
        self._tokens = None if isinstance(start, Line) else [start]
        self._gaps = None if self.line is None else self.line.gaps
        self.x0, self.x1 = start.x0, start.x1
        self.top, self.bottom = start.top, start.bottom
        self.index = start.index

    @property
    def tokens(self) -> list[Token]:
        """Return the words from left to right."""
        if self._tokens is None:
            self._tokens = self.line.build_tokens() if self.line is not None else []
        return self._tokens

    @property
    def gaps(self) -> list[float]:
        """Return the widths of the gaps between the words, from left to right."""
        if self._gaps is None:
            self._gaps = [token.x0 - last.x1 for last, token in pairwise(self.tokens)]
        return self._gaps

    @classmethod
    def from_tokens(cls, tokens: Sequence[Token]) -> "Segment":
        """Build a segment from tokens that are sorted from left to right."""
        segment = cls(tokens[0])
        for token in tokens[1:]:
            segment.add(token)
        return segment

    @classmethod
    def from_aligned_tokens(cls, tokens: list[Token], x1: float) -> "Segment":
        """Build a segment with right edge `x1` from sorted tokens that share `top` and `bottom`."""
        segment = cls(tokens[0])
        segment._tokens, segment.x1 = tokens, x1
        return segment

    def add(self, token: Token) -> None:
        """Append a token at the right end."""
        self.tokens.append(token)
        self.line = self._gaps = None
        self.x1 = max(self.x1, token.x1)
        if token.height > self.height:  # a superscript does not move the line
            self.top, self.bottom = token.top, token.bottom


def find_wide_gaps(segment: Segment) -> list[int]:
    """Return the indexes of the words after wide gaps, which may be gutters."""
    gaps = segment.gaps
    if not gaps or max(gaps) < MIN_GUTTER * segment.height:
        return []
    return find_gaps(segment, max(MIN_GUTTER * segment.height, WIDE_GAP_FACTOR * median(gaps)))


def find_gaps(segment: Segment, min_width: float) -> list[int]:
    """Return the indexes of the words after gaps of at least `min_width` points."""
    gaps = segment.gaps
    if not gaps or max(gaps) < min_width:
        return []
    return [index for index, gap in enumerate(gaps, start=1) if gap >= min_width]


def build_tokens(words: Iterable[Token | Line]) -> list[Token]:
    """Return the words as tokens; each line is replaced with its tokens."""
    return [
        token
        for word in words
        for token in (word.build_tokens() if isinstance(word, Line) else (word,))
    ]
