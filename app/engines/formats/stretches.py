"""Find the text spans that the tags of a tag set mark."""

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from app.engines.formats.model import Row, Word


class TextSpan(NamedTuple):
    """A span of text that a piece of evidence marks; `tag` is the position of its tag."""

    start: int
    end: int
    field: str
    tag: int


def list_text_spans(row: Row) -> list[TextSpan]:
    """Return the text spans of all tags, in tag order, without duplicates for one tag."""
    text_spans = [
        TextSpan(piece["start"], piece["end"], tag["field"], number)
        for number, tag in enumerate(row.get("tags") or ())
        for piece in tag.get("evidence") or ()
        if has_offsets(piece)
    ]
    return list(dict.fromkeys(text_spans))


def has_offsets(piece: Mapping[str, Any]) -> bool:
    """Return whether a piece of evidence marks a text span."""
    start, end = piece.get("start"), piece.get("end")
    return start is not None and end is not None and 0 <= start < end


def select_disjoint(text_spans: Iterable[TextSpan]) -> list[TextSpan]:
    """Return text spans that do not overlap, in text order.

    If spans overlap, the longest is kept; of equally long spans, the span that starts first, and
    then the span of the first tag.
    """
    chosen: list[TextSpan] = []
    starts: list[int] = []
    ordered = sorted(text_spans, key=lambda span: (span.start - span.end, span.start, span.tag))
    for span in ordered:
        index = bisect_left(starts, span.start)
        if index < len(chosen) and chosen[index].start < span.end:
            continue
        if index and chosen[index - 1].end > span.start:
            continue
        chosen.insert(index, span)
        starts.insert(index, span.start)
    return chosen


def tag_words(words: Sequence[Word], text_spans: Sequence[TextSpan]) -> list[tuple[Word, str]]:
    """Return the words in text order, each with its IOB2 tag.

    `text_spans` do not overlap and are in text order. A word belongs to the first span that
    overlaps it. The first word of a span in `words` gets a B tag, even if the span begins before
    that word.
    """
    tagged: list[tuple[Word, str]] = []
    index, current_index = 0, -1
    for word in sorted(words, key=lambda word: word.start):
        while index < len(text_spans) and text_spans[index].end <= word.start:
            index += 1
        if index == len(text_spans) or text_spans[index].start >= word.end:
            tagged.append((word, "O"))
            continue
        tagged.append((word, f"{'I' if current_index == index else 'B'}-{text_spans[index].field}"))
        current_index = index
    return tagged
