"""Render virtual pages on the grid of `layout` with the Fira fonts.

Fira Mono has Latin, Greek and Cyrillic; FiraGO has Arabic, Hebrew, Thai, Georgian and Devanagari.
Neither font has Chinese, Japanese or Korean characters; they are rendered as empty boxes of the
correct width.
"""

import io
import re

from PIL import Image, ImageDraw, ImageFont
from pymupdf_fonts import FiraGO_Regular, FiraMono_Regular  # type: ignore[import-untyped]

from app.engines.documents.layout import (
    CELL_WIDTH,
    PAGE_HEIGHT,
    PAGE_WIDTH,
    VirtualPage,
    build_virtual_page_words,
    count_columns,
)
from app.engines.documents.model import Limits, Word
from app.engines.documents.readers.pages import ImageSize

_FONT_SIZE = 10.0  # characters of Fira Mono are 0.6 times this size wide: one cell
_BASELINE = 10.2  # points below the top of the row
_MONOSPACED_CHARS = re.compile("[\x00-\u052f\u1e00-\u1fff\u2000-\u25ff]*")
_WIDE_COLUMNS = 2
_BLACK = 0


def render_virtual_page(
    text: str, virtual_page: VirtualPage, size: ImageSize, limits: Limits
) -> Image.Image:
    """Render one virtual page of `text` to a grayscale image.

    Raises `ParseFailed` (`too_many_pixels`).
    """
    size_px = size.compute_size_px(PAGE_WIDTH, PAGE_HEIGHT, limits)
    return _PageCanvas(size_px).draw_words(build_virtual_page_words(text, virtual_page))


class _PageCanvas:
    """The image of a page of `size_px` (width, height) pixels, and the fonts for its text."""

    def __init__(self, size_px: tuple[int, int]) -> None:
        self._image = Image.new("L", size_px, 255)
        self._pen = ImageDraw.Draw(self._image)
        self._pixels_per_point = size_px[0] / PAGE_WIDTH
        self._monospaced_font = _load_font(
            FiraMono_Regular.fontbuffer, _FONT_SIZE * self._pixels_per_point
        )
        self._proportional_font: ImageFont.FreeTypeFont | None = None

    def draw_words(self, words: list[Word]) -> Image.Image:
        """Draw the words and return the image."""
        for word in words:
            left = word.box[0] * self._image.width
            baseline = word.box[1] * self._image.height + _BASELINE * self._pixels_per_point
            if _MONOSPACED_CHARS.fullmatch(word.text):
                self._pen.text((left, baseline), word.text, _BLACK, self._monospaced_font, "ls")
            elif any(count_columns(char) == _WIDE_COLUMNS for char in word.text):
                self._draw_wide_word(word.text, left, baseline)
            else:
                self._draw_fitted_word(word, left, baseline)
        return self._image

    def _draw_wide_word(self, text: str, left: float, baseline: float) -> None:
        """Draw wide characters as boxes and other characters as text, each in its cells."""
        for char in text:
            width = count_columns(char) * CELL_WIDTH * self._pixels_per_point
            if count_columns(char) == _WIDE_COLUMNS:
                margin = 0.1 * width
                top = baseline - 0.75 * width
                self._pen.rectangle(
                    (left + margin, top, left + width - margin, baseline), outline=_BLACK
                )
            elif width:
                self._pen.text((left, baseline), char, _BLACK, self._monospaced_font, "ls")
            left += width

    def _draw_fitted_word(self, word: Word, left: float, baseline: float) -> None:
        """Draw a word in the proportional font, reduced in size if it would exceed its box."""
        if self._proportional_font is None:
            self._proportional_font = _load_font(
                FiraGO_Regular.fontbuffer, _FONT_SIZE * self._pixels_per_point
            )
        font, max_length = self._proportional_font, (word.box[2] - word.box[0]) * self._image.width
        length = font.getlength(word.text)
        if length > max_length:
            font = font.font_variant(size=max(1.0, font.size * max_length / length))
        self._pen.text((left, baseline), word.text, _BLACK, font, "ls")


def _load_font(data: bytes, size: float) -> ImageFont.FreeTypeFont:
    return ImageFont.truetype(io.BytesIO(data), max(1.0, size))
