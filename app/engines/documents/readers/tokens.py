"""Words of a page before they have an order, and the characters in them."""

from typing import NamedTuple

Box = tuple[float, float, float, float]
"""x0, y0, x1, y1 in points from the top left."""


class Glyph(NamedTuple):
    """Characters that share one place on the page."""

    text: str
    box: Box


class Token:
    """A word, or a part of one, with its place on the page in points from the top left.

    `x0`, `y0`, `x1`, `y1` is the ink; `top` and `bottom` are those of the font, which all words of
    a line have in common. `index` is the token's place in the file's own order, and `gap` what the
    file has between it and the token before: nothing, a space or a line feed. `glyphs` are there
    where the page has letters that run from right to left.
    """

    __slots__ = ("bottom", "gap", "glyphs", "index", "text", "top", "x0", "x1", "y0", "y1")

    def __init__(
        self,
        text: str,
        box: Box,
        *,
        band: tuple[float, float],
        index: int,
        gap: str,
        glyphs: list[Glyph] | None = None,
    ) -> None:
        self.text = text
        self.x0, self.y0, self.x1, self.y1 = box
        self.top, self.bottom = band
        self.index = index
        self.gap = gap
        self.glyphs = glyphs

    @property
    def box(self) -> Box:
        return self.x0, self.y0, self.x1, self.y1

    @property
    def height(self) -> float:
        return self.bottom - self.top

    @property
    def middle(self) -> float:
        return (self.top + self.bottom) / 2

    def __repr__(self) -> str:
        return f"Token({self.text!r}, x={self.x0:.0f}:{self.x1:.0f}, y={self.top:.0f})"
