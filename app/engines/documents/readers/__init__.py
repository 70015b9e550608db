"""Call the reader for each media type; this code runs only in sandboxed processes."""

import os
from collections.abc import Callable
from typing import Any, BinaryIO

from PIL import Image

from app.engines.documents import media
from app.engines.documents.layout import check_text_limits, paginate
from app.engines.documents.model import Limits, PageNotFound, ParseFailed
from app.engines.documents.readers import (
    books,
    docx,
    drawing,
    html,
    images,
    mail,
    open_document,
    open_spreadsheets,
    outlook,
    pdf,
    pictures,
    presentations,
    rich_text,
    spreadsheets,
)
from app.engines.documents.readers.pages import ImageSize, SendPage
from app.engines.documents.text import decode_text, normalize_text

_ARCHIVE_READERS: dict[str, Callable[[BinaryIO, Limits], str]] = {
    media.DOCX: docx.extract_text,
    media.PPTX: presentations.extract_text,
    media.ODT: open_document.extract_text,
    media.ODS: open_spreadsheets.extract_text,
    media.EPUB: books.extract_text,
}


def read_document(
    file: BinaryIO,
    media_type: str,
    limits: Limits,
    send_page: SendPage,
    send_text: Callable[[str], None],
) -> None:
    """Read a document, and send its pages one by one, or its whole text if it has no pages.

    The pictures of a DOCX, PPTX or ODT file without text are sent as pages. Raises `ParseFailed` if
    the document cannot be read.
    """
    _check_not_empty(file)
    if media_type == media.PDF:
        pdf.read_pages(file, limits, send_page)
    elif media_type in media.IMAGE_TYPES:
        images.read_pages(file, media_type, limits, send_page)
    elif media_type in pictures.MEDIA_TYPES:
        text = _ARCHIVE_READERS[media_type](file, limits)
        if _has_text(text) or not pictures.read_pages(file, media_type, limits, send_page):
            send_text(check_text_limits(text, limits))
    else:
        send_text(_read_unpaged_text(file, media_type, limits))


def render_page(file: BinaryIO, arguments: dict[str, Any], limits: Limits) -> Image.Image:
    """Render one page to an image. Raises `PageNotFound` or `ParseFailed`.

    `arguments` has the keys `media_type`, `page` (a page number; the first page is 1), and either
    `width_px` or `scale` (pixels per point).
    """
    _check_not_empty(file)
    media_type, number = arguments["media_type"], arguments["page"]
    size = ImageSize(arguments.get("width_px"), arguments.get("scale"))
    if media_type == media.PDF:
        return pdf.render_page(file, number, size, limits)
    if media_type in media.IMAGE_TYPES:
        return images.render_page(file, media_type, number, size, limits)
    if media_type in pictures.MEDIA_TYPES:
        text = _ARCHIVE_READERS[media_type](file, limits)
        if not _has_text(text):
            return pictures.render_page(file, media_type, number, size, limits)
    else:
        text = _read_unpaged_text(file, media_type, limits)
    count = 0
    for count, virtual_page in enumerate(paginate(text), start=1):
        if count == number:
            return drawing.render_virtual_page(text, virtual_page, size, limits)
    raise PageNotFound(number, count)


def _check_not_empty(file: BinaryIO) -> None:
    if _get_size(file) == 0:
        raise ParseFailed("empty_document", "The file is empty.")


def _get_size(file: BinaryIO) -> int:
    return os.fstat(file.fileno()).st_size


def _has_text(text: str) -> bool:
    return bool(text) and not text.isspace()


def _read_unpaged_text(file: BinaryIO, media_type: str, limits: Limits) -> str:
    """Return the text of a file without pages, such as an email. Raises `ParseFailed`."""
    if media_type in media.SPREADSHEET_TYPES:
        return check_text_limits(spreadsheets.extract_text(file, media_type, limits), limits)
    if media_type in _ARCHIVE_READERS:
        return check_text_limits(_ARCHIVE_READERS[media_type](file, limits), limits)
    max_bytes = limits.max_unpacked_bytes
    if media_type in media.VERBATIM_TYPES:
        # Four bytes are the maximum per character in all supported encodings.
        max_bytes = 4 * limits.max_text_chars
    if _get_size(file) > max_bytes + 4:
        raise ParseFailed("too_large_unpacked", f"The file is larger than {max_bytes} bytes.")
    data = file.read()
    if media_type == media.HTML:
        text = normalize_text(html.extract_text(data))
    elif media_type == media.RTF:
        text = rich_text.extract_text(data)
    elif media_type == media.MAIL:
        text = normalize_text(mail.extract_text(data))
    elif media_type == media.MSG:
        text = normalize_text(mail.MailText(outlook.read_message(data)).build_text())
    else:
        text = decode_text(data)
    return check_text_limits(text, limits)
