"""Define the base class for writers that read the document pages for a batch of rows at a time."""

import json
from abc import abstractmethod
from collections.abc import Iterator, Mapping
from itertools import groupby
from operator import itemgetter
from typing import Any

from app.engines.formats.model import Page, Row, Source
from app.engines.formats.parsing import ParsingWriter, parse_row

_BATCH_ROWS = 100
_BATCH_BYTES = 4 << 20


class DocumentWriter(ParsingWriter):
    """A writer that collects a batch of rows and reads all pages of their documents together."""

    def __init__(self, source: Source) -> None:
        super().__init__()
        self._source = source
        self._batch: list[dict[str, Any]] = []
        self._batch_bytes = 0

    def write(self, row: Row) -> None:
        """Add one tag set."""
        self.write_json(json.dumps(row).encode())

    def write_json(self, line: bytes) -> None:
        """Add one tag set as JSON. Raises ValueError if it is not a JSON object."""
        self._batch.append(parse_row(line))
        self._batch_bytes += len(line)
        self.rows += 1
        if len(self._batch) >= _BATCH_ROWS or self._batch_bytes >= _BATCH_BYTES:
            self._end_batch()

    def close(self) -> None:
        """Write the remaining rows, and complete the file."""
        self._end_batch()
        self._finish()

    @abstractmethod
    def _write_document(self, row: Row, pages: Iterator[Page]) -> None:
        """Write one tag set. `pages` can be iterated only during this call."""

    @abstractmethod
    def _finish(self) -> None:
        """Write the end of the file. A second call must do nothing."""

    def _needs_words(self, rows: list[dict[str, Any]]) -> bool:  # noqa: ARG002 - for subclasses
        """Return whether the writer needs the words on these rows' pages."""
        return True

    def _end_batch(self) -> None:
        """Write the rows of the batch, each with the pages of its document."""
        rows, self._batch, self._batch_bytes = self._batch, [], 0
        if not rows:
            return
        artifact_ids = [get_artifact(row).get("id") for row in rows]
        pages = self._source.iterate_pages(artifact_ids, with_words=self._needs_words(rows))
        groups = groupby(pages, key=itemgetter(0))
        position, group = next(groups, _NO_PAGES)
        for index, row in enumerate(rows):
            if index == position:
                self._write_document(row, (page for _, page in group))
                position, group = next(groups, _NO_PAGES)
            else:
                self._write_document(row, iter(()))


_NO_PAGES: tuple[int, Iterator[tuple[int, Page]]] = (-1, iter(()))


def get_artifact(row: Row) -> Mapping[str, Any]:
    """Return the artifact of a row, or an empty mapping if it has none."""
    return row.get("artifact") or {}
