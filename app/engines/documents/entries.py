"""Read and render documents in a sandboxed process.

The fork server imports this module, which imports all libraries that the readers use, so that
sandboxed processes start with these libraries loaded. The application must not import this module.
"""

import email.parser  # noqa: F401 - `email` imports it on first use
import encodings
import functools
import importlib
import pkgutil
from collections.abc import Callable
from io import BytesIO
from typing import Any, BinaryIO

import charset_normalizer  # noqa: F401 - `text` imports it on first use
import orjson
from PIL import Image

from app.engines.documents import frames, language, readers
from app.engines.documents.layout import paginate
from app.engines.documents.model import OUT_OF_MEMORY_MESSAGE, Limits, PageNotFound, ParseFailed
from app.engines.documents.readers import attachments, drawing, warming
from app.engines.documents.readers.pages import ImageSize, PageData
from app.engines.documents.text import replace_unstorable_chars
from app.engines.sandbox.model import Send

EntryFunction = Callable[[BinaryIO, dict[str, Any], Send], None]
_SAVE_OPTIONS = {"jpeg": {"quality": 85}, "webp": {"quality": 80}, "png": {}}


def _preload() -> None:
    """Load all files that libraries need, because sandboxed processes cannot read files later."""
    Image.init()
    for page in warming.read_sample():
        language.identify_language(page["text"])
    for module in pkgutil.iter_modules(encodings.__path__):
        if module.name not in ("mbcs", "oem"):  # only exist on Windows
            importlib.import_module(f"encodings.{module.name}")


_preload()


def send_failures(run: Callable[[BinaryIO, dict[str, Any], Limits, Send], None]) -> EntryFunction:
    """Wrap `run` in an entry function that decodes the limits, and sends any failure as a frame."""

    @functools.wraps(run)
    def run_entry(document: BinaryIO, arguments: dict[str, Any], send: Send) -> None:
        failure: tuple[str, str]
        try:
            run(document, arguments, Limits(**arguments["limits"]), send)
        except PageNotFound as error:
            send(frames.PAGE_NOT_FOUND, orjson.dumps({"count": error.page_count}))
            return
        except ParseFailed as error:
            failure = error.code, error.message
        except MemoryError:
            failure = "out_of_memory", OUT_OF_MEMORY_MESSAGE
        except Exception as error:  # noqa: BLE001 - a damaged file can make a library raise anything
            failure = "unreadable", f"The document cannot be read ({type(error).__name__})."
        else:
            return
        send(frames.FAILED, orjson.dumps({"code": failure[0], "message": failure[1]}))

    return run_entry


class _PageSender:
    """Buffers pages and sends several in one frame, because each frame wakes the caller."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._pages: list[bytes] = []
        self._size = 0

    def append(self, page: bytes) -> None:
        """Add an encoded page; send the buffered pages when they reach `PAGES_FRAME_BYTES`."""
        self._pages.append(page)
        self._size += len(page)
        if self._size >= frames.PAGES_FRAME_BYTES:
            self.flush()

    def flush(self) -> None:
        """Send the buffered pages."""
        if self._pages:
            self._send(frames.PAGES, b"\n".join(self._pages))
            self._pages, self._size = [], 0


@send_failures
def parse_document(
    document: BinaryIO, arguments: dict[str, Any], limits: Limits, send: Send
) -> None:
    """Parse a document of type `arguments["media_type"]`, and send its content and language.

    Sends `PAGES` frames or one `TEXT` frame, then one `LANGUAGE` frame; see `frames`.
    """
    sample_texts: list[str] = []
    page_sender = _PageSender(send)

    def send_page(page: PageData) -> None:
        if sum(map(len, sample_texts)) < language.SAMPLE_CHARS:
            sample_texts.append(page["text"][: language.SAMPLE_CHARS])
        page_sender.append(orjson.dumps(page))

    def send_text(text: str) -> None:
        sample_texts.append(text[: language.SAMPLE_CHARS])
        send(frames.TEXT, text.encode())

    try:
        readers.read_document(document, arguments["media_type"], limits, send_page, send_text)
    finally:
        page_sender.flush()
    sample = replace_unstorable_chars("\f".join(sample_texts))
    send(frames.LANGUAGE, (language.detect_language(sample) or "").encode())


@send_failures
def extract_attachments(
    document: BinaryIO, arguments: dict[str, Any], _limits: Limits, send: Send
) -> None:
    """Send the name and the content of each attachment, or email in a mailbox, in two frames."""
    for attachment in attachments.extract_attachments(document.read(), arguments["media_type"]):
        send(frames.ATTACHMENT, replace_unstorable_chars(attachment.name).encode())
        send(frames.CONTENT, attachment.data)


@send_failures
def render_page(document: BinaryIO, arguments: dict[str, Any], limits: Limits, send: Send) -> None:
    """Render one page, and send it as an image file in the format `arguments["format"]`.

    `arguments` also has the keys that `readers.render_page` expects.
    """
    _send_image(readers.render_page(document, arguments, limits), arguments["format"], send)


@send_failures
def render_text(document: BinaryIO, arguments: dict[str, Any], limits: Limits, send: Send) -> None:
    """Render the first virtual page of a text in UTF-8, and send it as an image file.

    `arguments` has the keys `width_px` and `format`, the format of the image file.
    """
    text = document.read().decode()
    size = ImageSize(arguments["width_px"])
    image = drawing.render_virtual_page(text, next(paginate(text)), size, limits)
    _send_image(image, arguments["format"], send)


def _send_image(image: Image.Image, image_format: str, send: Send) -> None:
    buffer = BytesIO()
    image.save(buffer, image_format, **_SAVE_OPTIONS[image_format])
    send(frames.IMAGE, buffer.getvalue())
