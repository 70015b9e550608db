"""Read or lay out the words of pages, within the size limit of a response."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple
from uuid import UUID

import orjson

from app.documents.artifacts.queries import texts as queries
from app.engines.documents.layout import build_virtual_page_words, paginate
from app.engines.documents.model import Word

MAX_WORDS_BYTES = 8 * 1024 * 1024
"""The maximum size in bytes of the words in a response, as JSON. The words of the first page are
always included, then the words of the following pages, up to the first page that does not fit."""

_BATCH_PAGES = 50


class PageSpan(NamedTuple):
    """The span of a page in the text, in code points; `end` is exclusive."""

    number: int
    start: int
    end: int


def read_words(
    artifact_id: UUID, pages: Sequence[PageSpan], *, is_virtual: bool
) -> dict[int, orjson.Fragment]:
    """Read the words of `pages` until a response is full, and return them by page number.

    The first page is always included; the first page that does not fit and all later pages are
    omitted. If `is_virtual` is true, no words are stored, and they are laid out from the text.
    """
    if not pages:
        return {}
    read_page_words = _lay_out_words if is_virtual else _read_stored_words
    words_by_page: dict[int, orjson.Fragment] = {}
    remaining_bytes = MAX_WORDS_BYTES
    for number, words in read_page_words(artifact_id, pages):
        remaining_bytes -= len(words)
        if remaining_bytes < 0 and words_by_page:
            break
        words_by_page[number] = orjson.Fragment(words)
    return words_by_page


def _read_stored_words(artifact_id: UUID, pages: Sequence[PageSpan]) -> Iterator[tuple[int, bytes]]:
    for start in range(0, len(pages), _BATCH_PAGES):
        numbers = [page.number for page in pages[start : start + _BATCH_PAGES]]
        words_by_page = queries.read_stored_words(artifact_id, numbers, MAX_WORDS_BYTES)
        for number in numbers:
            if number not in words_by_page:
                return
            yield number, words_by_page[number].encode()


def _lay_out_words(artifact_id: UUID, pages: Sequence[PageSpan]) -> Iterator[tuple[int, bytes]]:
    # Every page starts with a new row of the layout, so each page can be laid out alone.
    text_start = min(page.start for page in pages)
    text = queries.read_span(artifact_id, text_start, max(page.end for page in pages))
    if text is None:  # The document was deleted in the meantime.
        return
    for page in pages:
        words = [
            {"text": word.text, "box": word.box, "start": word.start + page.start,
             "end": word.end + page.start, "origin": "text"}
            for word in lay_out_page(text[page.start - text_start : page.end - text_start])
        ]  # fmt: skip
        yield page.number, orjson.dumps(words)


def lay_out_page(page_text: str) -> Iterator[Word]:
    """Lay out the text of a virtual page: yield its words, with offsets in this text."""
    for page in paginate(page_text):
        yield from build_virtual_page_words(page_text, page)
