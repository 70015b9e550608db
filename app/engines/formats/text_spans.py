"""Find the text spans that a tag set's evidence marks, and tag words with them."""

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from app.engines.formats.model import Row, Word


class TextSpan(NamedTuple):
    """A span of text that a piece of evidence marks.

    `start` and `end` are code point offsets. `tag_index` is the index of the tag in the tag set.
    """

    start: int
    end: int
    field: str
    tag_index: int


def list_text_spans(row: Row) -> list[TextSpan]:
    """Return the text spans of all tags, in the order of the tags.

    If a tag marks the same span twice, the span is returned once for this tag.
    """
    text_spans = [
        TextSpan(piece["start"], piece["end"], tag["field"], index)
        for index, tag in enumerate(row.get("tags") or ())
        for piece in tag.get("evidence") or ()
        if has_offsets(piece)
    ]
    return list(dict.fromkeys(text_spans))


def has_offsets(piece: Mapping[str, Any]) -> bool:
    """Return whether a piece of evidence has valid offsets, so that it marks a text span."""
    start, end = piece.get("start"), piece.get("end")
    return start is not None and end is not None and 0 <= start < end


def select_disjoint_spans(text_spans: Iterable[TextSpan]) -> list[TextSpan]:
    """Select text spans that do not overlap, and return them in text order.

    Of overlapping spans, the longest is kept. Of equally long spans, the span that starts first is
    kept. If they start at the same offset, the span of the first tag is kept.
    """
    selected_spans: list[TextSpan] = []
    starts: list[int] = []
    ordered_spans = sorted(
        text_spans, key=lambda span: (span.start - span.end, span.start, span.tag_index)
    )
    for span in ordered_spans:
        index = bisect_left(starts, span.start)
        if index < len(selected_spans) and selected_spans[index].start < span.end:
            continue
        if index and selected_spans[index - 1].end > span.start:
            continue
        selected_spans.insert(index, span)
        starts.insert(index, span.start)
    return selected_spans


def tag_words(words: Sequence[Word], text_spans: Sequence[TextSpan]) -> list[tuple[Word, str]]:
    """Tag words with IOB2 tags, and return the words in text order with their tags.

    `text_spans` must be in text order and must not overlap. A word belongs to the first span that
    overlaps it. The first word in a span gets a B tag, even if the span begins before that word.
    """
    tagged_words: list[tuple[Word, str]] = []
    index, current_index = 0, -1
    for word in sorted(words, key=lambda word: word.start):
        while index < len(text_spans) and text_spans[index].end <= word.start:
            index += 1
        if index == len(text_spans) or text_spans[index].start >= word.end:
            tagged_words.append((word, "O"))
            continue
        tagged_words.append(
            (word, f"{'I' if current_index == index else 'B'}-{text_spans[index].field}")
        )
        current_index = index
    return tagged_words
