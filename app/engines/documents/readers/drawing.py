"""Draw virtual pages on the grid of `layout` with the Fira fonts.

Fira Mono has Latin, Greek and Cyrillic; FiraGO has Arabic, Hebrew, Thai, Georgian and Devanagari.
Chinese, Japanese and Korean characters, which neither has, are drawn as empty boxes of the right
width.
"""

import io
import re

from PIL import Image, ImageDraw, ImageFont
from pymupdf_fonts import FiraGO_Regular, FiraMono_Regular  # type: ignore[import-untyped]

from app.engines.documents.layout import (
    CELL_WIDTH,
    PAGE_HEIGHT,
    PAGE_WIDTH,
    Sheet,
    columns_of,
    sheet_words,
)
from app.engines.documents.model import Limits, Word
from app.engines.documents.readers.sizes import pixels

_FONT_SIZE = 10.0  # a character of Fira Mono is 0.6 times as wide: one cell
_BASELINE = 10.2  # points below the top of the row
_MONO = re.compile("[\x00-\u052f\u1e00-\u1fff\u2000-\u25ff]*")
_WIDE = 2
_INK = 0


def draw(
    text: str, sheet: Sheet, width_px: int | None, scale: float | None, limits: Limits
) -> Image.Image:
    """Draw one sheet in grey on white. Raises `ParseFailed` (`too_many_pixels`)."""
    size = pixels(PAGE_WIDTH, PAGE_HEIGHT, width_px, scale, limits)
    return _Sheet(size).draw(sheet_words(text, sheet))


class _Sheet:
    def __init__(self, size: tuple[int, int]) -> None:
        self._image = Image.new("L", size, 255)
        self._pen = ImageDraw.Draw(self._image)
        self._unit = size[0] / PAGE_WIDTH  # pixels per point
        self._mono = _face(FiraMono_Regular.fontbuffer, _FONT_SIZE * self._unit)
        self._other: ImageFont.FreeTypeFont | None = None

    def draw(self, words: list[Word]) -> Image.Image:
        """Draw the words and return the image."""
        for word in words:
            left = word.box[0] * self._image.width
            base = word.box[1] * self._image.height + _BASELINE * self._unit
            if _MONO.fullmatch(word.text):
                self._pen.text((left, base), word.text, _INK, self._mono, "ls")
            elif any(columns_of(char) == _WIDE for char in word.text):
                self._draw_boxes(word.text, left, base)
            else:
                self._draw_fitted(word, left, base)
        return self._image

    def _draw_boxes(self, text: str, left: float, base: float) -> None:
        """Draw wide characters as boxes and the others as text, each in its cells."""
        for char in text:
            width = columns_of(char) * CELL_WIDTH * self._unit
            if columns_of(char) == _WIDE:
                edge = 0.1 * width
                top = base - 0.75 * width
                self._pen.rectangle((left + edge, top, left + width - edge, base), outline=_INK)
            elif width:
                self._pen.text((left, base), char, _INK, self._mono, "ls")
            left += width

    def _draw_fitted(self, word: Word, left: float, base: float) -> None:
        """Draw a word in the proportional font, reduced in size if it would exceed its box."""
        if self._other is None:
            self._other = _face(FiraGO_Regular.fontbuffer, _FONT_SIZE * self._unit)
        face, room = self._other, (word.box[2] - word.box[0]) * self._image.width
        length = face.getlength(word.text)
        if length > room:
            face = face.font_variant(size=max(1.0, face.size * room / length))
        self._pen.text((left, base), word.text, _INK, face, "ls")


def _face(data: bytes, size: float) -> ImageFont.FreeTypeFont:
    return ImageFont.truetype(io.BytesIO(data), max(1.0, size))
