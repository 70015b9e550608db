"""The values that go in and come out of the document engine."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, get_args

FailureCode = Literal[
    "password_protected",
    "unreadable",
    "too_many_pages",
    "too_many_pixels",
    "too_large_unpacked",
    "out_of_memory",
    "timed_out",
    "crashed",
    "empty_document",
]
OUT_OF_MEMORY = "Reading it takes more memory than is allowed."
FAILURE_CODES: frozenset[FailureCode] = frozenset(get_args(FailureCode))

Box = tuple[float, float, float, float]


class ParseFailed(Exception):  # noqa: N818 - it is the outcome that it names
    """A document could not be read; it costs this document and nothing else.

    `code` is stable and one of `FAILURE_CODES`; `message` is one English sentence for people,
    free of paths and of the document's content.
    """

    def __init__(self, code: FailureCode, message: str) -> None:
        super().__init__(code, message)
        self.code: FailureCode = code
        self.message = message

    def __str__(self) -> str:
        return f"{self.code}: {self.message}"


class PageNotFound(Exception):  # noqa: N818 - it is the outcome that it names
    """The document has no page of that number (they count from 1)."""

    def __init__(self, number: int, page_count: int) -> None:
        super().__init__(number, page_count)
        self.number = number
        self.page_count = page_count

    def __str__(self) -> str:
        return f"no page {self.number}: the document has {self.page_count}"


class UnsupportedMediaType(Exception):  # noqa: N818 - it is the outcome that it names
    """The content is of no supported kind, or not of the kind its name or sender claims.

    `declared` is the claim that was not met (a media type or a file extension), or None;
    `detected` is what the content looks like, or None where that is unknown.
    """

    def __init__(self, declared: str | None, detected: str | None) -> None:
        super().__init__(declared, detected)
        self.declared = declared
        self.detected = detected

    def __str__(self) -> str:
        return f"declared {self.declared or 'nothing'}, found {self.detected or 'nothing known'}"


@dataclass(frozen=True, slots=True)
class Limits:
    """What one document may cost.

    `memory_bytes` bounds the address space of the child process, `cpu_seconds` its processor
    time, `wall_seconds` the time that the caller waits for it (time spent in the caller's own
    `on_page` is not counted). `max_pixels` holds for each image, decoded or rendered;
    `max_unpacked_bytes` for the sum of an archive's entries, as measured while they inflate.
    """

    memory_bytes: int = 1 << 30
    cpu_seconds: int = 60
    wall_seconds: float = 90.0
    max_pages: int = 2_000
    max_pixels: int = 100_000_000
    max_text_chars: int = 10_000_000
    max_unpacked_bytes: int = 512 << 20
    max_words_per_page: int = 100_000


DEFAULT_LIMITS = Limits()


@dataclass(frozen=True, slots=True)
class Word:
    """A word on a page.

    `box` is (x0, y0, x1, y1) in 0..1 from the top left of the page as it is displayed;
    `start` and `end` are code-point offsets into the document's text, `text[start:end] == text`.
    """

    text: str
    box: Box
    start: int
    end: int


class Page:
    """One page: its size in points as displayed, its span of the document's text, its words.

    `rotation` is the clockwise turn in degrees (0, 90, 180, 270) that the file asks for and
    that `width`, `height` and the boxes already include. `has_text_layer` is False where only
    an image is known, and so no words. Words are made on first use.
    """

    __slots__ = (
        "_make_words",
        "_words",
        "has_text_layer",
        "height",
        "number",
        "rotation",
        "start",
        "text",
        "width",
    )

    def __init__(
        self,
        *,
        number: int,
        width: float,
        height: float,
        rotation: int,
        start: int,
        text: str,
        has_text_layer: bool,
        make_words: Callable[[], list[Word]],
    ) -> None:
        self.number = number
        self.width = width
        self.height = height
        self.rotation = rotation
        self.start = start
        self.text = text
        self.has_text_layer = has_text_layer
        self._make_words = make_words
        self._words: list[Word] | None = None

    @property
    def end(self) -> int:
        return self.start + len(self.text)

    @property
    def words(self) -> list[Word]:
        if self._words is None:
            self._words = self._make_words()
        return self._words

    def __repr__(self) -> str:
        size = f"{self.width:g}x{self.height:g}"
        return f"Page({self.number}, {size}, rotation={self.rotation}, {self.start}:{self.end})"


@dataclass(frozen=True, slots=True)
class Summary:
    """What is known once the last page has been handed over.

    `language` is an ISO 639-1 code, None where it is unsure.
    """

    text: str
    page_count: int
    language: str | None


@dataclass(frozen=True, slots=True)
class ParsedDocument:
    """A whole document; `language` is an ISO 639-1 code, None where it is unsure."""

    text: str
    pages: list[Page]
    language: str | None
