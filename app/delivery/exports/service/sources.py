"""Sources of document pages and files, for the export formats that need them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import orjson

from app.delivery.exports.queries.pages import PageReader, PageRow
from app.documents.artifacts.service import images, reading
from app.documents.artifacts.service import words as artifact_words
from app.engines.formats.model import ImageFormat, Page, Word


class DocumentSource:
    """Provides an export's documents: pages from the database snapshot, and files from storage.

    `on_step` is called before each page and file, because a batch of documents takes a long time.
    The callback reports the progress, and raises an exception if the export has ended.
    """

    def __init__(self, reader: PageReader, on_step: Callable[[], None]) -> None:
        self._reader = reader
        self._on_step = on_step
        self._images = images.PageImages()

    def close(self) -> None:
        """Delete the local copy of the latest document's file."""
        self._images.close()

    def iterate_pages(
        self, artifact_ids: Sequence[str | None], *, with_words: bool
    ) -> Iterator[tuple[int, Page]]:
        """Yield the pages of documents, each with the index of its document in `artifact_ids`."""
        text = ""
        for row in self._reader.iterate_pages(artifact_ids, with_words=with_words):
            self._on_step()
            if row.number == 1:
                text = row.text or ""
            words = list(_build_words(row, text)) if with_words else []
            yield row.position, Page(row.number, row.width, row.height, words)

    def read_content(self, artifact: Mapping[str, Any]) -> Iterator[bytes] | None:
        """Read a document's original file in chunks; return None if the file no longer exists."""
        self._on_step()
        return reading.open_content(artifact["sha256"])

    def render_page(
        self, artifact: Mapping[str, Any], number: int, *, width: int, image_format: ImageFormat
    ) -> bytes | None:
        """Render a page as an image, or return None if the file is missing or damaged."""
        self._on_step()
        text = self._reader.read_page_text(artifact["id"], number)
        return self._images.find(
            images.PageImageSpec(
                artifact["sha256"], artifact["media_type"], number, width, image_format, text
            )
        )


def _build_words(row: PageRow, text: str) -> Iterator[Word]:
    if row.words is None:
        for word in artifact_words.lay_out_page(text[row.start : row.end]):
            yield Word(word.text, word.box, word.start + row.start, word.end + row.start)
        return
    for item in orjson.loads(row.words):
        yield Word(item["text"], tuple(item["box"]), item["start"], item["end"])
