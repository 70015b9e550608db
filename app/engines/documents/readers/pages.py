"""Build the pages that readers send, and compute the size of page images."""

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple, TypedDict

from app.engines.documents.model import Limits, ParseFailed


class PageWord(NamedTuple):
    """A word; `start` is its offset in the page's text, `box` its displayed position (0 to 1).

    `token` is the index of its first token.
    """

    text: str
    start: int
    box: list[float]
    token: int = 0


class PageData(TypedDict):
    """A page in the form in which the sandboxed process sends it.

    `width` and `height` are in points, `rotation` is in degrees. `starts` and `ends` are offsets of
    the words in `text`; `boxes` has four sides per word, from 0 to 1.
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
    boxes: list[float]


SendPage = Callable[[PageData], None]


def build_page(
    width: float,
    height: float,
    rotation: int = 0,
    text: str = "",
    words: Sequence[PageWord] = (),
    *,
    is_blank: bool = False,
    is_scan: bool = False,
) -> PageData:
    """Return a page of width x height points; without words it has no text layer."""
    return {
        "width": round(width, 3),
        "height": round(height, 3),
        "rotation": rotation,
        "text": text,
        "has_text_layer": bool(words),
        "is_blank": is_blank,
        "is_scan": is_scan,
        "starts": [word.start for word in words],
        "ends": [word.start + len(word.text) for word in words],
        "boxes": [side for word in words for side in word.box],
    }


def compute_pixel_size(
    width: float, height: float, width_px: int | None, scale: float | None, limits: Limits
) -> tuple[int, int]:
    """Return width and height in pixels of the image of a page of width x height points.

    The image is `width_px` wide, or has `scale` pixels per point (1 if both are None).
    Raises `ParseFailed` (`too_many_pixels`) before memory of that size is allocated.
    """
    factor = width_px / width if width_px is not None else (scale or 1.0)
    columns, rows = width * factor, height * factor
    if not columns * rows <= limits.max_pixels:  # this form is also correct for NaN
        raise build_pixel_limit_error(limits)
    pixel_width = width_px if width_px is not None else max(1, math.ceil(columns - 1e-6))
    pixel_height = max(1, math.ceil(rows - 1e-6))
    if pixel_width * pixel_height > limits.max_pixels:
        raise build_pixel_limit_error(limits)
    return pixel_width, pixel_height


def build_pixel_limit_error(limits: Limits) -> ParseFailed:
    """Return the failure for an image with more pixels than allowed."""
    message = f"An image has more than {limits.max_pixels} pixels."
    return ParseFailed("too_many_pixels", message)
