"""Define the values that the document engine takes and returns."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, get_args

from app.engines.plurals import format_count

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
OUT_OF_MEMORY_MESSAGE = "Reading the document needs more memory than allowed."
FAILURE_CODES: frozenset[FailureCode] = frozenset(get_args(FailureCode))

Box = tuple[float, float, float, float]
"""The coordinates x0, y0, x1, y1 from 0 to 1, measured from the top left of the displayed page."""


class Attachment(NamedTuple):
    """A file attached to an email, or an email in a mailbox.

    `name` is the file name that the sender chose, the subject of the email with the extension
    `.eml`, or a generated name such as `attachment-3.pdf`.
    """

    name: str
    data: bytes


class ParseFailed(Exception):  # noqa: N818 - named after the outcome
    """A document could not be read or rendered; other documents are not affected.

    `code` is stable and one of `FAILURE_CODES`; `message` is one English sentence for people,
    without paths and without the document's content.
    """

    def __init__(self, code: FailureCode, message: str) -> None:
        super().__init__(code, message)
        self.code: FailureCode = code
        self.message = message

    def __str__(self) -> str:
        return f"{self.code}: {self.message}"


class PageNotFound(Exception):  # noqa: N818 - named after the outcome
    """The document has no page with this number; page numbers start at 1."""

    def __init__(self, number: int, page_count: int) -> None:
        super().__init__(number, page_count)
        self.number = number
        self.page_count = page_count

    def __str__(self) -> str:
        pages_text = format_count(self.page_count, "page", "pages")
        return f"no page {self.number}: the document has {pages_text}"


class UnsupportedMediaType(Exception):  # noqa: N818 - named after the outcome
    """The type of a document is not supported, or is not what the file name or sender claims.

    `claimed_type` is None if no type is claimed. `detected_type` is the type of the content, or
    None if unknown.
    """

    def __init__(self, claimed_type: str | None, detected_type: str | None) -> None:
        super().__init__(claimed_type, detected_type)
        self.claimed_type = claimed_type
        self.detected_type = detected_type

    def __str__(self) -> str:
        return (
            f"claimed type: {self.claimed_type or 'none'}, "
            f"detected type: {self.detected_type or 'unknown'}"
        )


@dataclass(frozen=True, slots=True)
class Limits:
    """The resource limits for one document.

    `memory_bytes` limits the address space of the child process, `cpu_seconds` its processor time,
    and `wall_seconds` the time that the caller waits for it, excluding the time spent in the
    `on_page` callback of `parse_stream`. `max_pixels` applies to each image, decoded or
    rendered. `max_unpacked_bytes` applies to the total size of an archive's entries, measured while
    they are unpacked, and to the size of an HTML, RTF or email file.
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

    `box` is (x0, y0, x1, y1) from 0 to 1, measured from the top left of the displayed page. `start`
    and `end` are the code point offsets of `text` in the document's text.
    """

    text: str
    box: Box
    start: int
    end: int


@dataclass(kw_only=True, eq=False, repr=False, slots=True)
class Page:
    """One page of a document; its words are computed on first use.

    `width` and `height` are the displayed size in points, and `start` is the offset of the page's
    `text` in the document's text. `rotation` is the clockwise rotation in degrees (0, 90, 180, 270)
    that the file specifies; the size and the boxes of the words already include it.
    `has_text_layer` is False if the page has no words, but it is always True for a virtual page.
    `is_blank` is True if the page shows nothing. `is_scan` is True if pictures cover most of the
    page and its text layer has only a few words, such as the name of the scanning program.
    """

    number: int
    width: float
    height: float
    rotation: int
    start: int
    text: str
    has_text_layer: bool
    build_words: Callable[[], list[Word]]
    is_blank: bool = False
    is_scan: bool = False
    _words: list[Word] | None = field(default=None, init=False)

    @property
    def end(self) -> int:
        """Return the offset of the end of the page in the document's text."""
        return self.start + len(self.text)

    @property
    def words(self) -> list[Word]:
        """Return the words of the page, computed on first use."""
        if self._words is None:
            self._words = self.build_words()
        return self._words

    def __repr__(self) -> str:
        size = f"{self.width:g}x{self.height:g}"
        return f"Page({self.number}, {size}, rotation={self.rotation}, {self.start}:{self.end})"


@dataclass(frozen=True, slots=True)
class DocumentSummary:
    """The properties of a document that are known after its last page.

    `language` is an ISO 639-1 code, or None if no language was detected.
    """

    text: str
    page_count: int
    language: str | None


@dataclass(frozen=True, slots=True)
class ParsedDocument:
    """The text, pages and language of a document.

    `language` is an ISO 639-1 code, or None if no language was detected.
    """

    text: str
    pages: list[Page]
    language: str | None
