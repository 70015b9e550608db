"""Detect whether a PDF page is a scan: a page that pictures cover."""

from collections.abc import Iterator
from itertools import islice

from pypdfium2 import PdfiumError, PdfPage, raw  # type: ignore[import-untyped]

_MAX_PICTURES = 1_000
_MAX_DEPTH = 3
_MIN_COVERED_FRACTION = 0.7
"""The minimum fraction of a scan that pictures cover. Some scanners store a page in strips."""


def is_covered_by_pictures(page: PdfPage) -> bool:
    """Return whether pictures cover most of a page, assuming that they do not overlap."""
    left, bottom, right, top = page.get_bbox()
    page_area = (right - left) * (top - bottom)
    covered_area = 0.0
    for x0, y0, x1, y1 in _iterate_picture_bounds(page):
        width = max(0.0, min(x1, right) - max(x0, left))
        covered_area += width * max(0.0, min(y1, top) - max(y0, bottom))
    return bool(covered_area >= _MIN_COVERED_FRACTION * page_area > 0)


def _iterate_picture_bounds(page: PdfPage) -> Iterator[tuple[float, float, float, float]]:
    pictures = page.get_objects(filter=[raw.FPDF_PAGEOBJ_IMAGE], max_depth=_MAX_DEPTH)
    for picture in islice(pictures, _MAX_PICTURES):
        try:
            yield picture.get_bounds()
        except PdfiumError:  # The picture has no position on the page.
            continue
