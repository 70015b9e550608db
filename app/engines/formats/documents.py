"""Define the base class for writers that read the document pages for a batch of rows at a time."""

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any

from app.engines.formats.model import Page, Row, Source
from app.engines.formats.parsing import BatchWriter

_BATCH_ROWS = 100


class DocumentWriter(BatchWriter):
    """A writer that collects a batch of rows and reads all pages of their documents together."""

    def __init__(self, source: Source) -> None:
        super().__init__(_BATCH_ROWS)
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
