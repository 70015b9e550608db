"""Define the base classes for writers that parse each tag set, and functions for JSON."""

import json
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any

import orjson

from app.engines.formats.model import Page, Row, Source

_BATCH_BYTES = 4 << 20
_MAX_ROWS_PER_DOCUMENT_BATCH = 100
"""The maximum number of tag sets whose document pages a `DocumentWriter` reads together."""
_NO_PAGES: tuple[int, Iterator[tuple[int, Page]]] = (-1, iter(()))
"""Stands for the next document if no further document has pages; no row has the index -1."""


class ParsingWriter(ABC):
    """A writer that parses the JSON of each tag set."""

    def __init__(self) -> None:
        self.row_count = 0
        self._chunks: list[bytes] = []
        self._is_closed = False

    def write_json(self, line: bytes) -> None:
        """Add one tag set. Raises ValueError if `line` is not a JSON object in UTF-8."""
        self._write_row(parse_row(line))
        self.row_count += 1

    def write_chunk(self, chunk: bytes, *, is_last: bool) -> None:
        """Add a chunk of a tag set's JSON; the last chunk causes the tag set to be parsed.

        Raises ValueError if the tag set is not a JSON object.
        """
        self._chunks.append(chunk)
        if is_last:
            line, self._chunks = b"".join(self._chunks), []
            self.write_json(line)

    def close(self) -> None:
        """Write the remaining data, which completes the file. A second call does nothing."""
        if not self._is_closed:
            self._is_closed = True
            self._finish()

    @abstractmethod
    def _write_row(self, row: Row) -> None:
        """Write one tag set."""

    @abstractmethod
    def _finish(self) -> None:
        """Write the remaining data."""


class BatchWriter(ParsingWriter):
    """A writer that collects tag sets in batches of bounded size.

    A batch ends when it has `max_batch_rows` tag sets, or JSON of at least `_BATCH_BYTES` bytes.
    """

    def __init__(self, max_batch_rows: int) -> None:
        super().__init__()
        self._max_batch_rows = max_batch_rows
        self._batch: list[Row] = []
        self._batch_bytes = 0

    def write_json(self, line: bytes) -> None:
        """Add one tag set. Raises ValueError if `line` is not a JSON object in UTF-8."""
        super().write_json(line)
        self._batch_bytes += len(line)
        if len(self._batch) >= self._max_batch_rows or self._batch_bytes >= _BATCH_BYTES:
            self._end_batch()

    def _write_row(self, row: Row) -> None:
        self._batch.append(row)

    def _end_batch(self) -> None:
        rows, self._batch, self._batch_bytes = self._batch, [], 0
        if rows:
            self._write_batch(rows)

    @abstractmethod
    def _write_batch(self, rows: Sequence[Row]) -> None:
        """Write the tag sets of a batch, which has at least one."""


class DocumentWriter(BatchWriter):
    """A writer that collects a batch of rows and reads all pages of their documents together."""

    def __init__(self, source: Source) -> None:
        super().__init__(_MAX_ROWS_PER_DOCUMENT_BATCH)
        self._source = source

    @abstractmethod
    def _write_document(self, row: Row, pages: Iterator[Page]) -> None:
        """Write one tag set. `pages` can be iterated only during this call."""

    @abstractmethod
    def _end_file(self) -> None:
        """Write the end of the file, after the last tag set."""

    def _finish(self) -> None:
        self._end_batch()
        self._end_file()

    def _needs_words(self, rows: Sequence[Row]) -> bool:  # noqa: ARG002 - for subclasses
        """Return whether the writer needs the words on these rows' pages."""
        return True

    def _write_batch(self, rows: Sequence[Row]) -> None:
        """Write the rows of the batch, each with the pages of its document."""
        artifact_ids = [get_artifact(row).get("id") for row in rows]
        pages = self._source.iterate_pages(artifact_ids, with_words=self._needs_words(rows))
        groups = groupby(pages, key=itemgetter(0))
        document_index, group = next(groups, _NO_PAGES)
        for index, row in enumerate(rows):
            if index == document_index:
                self._write_document(row, (page for _, page in group))
                document_index, group = next(groups, _NO_PAGES)
            else:
                self._write_document(row, iter(()))


def get_artifact(row: Row) -> Mapping[str, Any]:
    """Return the artifact of a row, or an empty mapping if it has none."""
    return row.get("artifact") or {}


def parse_row(line: bytes) -> dict[str, Any]:
    """Parse a tag set from JSON; an unpaired surrogate becomes a question mark.

    Raises ValueError if the JSON is invalid or is not an object.
    """
    try:
        row = orjson.loads(line)
    except orjson.JSONDecodeError:  # orjson rejects lone surrogates, which JSON allows
        row = replace_surrogates(json.loads(line))
    if not isinstance(row, dict):
        raise ValueError("a tag set must be a JSON object")  # noqa: TRY004 - a value, not a type
    return row


def replace_surrogates(value: object) -> object:
    """Replace unpaired surrogates in a JSON value with `?`, so that it can be encoded as UTF-8."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, list):
        return [replace_surrogates(item) for item in value]
    if isinstance(value, dict):
        return {replace_surrogates(key): replace_surrogates(item) for key, item in value.items()}
    return value


def dump_json(value: object) -> str:
    """Serialize a value to compact JSON text that can be encoded as UTF-8."""
    try:
        return orjson.dumps(value).decode()
    except TypeError:  # an integer beyond 64 bits, or a lone surrogate
        return json.dumps(replace_surrogates(value), ensure_ascii=False, separators=(",", ":"))
