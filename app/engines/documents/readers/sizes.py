"""Compute the size of an image in pixels."""

import math

from app.engines.documents.model import Limits, ParseFailed


def compute_pixel_size(
    width: float, height: float, width_px: int | None, scale: float | None, limits: Limits
) -> tuple[int, int]:
    """Return width and height in pixels for a page of width x height points.

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
