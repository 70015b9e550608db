"""Recognize the text of pages. This module runs only in sandboxed processes.

The fork server imports this module once. The models are therefore loaded, and the libraries have
read their files, before a process is confined. The application itself must not import this module.
"""

from typing import Any, BinaryIO

import orjson
from PIL import Image, ImageDraw, ImageFont

from app.engines.documents import frames, readers
from app.engines.documents.entries import send_failures
from app.engines.documents.model import Limits
from app.engines.documents.readers.pages import build_page
from app.engines.ocr import pages
from app.engines.ocr.lines import detect, recognize
from app.engines.sandbox.model import Send


def _preload() -> None:
    """Load the models by recognizing a small image with text."""
    image = Image.new("RGB", (320, 80), "white")
    ImageDraw.Draw(image).text((20, 20), "Total 42", "black", ImageFont.load_default(32))
    recognize(detect(image))


_preload()


@send_failures
def recognize_page(
    document: BinaryIO, arguments: dict[str, Any], limits: Limits, send: Send
) -> None:
    """Recognize a page, and send its text, words and word confidences as a `PAGE` frame.

    The arguments are those of `readers.render_page`, with `scale`.
    """
    image = readers.render_page(document, arguments, limits)
    width, height = (side / arguments["scale"] for side in image.size)
    page_text, confidences = pages.recognize_page(image, width, height)
    page = build_page(width, height, 0, page_text.text, page_text.words)
    send(frames.PAGE, orjson.dumps({**page, "confidences": confidences}))
