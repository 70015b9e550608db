"""Return the words of pages, within the size limit of a response."""

from collections.abc import Iterator, Sequence
from typing import Any
from uuid import UUID

import orjson

from app.documents.artifacts.queries import words as queries
from app.engines.documents.layout import paginate, sheet_words

ANSWER_BYTES = 8 * 1024 * 1024
"""The size limit of the words in a response, as JSON. The words of the first page are always
included, then those of the following pages, up to the first page that does not fit."""

_BATCH = 50


def of_pages(artifact_id: UUID, pages: Sequence[Any]) -> dict[int, orjson.Fragment]:
    """Return words by page number, for the first of `pages` whose words fit in `ANSWER_BYTES`.

    `pages` are rows with number, start, end and flowing.
    """
    if not pages:
        return {}
    words = _laid_out(artifact_id, pages) if pages[0].flowing else _stored(artifact_id, pages)
    found: dict[int, orjson.Fragment] = {}
    room = ANSWER_BYTES
    for number, text in words:
        room -= len(text)
        if room < 0 and found:
            break
        found[number] = orjson.Fragment(text)
    return found


def _stored(artifact_id: UUID, pages: Sequence[Any]) -> Iterator[tuple[int, bytes]]:
    for start in range(0, len(pages), _BATCH):
        numbers = [page.number for page in pages[start : start + _BATCH]]
        found = queries.stored(artifact_id, numbers, ANSWER_BYTES)
        for number in numbers:
            if number not in found:
                return
            yield number, found[number].encode()


def _laid_out(artifact_id: UUID, pages: Sequence[Any]) -> Iterator[tuple[int, bytes]]:
    # Each page starts a new row, so laying out a page alone gives the same result as with others.
    first = min(page.start for page in pages)
    text = queries.text_between(artifact_id, first, max(page.end for page in pages))
    if text is None:  # deleted since
        return
    for page in pages:
        own = text[page.start - first : page.end - first]
        words = [
            {"text": word.text, "box": word.box, "start": word.start + page.start,
             "end": word.end + page.start}
            for sheet in paginate(own)
            for word in sheet_words(own, sheet)
        ]  # fmt: skip
        yield page.number, orjson.dumps(words)
