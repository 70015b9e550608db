"""Read and render documents in a sandboxed process.

The fork server imports this module and thereby all libraries that the readers use, so that each
process has every library loaded. The application itself must not import it.
"""

import email.parser  # noqa: F401 - `email` imports it on first use
import encodings
import importlib
import pkgutil
from collections.abc import Callable
from io import BytesIO
from typing import Any, BinaryIO

import charset_normalizer  # noqa: F401 - `text` imports it on first use
import orjson
from PIL import Image

from app.engines.documents import frames, language
from app.engines.documents.model import OUT_OF_MEMORY, Limits, PageNotFound, ParseFailed
from app.engines.documents.readers import read, render
from app.engines.documents.text import replace_unstorable
from app.engines.sandbox import Send

_SAVE_OPTIONS = {"jpeg": {"quality": 85}, "webp": {"quality": 80}, "png": {}}


def _preload() -> None:
    """Load what libraries would load on first use, when the process can no longer read files."""
    Image.init()
    language.load_model()
    for module in pkgutil.iter_modules(encodings.__path__):
        if module.name not in ("mbcs", "oem"):  # only exist on Windows
            importlib.import_module(f"encodings.{module.name}")


_preload()


def parse_document(document: BinaryIO | None, arguments: dict[str, Any], send: Send) -> None:
    """Send the pages or the text of a document, and its language."""
    assert document is not None
    limits = Limits(**arguments["limits"])
    sample = _LanguageSample()

    def send_page(page: dict[str, object]) -> None:
        sample.add_page_text(str(page["text"]))
        send(frames.PAGE, orjson.dumps(page))

    def send_text(text: str) -> None:
        sample.add_page_text(text)
        send(frames.TEXT, text.encode())

    def send_contents() -> None:
        read(document, arguments["media_type"], limits, send_page, send_text)
        send(frames.LANGUAGE, (language.detect_language(sample.text) or "").encode())

    _run_reporting_failures(send_contents, send)


def render_page(document: BinaryIO | None, arguments: dict[str, Any], send: Send) -> None:
    """Send the image of one page."""
    assert document is not None
    limits = Limits(**arguments["limits"])

    def send_image() -> None:
        image = render(document, arguments, limits)
        encoded = BytesIO()
        image.save(encoded, arguments["format"], **_SAVE_OPTIONS[arguments["format"]])
        send(frames.IMAGE, encoded.getvalue())

    _run_reporting_failures(send_image, send)


class _LanguageSample:
    """The beginning of a document's text, for language detection."""

    def __init__(self) -> None:
        self.text = ""
        self._is_empty = True

    def add_page_text(self, text: str) -> None:
        """Add the text of a page, separated by a form feed."""
        if len(self.text) < language.SAMPLE_CHARS:
            text = replace_unstorable(text[: language.SAMPLE_CHARS])
            self.text = text if self._is_empty else f"{self.text}\f{text}"
        self._is_empty = False


def _run_reporting_failures(action: Callable[[], None], send: Send) -> None:
    """Run `action`, and send any failure as a frame."""
    failure: tuple[str, str]
    try:
        action()
    except PageNotFound as error:
        send(frames.PAGE_NOT_FOUND, orjson.dumps({"count": error.page_count}))
        return
    except ParseFailed as error:
        failure = error.code, error.message
    except MemoryError:
        failure = "out_of_memory", OUT_OF_MEMORY
    except Exception as error:  # noqa: BLE001 - a damaged file can make a library raise anything
        failure = "unreadable", f"The document cannot be read ({type(error).__name__})."
    else:
        return
    send(frames.FAILED, orjson.dumps({"code": failure[0], "message": failure[1]}))
