"""Define the words of a page before they are sorted, and the characters in them."""

from typing import NamedTuple

Box = tuple[float, float, float, float]
"""The sides x0, y0, x1, y1 in points, measured from the top left of the page."""


class Glyph(NamedTuple):
    """The characters at one position of the page."""

    text: str
    box: Box


class Token:
    """A word or a part of a word, with its position in points from the top left of the page.

    `x0`, `y0`, `x1`, `y1` enclose the ink; `top` and `bottom` are those of the font, which all
    words of a line share. `index` is the token's position in file order, and `gap` the text in the
    file between it and the previous token: nothing, a space or a line feed. `glyphs` is only set
    on pages with letters that run from right to left.
    """

    __slots__ = ("bottom", "gap", "glyphs", "index", "text", "top", "x0", "x1", "y0", "y1")

    def __init__(
        self,
        text: str,
        box: Box,
        *,
        font_box: tuple[float, float],
        index: int,
        gap: str,
        glyphs: list[Glyph] | None = None,
    ) -> None:
        self.text = text
        self.x0, self.y0, self.x1, self.y1 = box
        self.top, self.bottom = font_box
        self.index = index
        self.gap = gap
        self.glyphs = glyphs

    @property
    def box(self) -> Box:
        """Return the box of the ink."""
        return self.x0, self.y0, self.x1, self.y1

    @property
    def height(self) -> float:
        """Return the height of the font."""
        return self.bottom - self.top

    @property
    def middle(self) -> float:
        """Return the vertical center of the font."""
        return (self.top + self.bottom) / 2

    def __repr__(self) -> str:
        return f"Token({self.text!r}, x={self.x0:.0f}:{self.x1:.0f}, y={self.top:.0f})"
