"""Read images with Pillow: sizes, rotations and frames, without recognizing text."""

import math
import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO

import pi_heif
from PIL import Image, ImageOps

from app.engines.documents import media
from app.engines.documents.model import Limits, PageNotFound, ParseFailed
from app.engines.documents.readers.pages import (
    ImageSize,
    PageData,
    SendPage,
    build_page,
    build_pixel_limit_error,
)

_PILLOW_FORMATS = {
    media.PNG: "PNG",
    media.JPEG: "JPEG",
    media.TIFF: "TIFF",
    media.WEBP: "WEBP",
    media.GIF: "GIF",
    media.BMP: "BMP",
    media.HEIC: "HEIF",
}
pi_heif.register_heif_opener()
PILLOW_ERRORS = (OSError, SyntaxError, ValueError, EOFError)
"""The errors that Pillow raises for a damaged file or an unknown format."""
_ORIENTATION_TAG = 0x0112
# For each EXIF orientation, the clockwise rotation in degrees that makes the image upright. Some
# orientations also mirror the image.
_ROTATIONS = {3: 180, 4: 180, 5: 90, 6: 90, 7: 270, 8: 270}
_FIRST_SIDEWAYS_ORIENTATION = 5
_POINTS_PER_INCH = 72.0
_HEADER_BYTES, _LONG_HEADER_BYTES = 8, 16  # of the boxes of a HEIC file
_MAX_HEIC_BOXES = 10_000
_MIN_DPI, _MAX_DPI = 36.0, 4800.0


def read_pages(file: BinaryIO, media_type: str, limits: Limits, send_page: SendPage) -> None:
    """Read an image, and pass it to `send_page` as a page without words. Raises `ParseFailed`.

    Each frame of a TIFF is a page. Only the first frame of an animation is read.
    """
    with _open_image(file, media_type, limits) as image:
        for index in range(_count_frames(image, media_type, limits)):
            send_page(_read_page(image, index, media_type, limits))


def render_page(
    file: BinaryIO, media_type: str, number: int, size: ImageSize, limits: Limits
) -> Image.Image:
    """Render frame `number` of an image, counted from 1, upright on a white background.

    Raises `PageNotFound` or `ParseFailed`.
    """
    with _open_image(file, media_type, limits) as image:
        count = _count_frames(image, media_type, limits)
        if not 1 <= number <= count:
            raise PageNotFound(number, count)
        _select_frame(image, number - 1, media_type, limits)
        width, height, _ = _measure_displayed_page(image, media_type)
        size_px = size.compute_size_px(width, height, limits)
        image.load()
        picture = convert_to_opaque_rgb(ImageOps.exif_transpose(image))
        return picture if picture.size == size_px else picture.resize(size_px, reducing_gap=2.0)


@contextmanager
def _open_image(file: BinaryIO, media_type: str, limits: Limits) -> Iterator[Image.Image]:
    Image.MAX_IMAGE_PIXELS = limits.max_pixels
    warnings.simplefilter("ignore", Image.DecompressionBombWarning)  # every frame is checked below
    if media_type == media.HEIC and not _is_complete_heic(file):
        raise _build_damage_error()
    try:
        with Image.open(file, formats=[_PILLOW_FORMATS[media_type]]) as image:
            yield image
    except Image.DecompressionBombError as error:
        raise build_pixel_limit_error(limits) from error
    except PILLOW_ERRORS as error:
        raise _build_damage_error() from error


def _is_complete_heic(file: BinaryIO) -> bool:
    """Return whether a HEIC file is complete, and rewind the file.

    This check is necessary, because libheif accepts truncated files. In a complete file, the last
    box (ISO/IEC 14496-12, 4.2) ends at the end of the file.
    """
    end = file.seek(0, os.SEEK_END)
    start = box_count = 0
    while start < end and box_count < _MAX_HEIC_BOXES:
        file.seek(start)
        header = file.read(_LONG_HEADER_BYTES)
        size = int.from_bytes(header[:4], "big")
        min_size = _HEADER_BYTES
        if size == 1:  # the size follows the type
            size, min_size = int.from_bytes(header[8:], "big"), _LONG_HEADER_BYTES
        elif size == 0:  # up to the end of the file
            size = end - start
        if size < min_size:
            break
        start += size
        box_count += 1
    file.seek(0)
    return start == end


def _build_damage_error() -> ParseFailed:
    return ParseFailed(
        "unreadable", "The image is damaged, incomplete or not of the declared type."
    )


def _count_frames(image: Image.Image, media_type: str, limits: Limits) -> int:
    # The frames of a TIFF are pages. In other formats, frames are an animation; the first is used.
    count = int(getattr(image, "n_frames", 1)) if media_type == media.TIFF else 1
    if count > limits.max_pages:
        message = f"The image has {count} frames; the maximum is {limits.max_pages}."
        raise ParseFailed("too_many_pages", message)
    return count


def _select_frame(image: Image.Image, index: int, media_type: str, limits: Limits) -> None:
    if media_type == media.TIFF:
        image.seek(index)
    if image.width * image.height > limits.max_pixels:
        raise build_pixel_limit_error(limits)


def _read_page(image: Image.Image, index: int, media_type: str, limits: Limits) -> PageData:
    _select_frame(image, index, media_type, limits)
    width, height, rotation = _measure_displayed_page(image, media_type)
    if media_type == media.JPEG:
        # a reduced size is enough to verify that the image is complete
        image.draft("L", (image.width // 8, image.height // 8))
    image.load()
    return build_page(width, height, rotation)


def _measure_displayed_page(image: Image.Image, media_type: str) -> tuple[float, float, int]:
    """Return the upright width and height in points, and the clockwise rotation in degrees."""
    dpi_x, dpi_y = _get_resolution(image)
    orientation = image.getexif().get(_ORIENTATION_TAG, 1)
    width, height = image.size
    if orientation in _ROTATIONS and orientation >= _FIRST_SIDEWAYS_ORIENTATION:
        dpi_x, dpi_y = dpi_y, dpi_x
        if media_type != media.TIFF:  # for TIFF, Pillow returns the upright size
            width, height = height, width
    size = width / dpi_x * _POINTS_PER_INCH, height / dpi_y * _POINTS_PER_INCH
    return *size, _ROTATIONS.get(orientation, 0)


def _get_resolution(image: Image.Image) -> tuple[float, float]:
    """Return the pixels per inch (x, y), or 72 for both if the file has no plausible values."""
    try:
        dpi_x, dpi_y = (float(value) for value in image.info.get("dpi", ()))
    except (TypeError, ValueError, ZeroDivisionError):
        return _POINTS_PER_INCH, _POINTS_PER_INCH
    is_plausible = all(
        math.isfinite(value) and _MIN_DPI <= value <= _MAX_DPI for value in (dpi_x, dpi_y)
    )
    return (dpi_x, dpi_y) if is_plausible else (_POINTS_PER_INCH, _POINTS_PER_INCH)


def convert_to_opaque_rgb(image: Image.Image) -> Image.Image:
    """Convert an image to RGB on a white background, reducing 16-bit channels to 8 bits."""
    if image.mode.startswith("I"):
        image = image.convert("I").point([value >> 8 for value in range(65536)], "L")
    if image.has_transparency_data:
        layer = image.convert("RGBA")
        white = Image.new("RGBA", layer.size, "white")
        return Image.alpha_composite(white, layer).convert("RGB")
    return image.convert("RGB")
