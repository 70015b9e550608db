"""Define the interface of an export format: its description and its streaming writer."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO, Literal, NamedTuple, Protocol, TypeAlias

Field: TypeAlias = Mapping[str, Any]
Row: TypeAlias = Mapping[str, Any]

KEEPS = ("values", "tables", "evidence", "confidence", "text", "history")
"""The parts of a tag set that a format may keep."""

NO_OPTIONS: Mapping[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "properties": {},
    "additionalProperties": False,
}
"""The `options_schema` of a format without options."""


class FormatError(ValueError):
    """An unknown format or invalid options; `path` is for example `options.delimiter`."""

    def __init__(self, path: str, message: str) -> None:
        super().__init__(f"{path}: {message}")
        self.path = path
        self.message = message


class Writer(Protocol):
    """A writer that writes tag sets one by one to a file, in bounded memory.

    The output is complete only after `close`, which does not close the underlying file.
    """

    rows: int
    """The number of tag sets added."""

    def write(self, row: Row) -> None:
        """Add one tag set; the package's docstring lists its properties."""

    def write_json(self, line: bytes) -> None:
        """Add one tag set as UTF-8 JSON.

        Raises ValueError if the format parses the JSON and it is invalid.
        """

    def write_piece(self, piece: bytes, *, is_last: bool) -> None:
        """Add a piece of a tag set as UTF-8 JSON; the last piece completes the tag set.

        Formats that keep the history accept pieces of any size and any total size.
        """

    def close(self) -> None:
        """Write the remaining data."""


class Word(NamedTuple):
    """A word of a page.

    `box` is (x0, y0, x1, y1) from 0 to 1, measured from the top left; `start` and `end` are code
    point offsets in the text of the document.
    """

    text: str
    box: tuple[float, float, float, float]
    start: int
    end: int


class Page(NamedTuple):
    """A page of a document, with its displayed size in points."""

    number: int
    width: float
    height: float
    words: Sequence[Word]


ImageFormat: TypeAlias = Literal["png", "jpeg"]


class Source(Protocol):
    """Access to the documents of the rows; the caller provides it to writers that need it.

    `artifact` is the property `artifact` of a row.
    """

    def iterate_pages(
        self, artifact_ids: Sequence[str | None], *, with_words: bool
    ) -> Iterator[tuple[int, Page]]:
        """Yield the pages of documents, each with the position of its document in `artifact_ids`.

        Pages are ordered by position, then by page number. None and documents without pages are
        skipped. Without `with_words`, pages have no words.
        """

    def read_content(self, artifact: Mapping[str, Any]) -> Iterator[bytes] | None:
        """Return the original file in chunks, or None if it no longer exists."""

    def render_page(
        self, artifact: Mapping[str, Any], number: int, *, width: int, image_format: ImageFormat
    ) -> bytes | None:
        """Return the image of a page, `width` pixels wide.

        Returns None if the file no longer exists or the page cannot be rendered.
        """


WriterFactory: TypeAlias = Callable[[BinaryIO, Sequence[Field], Mapping[str, Any]], Writer]
DocumentWriterFactory: TypeAlias = Callable[
    [BinaryIO, Sequence[Field], Mapping[str, Any], Source], Writer
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """One export format.

    `options_schema` is a JSON Schema 2020-12 with a default for every option. `keeps` lists the
    parts from KEEPS that the format preserves. Of the parts evidence, text and history,
    `default_parts` are included unless a client requests otherwise, and `required_parts` cannot be
    left out. A format has a `writer`, or a `document_writer` if it needs the pages or the file of
    each document; `create_writer` calls whichever exists. With `keeps_removed`, the file has rows
    for removed tag sets, with the status `removed` and without labels. With `needs_process`, the
    writer needs much memory or much time to finish; an export runs it in a separate process
    (`processes`).
    """

    id: str
    name: str
    media_type: str
    extension: str
    description: str
    options_schema: Mapping[str, Any]
    keeps: tuple[str, ...]
    sample: str
    writer: WriterFactory | None = None
    document_writer: DocumentWriterFactory | None = None
    default_parts: tuple[str, ...] = ()
    required_parts: tuple[str, ...] = ()
    keeps_removed: bool = False
    needs_process: bool = False

    @property
    def is_text(self) -> bool:
        """Return whether the file is UTF-8 text."""
        kind, _, name = self.media_type.partition("/")
        return kind == "text" or name.endswith(("json", "x-ndjson"))

    def create_writer(
        self,
        out: BinaryIO,
        fields: Sequence[Field],
        options: Mapping[str, Any],
        source: Source | None = None,
    ) -> Writer:
        """Create a writer in this process.

        `fields` is the union of the fields of all versions that occur (`merge_fields`), and
        `options` come from `check_options`. A format with a `document_writer` needs the `source`.
        """
        if self.writer is not None:
            return self.writer(out, fields, options)
        if self.document_writer is None or source is None:
            raise ValueError(f"{self.id} has no writer, or needs a source")
        return self.document_writer(out, fields, options, source)
