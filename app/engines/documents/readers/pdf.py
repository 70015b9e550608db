"""Read PDF with pdfium: the text layer with boxes, and page images.

Form fields, text annotations and stamps belong to the displayed page, so they are merged into the
page before it is read or rendered.
"""

from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, BinaryIO

import pypdfium2 as pdfium  # type: ignore[import-untyped]
from pypdfium2 import raw

from app.engines.documents.model import Limits, PageNotFound, ParseFailed
from app.engines.documents.readers import pdf_text, pdf_words
from app.engines.documents.readers.pages import ImageSize, PageData, SendPage, build_page

if TYPE_CHECKING:
    from PIL import Image

_MERGEABLE_TYPES = (raw.FPDF_ANNOT_WIDGET, raw.FPDF_ANNOT_FREETEXT, raw.FPDF_ANNOT_STAMP)
_MAX_ANNOTATIONS = 10_000
_MAX_DATA_BYTES = 16 << 20
"""The maximum size of a file that is read as a whole; pdfium reads larger files in small parts."""
_MAX_PICTURES = 1_000
_MAX_PICTURE_DEPTH = 3
_MIN_COVERED_FRACTION = 0.7
"""The minimum fraction of a scan that pictures cover. Some scanners store a page in strips."""
_MAX_SCAN_WORDS = 20
"""The maximum number of words on a page that counts as a scan. Scanning programs may add words."""


def read_pages(file: BinaryIO, limits: Limits, send_page: SendPage) -> None:
    """Read the pages of a PDF in order, and pass each page to `send_page`.

    Raises `ParseFailed`, or `PdfiumError` if the text of a page cannot be loaded.
    """
    document = _open_document(file)
    count = len(document)
    if count == 0:
        raise ParseFailed("empty_document", "The document has no pages.")
    if count > limits.max_pages:
        message = f"The document has {count} pages; the maximum is {limits.max_pages}."
        raise ParseFailed("too_many_pages", message)
    for index in range(count):
        page = _load_page(document, index)
        send_page(_read_page(page, limits))
        page.close()


def render_page(file: BinaryIO, number: int, size: ImageSize, limits: Limits) -> "Image.Image":
    """Render page `number`, counted from 1, rotated as it is displayed.

    Raises `PageNotFound` or `ParseFailed`.
    """
    document = _open_document(file)
    if not 1 <= number <= len(document):
        raise PageNotFound(number, len(document))
    page = _load_page(document, number - 1)
    size_px = size.compute_size_px(page.get_width(), page.get_height(), limits)
    bitmap = pdfium.PdfBitmap.new_native(*size_px, raw.FPDFBitmap_BGRx)
    bitmap.fill_rect((255, 255, 255, 255), 0, 0, *size_px)
    raw.FPDF_RenderPageBitmap(bitmap, page, 0, 0, *size_px, 0, raw.FPDF_ANNOT)
    picture: Image.Image = bitmap.to_pil().convert("RGB")
    return picture


def _open_document(file: BinaryIO) -> pdfium.PdfDocument:
    data = file.read(_MAX_DATA_BYTES + 1)
    if len(data) > _MAX_DATA_BYTES:
        file.seek(0)
    try:
        document = pdfium.PdfDocument(file if len(data) > _MAX_DATA_BYTES else data)
        document.init_forms()
    except pdfium.PdfiumError as error:
        if getattr(error, "err_code", None) in (raw.FPDF_ERR_PASSWORD, raw.FPDF_ERR_SECURITY):
            message = "The document is protected by a password."
            raise ParseFailed("password_protected", message) from error
        raise ParseFailed("unreadable", "The file is damaged or not a PDF.") from error
    return document


def _load_page(document: pdfium.PdfDocument, index: int) -> pdfium.PdfPage:
    """Return a page with its form fields, text annotations and stamps merged into it."""
    try:
        page = document[index]
        if _has_mergeable_annotations(page) and raw.FPDFPage_Flatten(
            page, raw.FLAT_NORMALDISPLAY
        ) == (raw.FLATTEN_SUCCESS):
            page.close()
            page = document[index]
    except pdfium.PdfiumError as error:
        raise ParseFailed("unreadable", f"Page {index + 1} is damaged.") from error
    return page


def _has_mergeable_annotations(page: pdfium.PdfPage) -> bool:
    for index in range(min(raw.FPDFPage_GetAnnotCount(page), _MAX_ANNOTATIONS)):
        annotation = raw.FPDFPage_GetAnnot(page, index)
        annotation_type = raw.FPDFAnnot_GetSubtype(annotation) if annotation else None
        raw.FPDFPage_CloseAnnot(annotation)
        if annotation_type in _MERGEABLE_TYPES:
            return True
    return False


def _read_page(page: pdfium.PdfPage, limits: Limits) -> PageData:
    width, height = page.get_size()
    text_page = raw.FPDFText_LoadPage(page)
    if not text_page:
        raise pdfium.PdfiumError("Failed to load the text of a page.")
    try:
        words_by_direction = pdf_words.read_words(page, text_page, limits)
    finally:
        raw.FPDFText_ClosePage(text_page)
    text, words = pdf_text.compose_text(words_by_direction, width, height)
    return build_page(
        width,
        height,
        page.get_rotation(),
        text,
        words,
        is_blank=not words and raw.FPDFPage_CountObjects(page) <= 0,
        is_scan=0 < len(words) <= _MAX_SCAN_WORDS and _is_covered_by_pictures(page),
    )


def _is_covered_by_pictures(page: pdfium.PdfPage) -> bool:
    """Return whether pictures cover most of a page, assuming that they do not overlap."""
    left, bottom, right, top = page.get_bbox()
    page_area = (right - left) * (top - bottom)
    covered_area = 0.0
    for x0, y0, x1, y1 in _iterate_picture_bounds(page):
        width = max(0.0, min(x1, right) - max(x0, left))
        covered_area += width * max(0.0, min(y1, top) - max(y0, bottom))
    return bool(covered_area >= _MIN_COVERED_FRACTION * page_area > 0)


def _iterate_picture_bounds(page: pdfium.PdfPage) -> Iterator[tuple[float, float, float, float]]:
    pictures = page.get_objects(filter=[raw.FPDF_PAGEOBJ_IMAGE], max_depth=_MAX_PICTURE_DEPTH)
    for picture in islice(pictures, _MAX_PICTURES):
        try:
            yield picture.get_bounds()
        except pdfium.PdfiumError:  # The picture has no position on the page.
            continue
