"""Build the pages that the document readers return, and compute the size of page images."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple, TypedDict

from app.engines.documents.model import Limits, ParseFailed


@dataclass(slots=True)
class PageWords:
    """The words of a page in reading order, as parallel lists.

    `starts` and `ends` are offsets in the page's text; `boxes` has four coordinates per word,
    x0, y0, x1, y1, on the displayed page, in box units (see `frames.BOX_UNITS`). `token_indexes`
    contains the index of each word's first token, by which text recognition finds the confidence
    of the word. In a PDF's row with right-to-left letters, each index is 0, because the words are
    built from single glyphs.
    """

    starts: list[int] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)
    boxes: list[int] = field(default_factory=list)
    token_indexes: list[int] = field(default_factory=list)

    def __len__(self) -> int:
        """Return the number of words."""
        return len(self.starts)


class PageData(TypedDict):
    """The JSON object for a page that the sandboxed process sends.

    `width` and `height` are in points, `rotation` is in degrees. `starts` and `ends` are offsets of
    the words in `text`; `boxes` has four coordinates per word, x0, y0, x1, y1, in box units.
    """

    width: float
    height: float
    rotation: int
    text: str
    has_text_layer: bool
    is_blank: bool
    is_scan: bool
    starts: list[int]
    ends: list[int]
    boxes: list[int]


SendPage = Callable[[PageData], None]


def build_page(
    width: float,
    height: float,
    rotation: int = 0,
    text: str = "",
    words: PageWords | None = None,
    *,
    is_blank: bool = False,
    is_scan: bool = False,
) -> PageData:
    """Build the data for a page. A page without words has no text layer.

    `width` and `height` are in points, `rotation` is in degrees.
    """
    words = words or PageWords()
    return {
        "width": round(width, 3),
        "height": round(height, 3),
        "rotation": rotation,
        "text": text,
        "has_text_layer": bool(words),
        "is_blank": is_blank,
        "is_scan": is_scan,
        "starts": words.starts,
        "ends": words.ends,
        "boxes": words.boxes,
    }


class ImageSize(NamedTuple):
    """The size of a page image: `width_px` pixels wide, or `scale` pixels per point."""

    width_px: int | None
    scale: float | None = None

    def compute_size_px(self, width: float, height: float, limits: Limits) -> tuple[int, int]:
        """Return the width and height in pixels for a page of `width` x `height` points.

        Raises `ParseFailed` (`too_many_pixels`) if the image would exceed `limits.max_pixels`.
        """
        factor = self.width_px / width if self.width_px is not None else (self.scale or 1.0)
        exact_width, exact_height = width * factor, height * factor
        if not exact_width * exact_height <= limits.max_pixels:  # unlike `>`, also rejects NaN
            raise build_pixel_limit_error(limits)
        pixel_width = self.width_px or max(1, math.ceil(exact_width - 1e-6))
        pixel_height = max(1, math.ceil(exact_height - 1e-6))
        if pixel_width * pixel_height > limits.max_pixels:
            raise build_pixel_limit_error(limits)
        return pixel_width, pixel_height


def build_pixel_limit_error(limits: Limits) -> ParseFailed:
    """Build the error for an image with more pixels than allowed."""
    message = f"An image has more than {limits.max_pixels} pixels."
    return ParseFailed("too_many_pixels", message)
