"""Read Word documents that contain only pictures, such as scans: one page per picture.

The pages have no text layer, like those of a scanned PDF.
"""

import io
from collections.abc import Iterator
from typing import Any, BinaryIO

from docx.opc.constants import RELATIONSHIP_TYPE
from PIL import Image, ImageOps

from app.engines.documents.layout import PAGE_HEIGHT, PAGE_WIDTH
from app.engines.documents.model import Limits, PageNotFound, ParseFailed
from app.engines.documents.readers.docx import find_related_parts, open_document
from app.engines.documents.readers.images import convert_to_opaque_rgb
from app.engines.documents.readers.pages import (
    SendPage,
    build_page,
    build_pixel_limit_error,
    compute_pixel_size,
)

_FORMATS = ("PNG", "JPEG", "TIFF", "WEBP", "GIF", "BMP")
_MARGIN = 36.0  # points around a picture
_RELATIONS = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
_BLIP = "{http://schemas.openxmlformats.org/drawingml/2006/main}blip"
_IMAGE_DATA = "{urn:schemas-microsoft-com:vml}imagedata"


def read_pages(file: BinaryIO, limits: Limits, send_page: SendPage) -> bool:
    """Send a page for each picture; return whether there are any. Raises `ParseFailed`."""
    count = 0
    for count, picture in enumerate(_open_pictures(file, limits), start=1):
        if count > limits.max_pages:
            message = f"The document has more than {limits.max_pages} pictures."
            raise ParseFailed("too_many_pages", message)
        picture.close()
        send_page(build_page(PAGE_WIDTH, PAGE_HEIGHT))
    return count > 0


def draw_page(
    file: BinaryIO, number: int, width_px: int | None, scale: float | None, limits: Limits
) -> Image.Image:
    """Return page `number` (from 1) with its picture on white.

    It is `width_px` pixels wide, or has `scale` pixels per point. Raises `PageNotFound`,
    `ParseFailed`.
    """
    size = compute_pixel_size(PAGE_WIDTH, PAGE_HEIGHT, width_px, scale, limits)
    count = 0
    for count, picture in enumerate(_open_pictures(file, limits), start=1):
        if count == number:
            return _draw_picture(picture, size)
    if count == 0:
        raise ParseFailed("empty_document", "The document has no text.")
    raise PageNotFound(number, count)


def _draw_picture(picture: Image.Image, size: tuple[int, int]) -> Image.Image:
    page = Image.new("RGB", size, "white")
    margin = round(_MARGIN * size[0] / PAGE_WIDTH)
    max_size = max(1, size[0] - 2 * margin), max(1, size[1] - 2 * margin)
    try:
        upright = convert_to_opaque_rgb(ImageOps.exif_transpose(picture))
    except (OSError, SyntaxError, ValueError, EOFError) as error:
        raise ParseFailed("unreadable", "A picture of the document is damaged.") from error
    fitted = ImageOps.contain(upright, max_size)
    page.paste(fitted, (margin, margin))
    return page


def _open_pictures(file: BinaryIO, limits: Limits) -> Iterator[Image.Image]:
    """Yield the pictures in document order; those in headers and footers come last."""
    part = open_document(file, limits).part
    outer_parts = find_related_parts(part, (RELATIONSHIP_TYPE.HEADER, RELATIONSHIP_TYPE.FOOTER))
    for source in [part, *outer_parts]:
        for data in _iterate_image_data(source):
            try:
                picture = Image.open(io.BytesIO(data), formats=_FORMATS)
            except Image.DecompressionBombError as error:
                raise build_pixel_limit_error(limits) from error
            except (OSError, SyntaxError, ValueError, EOFError):
                continue  # the format is not supported
            if picture.width * picture.height > limits.max_pixels:
                raise build_pixel_limit_error(limits)
            yield picture


def _iterate_image_data(part: Any) -> Iterator[bytes]:
    for element in part.element.iter(_BLIP, _IMAGE_DATA):
        relation = element.get(f"{_RELATIONS}embed") or element.get(f"{_RELATIONS}id")
        image = part.related_parts.get(relation)
        if image is not None:
            yield image.blob
