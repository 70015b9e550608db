"""Define the interface of export formats: a description and a streaming writer."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, BinaryIO, Literal, NamedTuple, Protocol, TypeAlias

Field: TypeAlias = Mapping[str, Any]
Fields: TypeAlias = Sequence[Field]
Options: TypeAlias = Mapping[str, Any]
Row: TypeAlias = Mapping[str, Any]

TAG_SET_PARTS = ("values", "tables", "evidence", "confidence", "text", "history")
"""The parts of a tag set, of which each format keeps some or all."""


class FormatError(ValueError):
    """An unknown format or an invalid option at `path`, for example `options.delimiter`."""

    def __init__(self, path: str, message: str) -> None:
        super().__init__(f"{path}: {message}")
        self.path = path
        self.message = message


class TooManyColumnsError(Exception):
    """The file would have more columns than its format allows."""


class Writer(Protocol):
    """A writer that adds tag sets to a file one by one, in bounded memory.

    The file is complete only after `close`, which does not close the underlying file object.
    """

    row_count: int
    """The number of tag sets added."""

    def write_json(self, line: bytes) -> None:
        """Add one tag set; `line` is its JSON in UTF-8, as described in `app.engines.formats`.

        Raises ValueError if the format parses the JSON and it is invalid.
        """

    def write_chunk(self, chunk: bytes, *, is_last: bool) -> None:
        """Add a chunk of a tag set's UTF-8 JSON; the last chunk completes the tag set.

        Formats that keep the history do not collect the chunks in memory. Raises ValueError as
        `write_json` does.
        """

    def close(self) -> None:
        """Write the remaining data, which completes the file."""


class Word(NamedTuple):
    """A word of a page.

    `box` is (x0, y0, x1, y1) from 0 to 1, measured from the top left of the page. `start` and
    `end` are code point offsets into the document's text.
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
    """Provides the pages and files of the rows' documents to writers that need them.

    The argument `artifact` is the property `artifact` of a row.
    """

    def iterate_pages(
        self, artifact_ids: Sequence[str | None], *, with_words: bool
    ) -> Iterator[tuple[int, Page]]:
        """Yield each page of the documents, with the document's index in `artifact_ids`.

        Pages are ordered by that index, then by page number. Ids that are None, and documents
        without pages, are skipped. If `with_words` is false, the pages have no words.
        """

    def read_content(self, artifact: Mapping[str, Any]) -> Iterator[bytes] | None:
        """Return the chunks of the original file, or None if the file no longer exists."""

    def render_page(
        self, artifact: Mapping[str, Any], number: int, *, width: int, image_format: ImageFormat
    ) -> bytes | None:
        """Render a page as an image that is `width` pixels wide.

        Returns None if the file no longer exists or the page cannot be rendered.
        """


WriterFactory: TypeAlias = Callable[[BinaryIO, Fields, Options], Writer]
DocumentWriterFactory: TypeAlias = Callable[[BinaryIO, Fields, Options, Source], Writer]


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """The description and the writer of an export format.

    `keeps` lists the parts from TAG_SET_PARTS that the format preserves. `sample` shows an example
    file as text. `options` maps the name of each option to its JSON Schema, which has a default.
    `default_parts` lists which of evidence, text and history are included unless a client requests
    otherwise; `required_parts` lists those that cannot be left out. A format has a `writer`, or a
    `document_writer` if it needs the pages or the file of each document. If `keeps_removed` is
    true, the file has rows for removed tag sets, with the status `removed` and without labels. If
    `needs_process` is true, the writer needs much memory or time, and an export runs it in a
    separate process (see `processes`). `check_fields` raises TooManyColumnsError if a file cannot
    have columns for the fields.
    """

    id: str
    name: str
    media_type: str
    extension: str
    description: str
    keeps: tuple[str, ...]
    sample: str
    options: Mapping[str, Any] = field(default_factory=dict)
    writer: WriterFactory | None = None
    document_writer: DocumentWriterFactory | None = None
    default_parts: tuple[str, ...] = ()
    required_parts: tuple[str, ...] = ()
    keeps_removed: bool = False
    needs_process: bool = False
    check_fields: Callable[[Fields], None] | None = None

    @property
    def options_schema(self) -> dict[str, Any]:
        """Return the JSON Schema 2020-12 of an object with options."""
        return {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "properties": self.options,
            "additionalProperties": False,
        }

    @property
    def is_text(self) -> bool:
        """Return whether files in this format are UTF-8 text."""
        main_type, _, subtype = self.media_type.partition("/")
        return main_type == "text" or subtype.endswith(("json", "x-ndjson"))

    def create_writer(
        self, out: BinaryIO, fields: Fields, options: Options, source: Source | None = None
    ) -> Writer:
        """Create a writer that runs in this process.

        `fields` are the fields of all schema versions in the export, as `merge_fields` returns
        them, and `options` are as `check_options` returns them. A format with a `document_writer`
        needs the `source`. Raises ValueError if such a format gets no `source`.
        """
        if self.writer is not None:
            return self.writer(out, fields, options)
        if self.document_writer is None or source is None:
            raise ValueError(f"{self.id} has no writer, or it needs a source but got none")
        return self.document_writer(out, fields, options, source)
