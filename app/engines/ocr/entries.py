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
from app.engines.documents.readers.pdf_text import PageText, compose_text
from app.engines.documents.readers.pdf_words import OBLIQUE, rotate_box
from app.engines.documents.readers.segments import Token
from app.engines.ocr.lines import (
    RecognizedLine,
    detect_lines,
    find_rotation,
    recognize_lines,
    split_line,
)
from app.engines.sandbox.model import Send

_ROTATIONS = {
    1: Image.Transpose.ROTATE_90,
    2: Image.Transpose.ROTATE_180,
    3: Image.Transpose.ROTATE_270,
}


def _preload() -> None:
    """Load the models by recognizing a small image with text."""
    image = Image.new("RGB", (320, 80), "white")
    ImageDraw.Draw(image).text((20, 20), "Total 42", "black", ImageFont.load_default(32))
    recognize_lines(detect_lines(image))


_preload()


@send_failures
def recognize_page(
    document: BinaryIO, arguments: dict[str, Any], limits: Limits, send: Send
) -> None:
    """Recognize a page, and send its text, words and word confidences as a `PAGE` frame.

    `arguments` has the keys `media_type`, `page` and `scale`; see `readers.render_page`.
    """
    image = readers.render_page(document, arguments, limits)
    width, height = (side / arguments["scale"] for side in image.size)
    page_text, confidences = _recognize_image(image, width, height)
    page = build_page(width, height, 0, page_text.text, page_text.words)
    send(frames.PAGE, orjson.dumps({**page, "confidences": confidences}))


def _recognize_image(
    image: Image.Image, width: float, height: float
) -> tuple[PageText, list[float]]:
    """Recognize a page image; return its text and words, and the confidence of each word.

    `width` and `height` are the size of the page in points. A page that is rotated by quarter turns
    is first rotated upright, because its words would otherwise be in the wrong order.
    """
    detection = detect_lines(image)
    quarter_turns = find_rotation(detection)
    if quarter_turns:
        detection = detect_lines(image.transpose(_ROTATIONS[quarter_turns]))
    scale = width / image.width
    size = (height, width) if quarter_turns % 2 else (width, height)
    confidences: list[float] = []
    tokens_by_direction: dict[int, list[Token]] = {}
    for line in recognize_lines(detection):
        # Only lines in the main direction are sorted into rows.
        is_oblique = line.is_tall or line.is_upside_down
        for token in _build_tokens(line, scale, confidences):
            if is_oblique:
                token.x0, token.y0, token.x1, token.y1 = rotate_box(token.box, quarter_turns, *size)
            direction = OBLIQUE if is_oblique else quarter_turns
            tokens_by_direction.setdefault(direction, []).append(token)
    page_text = compose_text(tokens_by_direction, width, height)
    return page_text, [confidences[index] for index in page_text.words.token_indexes]


def _build_tokens(line: RecognizedLine, scale: float, confidences: list[float]) -> list[Token]:
    """Build a token for each word of a line, and append the word's confidence to `confidences`.

    The boxes of the tokens are in points.
    """
    tokens: list[Token] = []
    for word in split_line(line):
        x0, y0, x1, y1 = (coordinate * scale for coordinate in word.box)
        gap = (" " if word.is_spaced else "") if tokens else "\n"
        tokens.append(Token(word.text, x0, y0, x1, y1, y0, y1, len(confidences), gap, None))
        confidences.append(round(word.confidence, 4))
    return tokens
