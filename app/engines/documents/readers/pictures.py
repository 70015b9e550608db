"""Read office documents that contain only pictures, such as scans: one page per picture.

The pages have no text layer, like the pages of a scanned PDF.
"""

import io
from collections.abc import Callable, Iterator
from typing import BinaryIO

from docx.opc.constants import RELATIONSHIP_TYPE
from docx.opc.part import Part as WordPart
from docx.opc.part import XmlPart
from lxml import etree  # type: ignore[import-untyped]
from PIL import Image, ImageOps
from pptx.opc.package import Part as PresentationPart

from app.engines.documents import media
from app.engines.documents.layout import PAGE_HEIGHT, PAGE_WIDTH
from app.engines.documents.model import Limits, PageNotFound, ParseFailed
from app.engines.documents.readers import docx, open_document, presentations
from app.engines.documents.readers.images import PILLOW_ERRORS, convert_to_opaque_rgb
from app.engines.documents.readers.pages import (
    ImageSize,
    SendPage,
    build_page,
    build_pixel_limit_error,
)

_PILLOW_FORMATS = ("PNG", "JPEG", "TIFF", "WEBP", "GIF", "BMP")
_MARGIN = 36.0  # points around a picture
_RELATIONS = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
_BLIP = "{http://schemas.openxmlformats.org/drawingml/2006/main}blip"
_IMAGE_DATA = "{urn:schemas-microsoft-com:vml}imagedata"


def read_pages(file: BinaryIO, media_type: str, limits: Limits, send_page: SendPage) -> bool:
    """Pass a page to `send_page` for each picture, and return whether there are any pictures.

    Pictures in unsupported formats are left out. Raises `ParseFailed`.
    """
    count = 0
    for count, picture in enumerate(_open_pictures(file, media_type, limits), start=1):
        if count > limits.max_pages:
            message = f"The document has more than {limits.max_pages} pictures."
            raise ParseFailed("too_many_pages", message)
        picture.close()
        send_page(build_page(PAGE_WIDTH, PAGE_HEIGHT))
    return count > 0


def render_page(
    file: BinaryIO, media_type: str, number: int, size: ImageSize, limits: Limits
) -> Image.Image:
    """Render page `number`, counted from 1, with its picture on a white background.

    Raises `PageNotFound` or `ParseFailed`.
    """
    size_px = size.compute_size_px(PAGE_WIDTH, PAGE_HEIGHT, limits)
    count = 0
    for count, picture in enumerate(_open_pictures(file, media_type, limits), start=1):
        if count == number:
            return _render_picture(picture, size_px)
    if count == 0:
        raise ParseFailed("empty_document", "The document has no text.")
    raise PageNotFound(number, count)


def _render_picture(picture: Image.Image, size_px: tuple[int, int]) -> Image.Image:
    page = Image.new("RGB", size_px, "white")
    margin = round(_MARGIN * size_px[0] / PAGE_WIDTH)
    max_size = max(1, size_px[0] - 2 * margin), max(1, size_px[1] - 2 * margin)
    try:
        upright_picture = convert_to_opaque_rgb(ImageOps.exif_transpose(picture))
    except PILLOW_ERRORS as error:
        raise ParseFailed("unreadable", "A picture in the document is damaged.") from error
    fitted_picture = ImageOps.contain(upright_picture, max_size)
    page.paste(fitted_picture, (margin, margin))
    return page


def _open_pictures(file: BinaryIO, media_type: str, limits: Limits) -> Iterator[Image.Image]:
    for data in _PICTURE_ITERATORS[media_type](file, limits):
        try:
            picture = Image.open(io.BytesIO(data), formats=_PILLOW_FORMATS)
        except Image.DecompressionBombError as error:
            raise build_pixel_limit_error(limits) from error
        except PILLOW_ERRORS:
            continue  # the format is not supported
        if picture.width * picture.height > limits.max_pixels:
            raise build_pixel_limit_error(limits)
        yield picture


def _iterate_word_pictures(file: BinaryIO, limits: Limits) -> Iterator[bytes]:
    """Yield the pictures in document order; pictures in headers and footers come last."""
    part = docx.open_document(file, limits).part
    outer_types = (RELATIONSHIP_TYPE.HEADER, RELATIONSHIP_TYPE.FOOTER)
    for source in [part, *docx.find_related_parts(part, outer_types)]:
        if not isinstance(source, XmlPart):
            raise ParseFailed(
                "unreadable", "The document is damaged: a header or footer cannot be read."
            )
        yield from _iterate_related_pictures(source, source.element)


def _iterate_slide_pictures(file: BinaryIO, limits: Limits) -> Iterator[bytes]:
    """Yield the pictures of the visible slides in drawing order."""
    for slide in presentations.list_slides(file, limits):
        yield from _iterate_related_pictures(slide.part, slide.element)


def _iterate_related_pictures(
    part: WordPart | PresentationPart, element: etree._Element
) -> Iterator[bytes]:
    """Yield the pictures that an element of `part` shows, in document order."""
    for picture in element.iter(_BLIP, _IMAGE_DATA):
        relation_id = picture.get(f"{_RELATIONS}embed") or picture.get(f"{_RELATIONS}id")
        relation = part.rels.get(relation_id)
        if relation is not None and not relation.is_external:
            yield relation.target_part.blob


_PICTURE_ITERATORS: dict[str, Callable[[BinaryIO, Limits], Iterator[bytes]]] = {
    media.DOCX: _iterate_word_pictures,
    media.PPTX: _iterate_slide_pictures,
    media.ODT: open_document.iterate_pictures,
}
MEDIA_TYPES = frozenset(_PICTURE_ITERATORS)
"""The media types whose pictures become pages if the document has no text."""
