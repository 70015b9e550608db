"""Recognize the text of page images in sandboxed processes.

The models of PP-OCR are part of the `rapidocr` wheel, so nothing is downloaded. Each page is
rendered and recognized in a separate process, with one thread, no network access, and the limits in
`LIMITS`.
"""

from dataclasses import dataclass
from pathlib import Path

import orjson

from app.engines.documents import check_media_type, decode_page
from app.engines.documents.frames import PAGE
from app.engines.documents.model import Limits, ParseFailed, Word
from app.engines.documents.processes import build_invalid_result_error, call_entry
from app.engines.sandbox.client import ForkServer

LIMITS = Limits(memory_bytes=2 << 30, cpu_seconds=60, wall_seconds=240.0)
"""The limits for recognizing one page. A receipt takes about 3 seconds of processor time."""

_ENTRIES = "app.engines.ocr.entries"
_MAX_SIDE_PX = 2_000
"""The maximum length of a page side in pixels; the recognizer would shrink larger images."""
_MAX_SCALE = 300 / 72
"""The maximum number of pixels per point (300 dpi). Only small pages reach this limit."""
# The server loads the models, about 350 MB, for the first page, and exits when it is idle.
_SERVER = ForkServer((_ENTRIES,), max_processes=64, max_total_processes=200, idle_seconds=60.0)
stop_server = _SERVER.stop


@dataclass(frozen=True, slots=True)
class RecognizedWord(Word):
    """A word on a page, with a confidence from 0 to 1. The offsets refer to the page's text."""

    confidence: float


@dataclass(frozen=True, slots=True)
class RecognizedPage:
    """The words of a page, and its text in reading order with a line feed between rows."""

    text: str
    words: list[RecognizedWord]


def recognize_page(
    path: Path, media_type: str, number: int, *, width: float, height: float
) -> RecognizedPage:
    """Recognize the text shown on page `number` of a file; page numbers start at 1.

    `media_type` is a result of `detect_media_type`. `width` and `height` are the size of the
    displayed page in points. Text that is rotated by quarter turns or slightly skewed is also
    recognized.

    Raises `ParseFailed` if the page does not exist, cannot be rendered or exceeds `LIMITS`,
    `UnsupportedMediaType` if `media_type` is not supported, and `SandboxUnavailable` if no process
    could be started.
    """
    check_media_type(media_type)
    scale = min(_MAX_SCALE, _MAX_SIDE_PX / max(width, height, 1.0))
    arguments = {"media_type": media_type, "page": number, "scale": scale}
    with call_entry(
        f"{_ENTRIES}:recognize_page", path, arguments, LIMITS, server=_SERVER
    ) as received_frames:
        frame_type, payload = next(received_frames, (b"", b""))
    if frame_type != PAGE:
        raise build_invalid_result_error()
    return _decode_result(payload, number)


def _decode_result(payload: bytes, number: int) -> RecognizedPage:
    """Decode and validate a result from a process that an untrusted file may have taken over."""
    page = decode_page(payload, number, 0, LIMITS)
    try:
        confidences = [float(value) for value in orjson.loads(payload)["confidences"]]
        words = [
            RecognizedWord(word.text, word.box, word.start, word.end, confidence)
            for word, confidence in zip(page.words, confidences, strict=True)
        ]
    except (KeyError, TypeError, ValueError) as error:
        raise build_invalid_result_error() from error
    if not all(0 <= confidence <= 1 for confidence in confidences):
        raise build_invalid_result_error()
    if len(page.text) > LIMITS.max_text_chars:
        message = f"The page has more than {LIMITS.max_text_chars} characters."
        raise ParseFailed("too_large_unpacked", message)
    return RecognizedPage(page.text, words)
