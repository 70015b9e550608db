"""Read images with Pillow: sizes, rotations and frames. Text recognition is done elsewhere."""

import math
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import BinaryIO

from PIL import Image, ImageOps

from app.engines.documents import media
from app.engines.documents.model import Limits, PageNotFound, ParseFailed
from app.engines.documents.readers.sizes import pixels, too_many

_FORMATS = {media.PNG: "PNG", media.JPEG: "JPEG", media.TIFF: "TIFF", media.WEBP: "WEBP"}
_ORIENTATION = 0x0112
# Clockwise rotation in degrees that makes each EXIF orientation upright; some are also mirrored.
_TURNS = {3: 180, 4: 180, 5: 90, 6: 90, 7: 270, 8: 270}
_SIDEWAYS = 5
_POINTS_PER_INCH = 72.0
_LEAST_DPI, _MOST_DPI = 36.0, 4800.0


def read(
    file: BinaryIO, media_type: str, limits: Limits, send: Callable[[dict[str, object]], None]
) -> None:
    """Send each frame as a page without words. Raises `ParseFailed`."""
    with _open_image(file, media_type, limits) as image:
        for index in range(_frame_count(image, media_type, limits)):
            send(_page(image, index, media_type, limits))


def render(
    file: BinaryIO,
    media_type: str,
    number: int,
    width_px: int | None,
    scale: float | None,
    limits: Limits,
) -> Image.Image:
    """Return one frame, upright, on white. Raises `PageNotFound`, `ParseFailed`."""
    with _open_image(file, media_type, limits) as image:
        count = _frame_count(image, media_type, limits)
        if not 1 <= number <= count:
            raise PageNotFound(number, count)
        _seek(image, number - 1, media_type, limits)
        width, height, _ = _measure_displayed(image, media_type)
        size = pixels(width, height, width_px, scale, limits)
        image.load()
        picture = opaque(ImageOps.exif_transpose(image))
        return picture if picture.size == size else picture.resize(size, reducing_gap=2.0)


@contextmanager
def _open_image(file: BinaryIO, media_type: str, limits: Limits) -> Iterator[Image.Image]:
    Image.MAX_IMAGE_PIXELS = limits.max_pixels
    warnings.simplefilter("ignore", Image.DecompressionBombWarning)  # every frame is checked below
    try:
        with Image.open(file, formats=[_FORMATS[media_type]]) as image:
            yield image
    except Image.DecompressionBombError as error:
        raise too_many(limits) from error
    except (OSError, SyntaxError, ValueError, EOFError) as error:
        message = "The image is damaged, incomplete or of another type."
        raise ParseFailed("unreadable", message) from error


def _frame_count(image: Image.Image, media_type: str, limits: Limits) -> int:
    # The frames of a TIFF are pages; other formats are animated, and only the first frame is used.
    count = int(getattr(image, "n_frames", 1)) if media_type == media.TIFF else 1
    if count > limits.max_pages:
        message = f"The image has {count} frames; at most {limits.max_pages} are read."
        raise ParseFailed("too_many_pages", message)
    return count


def _seek(image: Image.Image, index: int, media_type: str, limits: Limits) -> None:
    if media_type == media.TIFF:
        image.seek(index)
    if image.width * image.height > limits.max_pixels:
        raise too_many(limits)


def _page(image: Image.Image, index: int, media_type: str, limits: Limits) -> dict[str, object]:
    _seek(image, index, media_type, limits)
    width, height, rotation = _measure_displayed(image, media_type)
    if media_type == media.JPEG:
        # enough to verify that the image is complete
        image.draft("L", (image.width // 8, image.height // 8))
    image.load()
    return {
        "width": round(width, 3),
        "height": round(height, 3),
        "rotation": rotation,
        "text": "",
        "has_text_layer": False,
        "starts": [],
        "ends": [],
        "boxes": [],
    }


def _measure_displayed(image: Image.Image, media_type: str) -> tuple[float, float, int]:
    """Return the upright width and height in points, and the clockwise rotation in degrees."""
    across, down = _resolution(image)
    orientation = image.getexif().get(_ORIENTATION, 1)
    width, height = image.size
    if orientation in _TURNS and orientation >= _SIDEWAYS:
        across, down = down, across
        if media_type != media.TIFF:  # for TIFF, Pillow returns the upright size
            width, height = height, width
    points = width / across * _POINTS_PER_INCH, height / down * _POINTS_PER_INCH
    return *points, _TURNS.get(orientation, 0)


def _resolution(image: Image.Image) -> tuple[float, float]:
    """Return the pixels per inch, or 72 if the file has no plausible value."""
    try:
        across, down = (float(value) for value in image.info.get("dpi", ()))
    except (TypeError, ValueError, ZeroDivisionError):
        return _POINTS_PER_INCH, _POINTS_PER_INCH
    sensible = all(
        math.isfinite(value) and _LEAST_DPI <= value <= _MOST_DPI for value in (across, down)
    )
    return (across, down) if sensible else (_POINTS_PER_INCH, _POINTS_PER_INCH)


def opaque(image: Image.Image) -> Image.Image:
    """Convert an image to RGB on white, reducing 16-bit channels to 8 bits."""
    if image.mode.startswith("I"):
        image = image.convert("I").point([value >> 8 for value in range(65536)], "L")
    if image.has_transparency_data:
        layer = image.convert("RGBA")
        white = Image.new("RGBA", layer.size, "white")
        return Image.alpha_composite(white, layer).convert("RGB")
    return image.convert("RGB")
