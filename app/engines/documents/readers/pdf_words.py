"""Extract the words of a PDF page with their positions from pdfium."""

import ctypes
import math
import re
import sys
import unicodedata
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from pypdfium2 import raw  # type: ignore[import-untyped]

from app.engines.documents.model import Limits, ParseFailed
from app.engines.documents.readers import right_to_left
from app.engines.documents.readers.segments import Box, Glyph, Token
from app.engines.documents.text import WORD, normalize_text, replace_unstorable

OBLIQUE = -1
"""The direction of text that is not rotated by a multiple of 90 degrees."""

# pdfium's character for a hyphen at a line end, where it joins two lines.
_HYPHEN = "\x02"
_TOKEN = re.compile(WORD.pattern.replace(r"[^\s", rf"[^\s{_HYPHEN}") + f"{_HYPHEN}?")
_SURROGATE = re.compile("[\ud800-\udfff]")
_LINE_END = re.compile(rf"[\r\n\v\f\x1c-\x1e\x85\u2028\u2029{_HYPHEN}]")
# Glyphs that represent letters: Latin ligatures, and Hebrew and Arabic presentation forms.
_PRESENTATION_FORMS = re.compile("[\ufb00-\ufb06\ufb13-\ufb17\ufb1d-\ufdff\ufe70-\ufefc]+")
_QUARTER_DEGREES = 90.0
_MAX_TILT = 15.0  # degrees; text tilted further does not belong to a row
_MIN_FONT_HEIGHT = 0.8  # of the ink's height; fonts may have wrong metrics


def read_words(page: Any, text_page: Any, limits: Limits) -> dict[int, list[Token]]:
    """Return the words that a page shows, in file order, by writing direction.

    `page` and `text_page` are pdfium's objects. Directions are clockwise quarter turns (0 to 3), or
    `OBLIQUE`. Positions are in points from the top left of the displayed page, rotated so that the
    text is upright. Raises `ParseFailed` (`too_large_unpacked`).
    """
    count = text_page.count_chars()
    if count > limits.max_text_chars:
        message = f"A page has more than {limits.max_text_chars} characters."
        raise ParseFailed("too_large_unpacked", message)
    return _Extractor(page, text_page, max(count, 0)).extract_words(limits) if count > 0 else {}


def rotate_box(box: Box, quarters: int, width: float, height: float) -> Box:
    """Return a box after rotating its page of width x height by clockwise quarter turns."""
    x0, y0, x1, y1 = box
    for _ in range(quarters % 4):
        x0, y0, x1, y1 = height - y1, x0, height - y0, x1
        width, height = height, width
    return x0, y0, x1, y1


class _Extractor:
    """Reads the words of one page and their positions from pdfium."""

    def __init__(self, page: Any, text_page: Any, count: int) -> None:
        self._text_page = text_page
        self._characters = "".join(_read_characters(text_page, count))
        self._has_right_to_left = right_to_left.LETTERS.search(self._characters) is not None
        self._rotation = page.get_rotation()
        self._size: tuple[float, float] = page.get_size()
        self._crop_box: Box = page.get_bbox()
        self._sides = [ctypes.c_double() for _ in range(4)]
        self._pointers = [ctypes.byref(side) for side in self._sides]
        self._rectangle = raw.FS_RECTF()

    def extract_words(self, limits: Limits) -> dict[int, list[Token]]:
        """Return the readable words inside the crop box, by writing direction."""
        words_by_direction: dict[int, list[Token]] = {}
        width, height = self._size
        number = 0
        for first, end, gap in self._iterate_spans():
            text = _convert_to_readable(self._characters[first:end])
            box = self._get_ink_box(first, end)
            x, y = (box[0] + box[2]) / 2, (box[1] + box[3]) / 2
            if not text or not (0 <= x <= width and 0 <= y <= height):
                continue  # unreadable, or outside the crop box
            number += 1
            if number > limits.max_words_per_page:
                message = f"A page has more than {limits.max_words_per_page} words."
                raise ParseFailed("too_large_unpacked", message)
            quarters = self._get_direction(first)
            token = self._build_token(text, box, number, gap, first, end, quarters)
            words_by_direction.setdefault(quarters, []).append(token)
        return words_by_direction

    def _iterate_spans(self) -> Iterator[tuple[int, int, str]]:
        """Yield the start and end of each word, and the white space before it."""
        last = 0
        for match in _TOKEN.finditer(self._characters):
            first, end = match.span()
            between = self._characters[max(0, last - 1) : first]
            gap = "\n" if _LINE_END.search(between) else " " * (first > last)
            last = end
            if end - first > 1 and raw.FPDFText_CountRects(self._text_page, first, end - first) > 1:
                for start, stop in pairwise(self._find_line_starts(first, end)):
                    yield start, stop, gap if start == first else "\n"
            else:
                yield first, end, gap

    def _find_line_starts(self, first: int, end: int) -> list[int]:
        """Return the offsets at which to split a word that spans lines, with its start and end.

        pdfium joins single characters below each other, such as the row numbers of a table.
        """
        starts = [first]
        quarters = max(self._get_direction(first), 0)
        previous: Box | None = None
        for index in range(first, end):
            box = rotate_box(self._get_font_box(index), -quarters, *self._size)
            if previous is not None:
                height = previous[3] - previous[1]
                is_apart = min(previous[3], box[3]) - max(previous[1], box[1]) < height / 2
                if is_apart and not unicodedata.combining(self._characters[index]):
                    starts.append(index)
            previous = box
        return [*starts, end]

    def _build_token(
        self, text: str, box: Box, index: int, gap: str, first: int, end: int, quarters: int
    ) -> Token:
        """Return the word of the characters from `first` to `end`, rotated to be upright."""
        width, height = self._size
        font_box = self._get_font_box(first)
        glyphs = self._get_glyphs(first, end) if self._has_right_to_left else None
        if quarters > 0:
            box = rotate_box(box, -quarters, width, height)
            font_box = rotate_box(font_box, -quarters, width, height)
            if glyphs is not None:
                glyphs = [
                    Glyph(glyph.text, rotate_box(glyph.box, -quarters, width, height))
                    for glyph in glyphs
                ]
        top, bottom = font_box[1], font_box[3]
        if not _MIN_FONT_HEIGHT * (box[3] - box[1]) <= bottom - top <= max(width, height):
            top, bottom = box[1], box[3]  # the metrics of the font are implausible, or not numbers
        return Token(text, *box, top, bottom, index, gap, glyphs)

    def _get_ink_box(self, first: int, end: int) -> Box:
        """Return the bounding box of some characters, or their position if they show nothing."""
        text_page, (left, top, right, bottom) = self._text_page, self._sides
        x0 = y0 = math.inf
        x1 = y1 = -math.inf
        for index in range(raw.FPDFText_CountRects(text_page, first, end - first)):
            if raw.FPDFText_GetRect(text_page, index, *self._pointers):
                x0, x1 = min(x0, left.value), max(x1, right.value)
                y0, y1 = min(y0, bottom.value), max(y1, top.value)
        if x0 <= x1 and y0 <= y1:
            return self._to_displayed_box(x0, y0, x1, y1)
        return self._get_glyph_box(first)

    def _get_glyph_box(self, index: int) -> Box:
        """Return the box of a character's shape; its sides are NaN if pdfium does not know it."""
        left, right, bottom, top = self._sides  # a different order than that of FPDFText_GetRect
        if raw.FPDFText_GetCharBox(self._text_page, index, *self._pointers):
            return self._to_displayed_box(left.value, bottom.value, right.value, top.value)
        return self._to_displayed_box(math.nan, math.nan, math.nan, math.nan)

    def _get_font_box(self, index: int) -> Box:
        """Return the box of a character according to the font's metrics instead of its shape."""
        box = self._rectangle
        if raw.FPDFText_GetLooseCharBox(self._text_page, index, box):
            return self._to_displayed_box(box.left, box.bottom, box.right, box.top)
        return self._get_glyph_box(index)

    def _to_displayed_box(self, x0: float, y0: float, x1: float, y1: float) -> Box:
        """Map a rectangle in user space (PDF 1.7, 8.3.2.3) to a box on the displayed page."""
        left, bottom, right, top = self._crop_box
        box = x0 - left, top - y1, x1 - left, top - y0
        return rotate_box(box, self._rotation // 90, right - left, top - bottom)

    def _get_direction(self, index: int) -> int:
        """Return the writing direction of a character in clockwise quarter turns, or `OBLIQUE`."""
        degrees = math.degrees(raw.FPDFText_GetCharAngle(self._text_page, index))
        quarters = (degrees + self._rotation) / _QUARTER_DEGREES
        nearest = round(quarters)
        return nearest % 4 if abs(quarters - nearest) * _QUARTER_DEGREES <= _MAX_TILT else OBLIQUE

    def _get_glyphs(self, first: int, end: int) -> list[Glyph]:
        """Return the characters of a word; characters at the same position are combined."""
        glyphs: list[Glyph] = []
        for index in range(first, end):
            box = self._get_glyph_box(index)
            char = self._characters[index]
            if glyphs and glyphs[-1].box == box:
                glyphs[-1] = Glyph(glyphs[-1].text + char, box)
            else:
                glyphs.append(Glyph(char, box))
        readable = (Glyph(_convert_to_readable(glyph.text), glyph.box) for glyph in glyphs)
        return [glyph for glyph in readable if glyph.text]


def _read_characters(text_page: Any, count: int) -> Iterator[str]:
    get_code = raw.FPDFText_GetUnicode
    for index in range(count):
        code = get_code(text_page, index)
        yield chr(code) if code <= sys.maxunicode else "\ufffd"


def _convert_to_readable(word: str) -> str:
    """Return the text of pdfium's characters without pdfium's markers and control characters."""
    if word.isascii() and word.isprintable():
        return word
    if word.endswith(_HYPHEN):
        word = word[:-1] + "-"
    if _SURROGATE.search(word):
        word = word.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return normalize_text(_PRESENTATION_FORMS.sub(_decompose_form, replace_unstorable(word)))


def _decompose_form(form: re.Match[str]) -> str:
    return unicodedata.normalize("NFKC", form.group()).strip()
