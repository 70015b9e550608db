"""The readers of each media type. They run in the child process only; imported one at a time."""

from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from app.engines.documents import frames, media
from app.engines.documents.layout import check_text, paginate
from app.engines.documents.model import Limits, PageNotFound, ParseFailed

if TYPE_CHECKING:
    from PIL.Image import Image

Send = Callable[[bytes, bytes], None]
_QUALITY = {"jpeg": {"quality": 85}, "webp": {"quality": 80}, "png": {}}


def read(path: Path, media_type: str, limits: Limits, send: Send) -> None:
    """Read a document and send it: page by page, or its text where it has no pages."""
    if path.stat().st_size == 0:
        raise ParseFailed("empty_document", "The file is empty.")
    if media_type == media.PDF:
        from app.engines.documents.readers import pdf  # noqa: PLC0415

        pdf.read(path, limits, lambda page: send(frames.PAGE, page))
    elif media_type in media.IMAGES:
        from app.engines.documents.readers import images  # noqa: PLC0415

        images.read(path, media_type, limits, lambda page: send(frames.PAGE, page))
    else:
        send(frames.TEXT, flowing_text(path, media_type, limits).encode())


def flowing_text(path: Path, media_type: str, limits: Limits) -> str:
    """The whole text of a document without pages of its own."""
    if media_type == media.DOCX:
        from app.engines.documents.readers import docx  # noqa: PLC0415

        text = docx.text(path, limits)
    else:
        text = _from_bytes(path, media_type, limits)
    return check_text(text, limits)


def _from_bytes(path: Path, media_type: str, limits: Limits) -> str:
    from app.engines.documents.text import decode  # noqa: PLC0415

    # Four bytes at most for a character, in every encoding known here.
    most = 4 * limits.max_text_chars if media_type in media.TEXTS else limits.max_unpacked_bytes
    if path.stat().st_size > most + 4:
        raise ParseFailed("too_large_unpacked", f"The file is longer than {most} bytes.")
    data = path.read_bytes()
    if media_type == media.HTML:
        from app.engines.documents.readers import html  # noqa: PLC0415

        return html.text(data)
    if media_type == media.MAIL:
        from app.engines.documents.readers import mail  # noqa: PLC0415

        return mail.text(data)
    return decode(data)


def render(path: Path, asked: dict[str, Any], limits: Limits) -> bytes:
    """Draw the page that is asked for; the bytes of the image file."""
    if path.stat().st_size == 0:
        raise ParseFailed("empty_document", "The file is empty.")
    image = _picture(path, asked, limits)
    out = BytesIO()
    image.save(out, asked["format"], **_QUALITY[asked["format"]])
    return out.getvalue()


def _picture(path: Path, asked: dict[str, Any], limits: Limits) -> "Image":
    media_type, number = asked["media_type"], asked["page"]
    width, scale = asked["width_px"], asked["scale"]
    if media_type == media.PDF:
        from app.engines.documents.readers import pdf  # noqa: PLC0415

        return pdf.render(path, number, width, scale, limits)
    if media_type in media.IMAGES:
        from app.engines.documents.readers import images  # noqa: PLC0415

        return images.render(path, media_type, number, width, scale, limits)
    from app.engines.documents.readers import drawing  # noqa: PLC0415

    text = flowing_text(path, media_type, limits)
    count = 0
    for count, sheet in enumerate(paginate(text), start=1):
        if count == number:
            return drawing.draw(text, sheet, width, scale, limits)
    raise PageNotFound(number, count)
