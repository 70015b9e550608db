"""Find the stretches of a text that the tags of a tag set mark."""

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from app.engines.formats.model import Row, Word


class Stretch(NamedTuple):
    """A stretch of the text that a piece of evidence marks; `tag` is the position of its tag."""

    start: int
    end: int
    field: str
    tag: int


def list_stretches(row: Row) -> list[Stretch]:
    """Return the stretches of all tags, in the order of the tags, each stretch of a tag once."""
    stretches = [
        Stretch(piece["start"], piece["end"], tag["field"], number)
        for number, tag in enumerate(row.get("tags") or ())
        for piece in tag.get("evidence") or ()
        if has_offsets(piece)
    ]
    return list(dict.fromkeys(stretches))


def has_offsets(piece: Mapping[str, Any]) -> bool:
    """Return whether a piece of evidence marks a stretch of the text."""
    start, end = piece.get("start"), piece.get("end")
    return start is not None and end is not None and 0 <= start < end


def select_disjoint(stretches: Iterable[Stretch]) -> list[Stretch]:
    """Return stretches that do not overlap, in the order of the text.

    The longest wins, then the one that starts first, then the one of the first tag.
    """
    chosen: list[Stretch] = []
    starts: list[int] = []
    ordered = sorted(stretches, key=lambda one: (one.start - one.end, one.start, one.tag))
    for stretch in ordered:
        index = bisect_left(starts, stretch.start)
        if index < len(chosen) and chosen[index].start < stretch.end:
            continue
        if index and chosen[index - 1].end > stretch.start:
            continue
        chosen.insert(index, stretch)
        starts.insert(index, stretch.start)
    return chosen


def tag_words(words: Sequence[Word], stretches: Sequence[Stretch]) -> list[tuple[Word, str]]:
    """Return the words in the order of the text, each with its IOB2 tag.

    `stretches` do not overlap and are in the order of the text. A word belongs to the first stretch
    that overlaps it. The first word of a stretch among `words` gets a B, also if the stretch begins
    before them.
    """
    tagged: list[tuple[Word, str]] = []
    index, begun = 0, -1
    for word in sorted(words, key=lambda word: word.start):
        while index < len(stretches) and stretches[index].end <= word.start:
            index += 1
        if index == len(stretches) or stretches[index].start >= word.end:
            tagged.append((word, "O"))
            continue
        tagged.append((word, f"{'I' if begun == index else 'B'}-{stretches[index].field}"))
        begun = index
    return tagged
