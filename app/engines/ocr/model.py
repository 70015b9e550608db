"""Define the result types and the limits of text recognition."""

from dataclasses import dataclass

from app.engines.documents import Limits

LIMITS = Limits(memory_bytes=2 << 30, cpu_seconds=60, wall_seconds=240.0)
"""The limits for recognizing one page. A receipt takes about 3 seconds of processor time."""


@dataclass(frozen=True, slots=True)
class RecognizedWord:
    """A word on a page.

    `box` is (x0, y0, x1, y1) from 0 to 1, measured from the top left of the displayed page. `start`
    and `end` are code point offsets into the text of the page. `confidence` is from 0 to 1.
    """

    text: str
    box: tuple[float, float, float, float]
    start: int
    end: int
    confidence: float


@dataclass(frozen=True, slots=True)
class RecognizedPage:
    """The words of a page, and its text in reading order with a line feed between rows."""

    text: str
    words: list[RecognizedWord]
