"""Read the characters of a PDF page and their positions from pdfium.

pdfium returns one character or word per call, so a page takes a thousand calls or more. A call
through `ctypes` spends most of its time on the conversion of its arguments. This module therefore
binds pdfium's functions without argument types, which is three times as fast. Numbers are passed as
C ints, and any other argument must already be a pointer.
"""

import ctypes
import math
import re
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from pypdfium2 import raw  # type: ignore[import-untyped]

from app.engines.documents.readers.segments import Box

if TYPE_CHECKING:
    from _ctypes import CFuncPtr

_UTF_16_BYTES = 2
# pdfium's text functions return this character instead of the marker for hyphens.
_HYPHEN_SUBSTITUTE = re.compile("\ufffe")

Point = tuple[float, float]
Rectangle = tuple[float, float, float, float]
"""The left, bottom, right and top edge in points, in user space (PDF 1.7, 8.3.2.3)."""
_Number = TypeVar("_Number", bound=float)


def _bind(
    function: "CFuncPtr", result_type: "type[ctypes._SimpleCData[_Number]]"
) -> Callable[..., _Number]:
    """Bind a pdfium function, so that calls convert no arguments and keep the interpreter lock."""
    address = ctypes.cast(function, ctypes.c_void_p).value
    assert address is not None
    bound_function: Callable[..., _Number] = ctypes.PYFUNCTYPE(result_type)(address)
    return bound_function


_count_rects = _bind(raw.FPDFText_CountRects, ctypes.c_int)
_get_rect = _bind(raw.FPDFText_GetRect, ctypes.c_int)
_get_char_box = _bind(raw.FPDFText_GetCharBox, ctypes.c_int)
_get_loose_char_box = _bind(raw.FPDFText_GetLooseCharBox, ctypes.c_int)
_get_char_angle = _bind(raw.FPDFText_GetCharAngle, ctypes.c_float)
_get_unicode = _bind(raw.FPDFText_GetUnicode, ctypes.c_uint)


def read_characters(text_page: raw.FPDF_TEXTPAGE, count: int) -> str:
    """Return the `count` characters of a page, one for each index of pdfium's list."""
    handle = ctypes.cast(text_page, ctypes.c_void_p)
    get_text_index = raw.FPDFText_GetTextIndexFromCharIndex
    if get_text_index(text_page, 0) == 0 and get_text_index(text_page, count - 1) == count - 1:
        buffer = (ctypes.c_ushort * (2 * count + 1))()  # a character may need two units
        units = raw.FPDFText_GetText(text_page, 0, count, buffer) - 1
        if units == count:
            data = memoryview(buffer).cast("B")[: _UTF_16_BYTES * units]
            text = str(data, "utf-16-le", "surrogatepass")
            if len(text) == count:
                return _HYPHEN_SUBSTITUTE.sub(
                    lambda match: _read_character(handle, match.start()), text
                )
    return "".join(_read_character(handle, index) for index in range(count))


def _read_character(handle: ctypes.c_void_p, index: int) -> str:
    code = _get_unicode(handle, index)
    return chr(code) if code <= sys.maxunicode else "\ufffd"


class CharacterPositions:
    """The positions of the characters of an open text page."""

    def __init__(self, text_page: raw.FPDF_TEXTPAGE) -> None:
        self._handle = ctypes.cast(text_page, ctypes.c_void_p)
        sides = (ctypes.c_double * 4)()
        size = ctypes.sizeof(ctypes.c_double)
        self._pointers = [ctypes.byref(sides, index * size) for index in range(4)]
        self._sides = memoryview(sides).cast("B").cast("d")
        self._rectangle = raw.FS_RECTF()
        self._rectangle_pointer = ctypes.byref(self._rectangle)

    def count_rectangles(self, first: int, end: int) -> int:
        """Return the number of rectangles of the characters from `first` up to `end`.

        There is one rectangle for each visible run of characters that one text object draws.
        """
        return _count_rects(self._handle, first, end - first)

    def get_rectangle(self, first: int, end: int) -> Rectangle | None:
        """Return the bounding rectangle of the characters, or None if they are invisible."""
        x0 = y0 = math.inf
        x1 = y1 = -math.inf
        for index in range(_count_rects(self._handle, first, end - first)):
            if _get_rect(self._handle, index, *self._pointers):
                left, top, right, bottom = self._sides
                x0, x1 = min(x0, left), max(x1, right)
                y0, y1 = min(y0, bottom), max(y1, top)
        return (x0, y0, x1, y1) if x0 <= x1 and y0 <= y1 else None

    def get_single_rectangle(self, first: int, end: int) -> Rectangle | None:
        """Return the rectangle of the characters if one text object draws them all, or None."""
        is_single_run = _count_rects(self._handle, first, end - first) == 1
        if not (is_single_run and _get_rect(self._handle, 0, *self._pointers)):
            return None
        left, top, right, bottom = self._sides
        return left, bottom, right, top

    def get_boxes(self, first: int, lengths: list[int], corner: Point) -> list[Box] | None:
        """Return a box for each word, or None if any word is invisible.

        One text object must draw all the words. The first word begins at the index `first`, and
        `lengths` contains the length of each word in characters. The words are separated by one
        character. Boxes are measured down and to the right from `corner`.
        """
        handle, sides, (a, b, c, d) = self._handle, self._sides, self._pointers
        x, y = corner
        boxes: list[Box] = []
        for length in lengths:
            _count_rects(handle, first, length)
            if not _get_rect(handle, 0, a, b, c, d):
                return None
            left, top, right, bottom = sides
            if not (left <= right and bottom <= top):
                return None
            boxes.append((left - x, y - top, right - x, y - bottom))
            first += length + 1
        return boxes

    def get_shape_rectangle(self, index: int) -> Rectangle | None:
        """Return the rectangle of a character's shape, or None if pdfium does not know it."""
        if not _get_char_box(self._handle, index, *self._pointers):
            return None
        left, right, bottom, top = self._sides  # FPDFText_GetRect has another order
        return left, bottom, right, top

    def get_font_rectangle(self, index: int) -> Rectangle | None:
        """Return the rectangle of a character by its font metrics, or None if they are unknown."""
        if not _get_loose_char_box(self._handle, index, self._rectangle_pointer):
            return None
        box = self._rectangle
        return box.left, box.bottom, box.right, box.top

    def get_angle(self, index: int) -> float:
        """Return the clockwise rotation of a character in radians, or -1 if it is unknown."""
        return _get_char_angle(self._handle, index)
