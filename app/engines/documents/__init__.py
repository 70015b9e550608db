"""Convert untrusted files to text, pages, words with boxes, and page images.

Files are read in a sandboxed process with limits on memory, processor time, waiting time, pages and
pixels, so that a decompression bomb or a crash only affects that document. The supported formats,
their limits and the meaning of offsets are described in docs/contributors/documents.md.
"""

import operator
from array import array
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any, Literal

import orjson

from app.engines.documents import frames
from app.engines.documents.layout import check_text_limits, lay_out_pages
from app.engines.documents.media import MEDIA_TYPES
from app.engines.documents.model import (
    DEFAULT_LIMITS,
    Attachment,
    DocumentSummary,
    Limits,
    Page,
    PageNotFound,
    ParsedDocument,
    ParseFailed,
    UnsupportedMediaType,
    Word,
)
from app.engines.documents.processes import build_invalid_result_error, call_entry
from app.engines.documents.text import replace_unstorable_chars

ImageFormat = Literal["png", "jpeg", "webp"]
_LANGUAGE_CODE_BYTES = 2
_MAX_NAME_CHARS = 255
_PAGE_PROPERTIES: dict[str, Callable[[Any], Any]] = {
    "width": float,
    "height": float,
    "rotation": int,
    "has_text_layer": bool,
    "is_blank": bool,
    "is_scan": bool,
}


def parse(path: Path, media_type: str, limits: Limits = DEFAULT_LIMITS) -> ParsedDocument:
    """Parse a file, and return its text, pages and language.

    Takes the same arguments as `parse_stream` except `on_page`, and raises the same errors.
    """
    pages: list[Page] = []
    summary = parse_stream(path, media_type, limits, pages.append)
    return ParsedDocument(summary.text, pages, summary.language)


def parse_stream(
    path: Path, media_type: str, limits: Limits, on_page: Callable[[Page], None]
) -> DocumentSummary:
    """Parse a file, and pass its pages to `on_page` one by one, in order.

    `media_type` is the result of `detect_media_type`. Returns the document's text, the number of
    pages and the language. The time limits exclude the time spent in `on_page`. Exceptions raised
    by `on_page` propagate.

    Raises `ParseFailed` if the file cannot be read within `limits`, possibly after pages have been
    passed, `UnsupportedMediaType` for a media type that is not in `MEDIA_TYPES`, and
    `SandboxUnavailable` if no process could be started.
    """
    check_media_type(media_type)
    page_texts: list[str] = []
    unpaged_text: str | None = None
    start = 0
    with call_entry("parse_document", path, {"media_type": media_type}, limits) as received_frames:
        for frame_type, payload in received_frames:
            if frame_type == frames.PAGES and unpaged_text is None:
                for data in payload.split(b"\n", limits.max_pages):
                    page = decode_page(data, len(page_texts) + 1, start, limits)
                    page_texts.append(page.text)
                    start = page.end + 1
                    _check_size(len(page_texts), start, limits)
                    on_page(page)
            elif frame_type == frames.TEXT and unpaged_text is None and not page_texts:
                unpaged_text = check_text_limits(
                    replace_unstorable_chars(payload.decode("utf-8", "replace")), limits
                )
            elif frame_type == frames.LANGUAGE and (page_texts or unpaged_text is not None):
                language = _decode_language(payload)
                if unpaged_text is not None:
                    return _pass_virtual_pages(unpaged_text, language, limits, on_page)
                return DocumentSummary("\f".join(page_texts), len(page_texts), language)
            else:
                break
    raise build_invalid_result_error()


def _check_size(page_count: int, end: int, limits: Limits) -> None:
    """Raise `ParseFailed` if there are too many pages, or if their text is too long.

    `end` is the offset after the last page and its separator in the document's text.
    """
    if page_count > limits.max_pages:
        raise build_invalid_result_error()
    if end > limits.max_text_chars + page_count:
        message = f"The text is longer than {limits.max_text_chars} characters."
        raise ParseFailed("too_large_unpacked", message)


def render(
    path: Path,
    media_type: str,
    page_number: int,
    *,
    width_px: int,
    format: ImageFormat = "png",  # noqa: A002 - the usual name for an image's encoding
    limits: Limits = DEFAULT_LIMITS,
) -> bytes:
    """Render one page as it is displayed, and return an image file in `format`.

    Page numbers start at 1. The image is `width_px` pixels wide.

    Raises `PageNotFound` if there is no such page, `ParseFailed` if the page cannot be rendered
    (`too_many_pixels` if the image would have more than `limits.max_pixels` pixels),
    `UnsupportedMediaType` for a media type that is not in `MEDIA_TYPES`, `SandboxUnavailable` if no
    process could be started, and ValueError if `width_px` is not positive.
    """
    check_media_type(media_type)
    if width_px <= 0:
        raise ValueError("width_px must be positive")
    arguments = {
        "media_type": media_type,
        "page": page_number,
        "width_px": width_px,
        "format": format,
    }
    with call_entry("render_page", path, arguments, limits) as received_frames:
        frame_type, payload = next(received_frames, (b"", b""))
        if frame_type == frames.IMAGE:
            return payload
        if frame_type == frames.PAGE_NOT_FOUND:
            raise PageNotFound(page_number, _decode_page_count(payload))
    raise build_invalid_result_error()


def render_text(
    text: str,
    *,
    width_px: int,
    format: ImageFormat = "png",  # noqa: A002 - as in `render`
    limits: Limits = DEFAULT_LIMITS,
) -> bytes:
    """Lay out `text` on virtual A4 pages, and return an image file of the first page in `format`.

    The image is `width_px` pixels wide. Raises `ParseFailed` if the page cannot be rendered, for
    example `too_many_pixels`, and `SandboxUnavailable` if no process could be started.
    """
    with NamedTemporaryFile() as file:
        file.write(text.encode())
        file.flush()
        arguments = {"width_px": width_px, "format": format}
        with call_entry("render_text", Path(file.name), arguments, limits) as received_frames:
            frame_type, payload = next(received_frames, (b"", b""))
            if frame_type == frames.IMAGE:
                return payload
    raise build_invalid_result_error()


def iterate_attachments(path: Path, media_type: str) -> Iterator[Attachment]:
    """Yield the attachments and forwarded messages of an email, or the emails in a mailbox.

    `media_type` is one of `MAIL_TYPES`. At most `attachments.MAX_ATTACHMENTS` are read. Only the
    last `_MAX_NAME_CHARS` characters of a name are kept. Empty files, and small pictures inside the
    text, such as logos, are left out. Raises `ParseFailed` if the file cannot be read, and
    `SandboxUnavailable` if no process could be started.
    """
    with call_entry(
        "extract_attachments", path, {"media_type": media_type}, DEFAULT_LIMITS
    ) as received_frames:
        for frame_type, payload in received_frames:
            content_type, content = next(received_frames, (b"", b""))
            if (frame_type, content_type) != (frames.ATTACHMENT, frames.CONTENT):
                raise build_invalid_result_error()
            name = replace_unstorable_chars(payload.decode("utf-8", "replace"))
            yield Attachment(name[-_MAX_NAME_CHARS:], content)


def check_media_type(media_type: str) -> None:
    """Raise `UnsupportedMediaType` for a media type that is not in `MEDIA_TYPES`."""
    if media_type not in MEDIA_TYPES:
        raise UnsupportedMediaType(media_type, None)


def _pass_virtual_pages(
    text: str, language: str | None, limits: Limits, on_page: Callable[[Page], None]
) -> DocumentSummary:
    """Lay out `text` on virtual pages, pass each page to `on_page`, and return the summary."""
    count = 0
    for page in lay_out_pages(text, limits):
        on_page(page)
        count = page.number
    return DocumentSummary(text, count, language)


def _decode_language(payload: bytes) -> str | None:
    if not payload:
        return None
    if len(payload) == _LANGUAGE_CODE_BYTES and payload.isalpha() and payload.islower():
        return payload.decode("ascii")
    raise build_invalid_result_error()


def _decode_page_count(payload: bytes) -> int:
    try:
        return int(orjson.loads(payload)["count"])
    except (KeyError, TypeError, ValueError) as error:
        raise build_invalid_result_error() from error


def decode_page(payload: bytes, number: int, start: int, limits: Limits) -> Page:
    """Decode and validate a page from a process that an untrusted file may have taken over.

    `number` is the page number, and `start` is the offset of the page in the document's text.
    Raises `ParseFailed` (`crashed`) if the page is invalid.
    """
    try:
        page_data = orjson.loads(payload)
        text = replace_unstorable_chars(page_data["text"])
        starts, ends = array("I", page_data["starts"]), array("I", page_data["ends"])
        boxes = array("I", page_data["boxes"])
        properties = {name: type_(page_data[name]) for name, type_ in _PAGE_PROPERTIES.items()}
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise build_invalid_result_error() from error
    if len(starts) > limits.max_words_per_page or not _are_words_valid(
        len(text), starts, ends, boxes
    ):
        raise build_invalid_result_error()

    def build_words() -> list[Word]:
        sides = (side / frames.BOX_UNITS for side in boxes)
        return [
            Word(text[a:b], (x0, y0, x1, y1), start + a, start + b)
            for a, b, x0, y0, x1, y1 in zip(starts, ends, sides, sides, sides, sides, strict=True)
        ]

    return Page(number=number, start=start, text=text, build_words=build_words, **properties)


def _are_words_valid(
    text_length: int, starts: "array[int]", ends: "array[int]", boxes: "array[int]"
) -> bool:
    """Return whether the arrays of a page's words have matching lengths and valid values.

    A word is a non-empty range within the `text_length` characters, with a box on the page.
    """
    if not len(starts) == len(ends) == len(boxes) / 4:
        return False
    if not starts:
        return True
    is_inside = max(ends) <= text_length and max(boxes) <= frames.BOX_UNITS
    return is_inside and all(map(operator.lt, starts, ends))
