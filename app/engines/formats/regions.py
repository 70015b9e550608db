"""Find the boxes on pages that the tags of a tag set mark."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import itemgetter
from typing import Any, NamedTuple, TypeAlias

from app.engines.formats.model import Page, Row
from app.engines.formats.stretches import has_offsets

Box: TypeAlias = tuple[float, float, float, float]


class Region(NamedTuple):
    """A box on a page that a piece of evidence marks, in parts of the page from 0 to 1.

    `tag` is the position of its tag, and `text` the marked text, or None.
    """

    tag: int
    page: int
    box: Box
    text: str | None


def needs_words(row: Row) -> bool:
    """Return whether a tag has only offsets, so that its boxes are those of words."""
    return any(_lacks_box(piece) for _, piece in _list_evidence(row))


def locate_tags(row: Row, pages: Iterable[Page]) -> Iterator[tuple[Page, list[Region]]]:
    """Yield each page with its regions, in the order of the tags.

    Evidence without a box is at the words that its offsets overlap: one region on each page, the
    smallest box around those words.
    """
    evidence = list(_list_evidence(row))
    boxed: dict[int, list[Region]] = {}
    for number, piece in evidence:
        if piece.get("box") is not None:
            region = Region(number, piece.get("page") or 0, tuple(piece["box"]), piece.get("text"))
            boxed.setdefault(region.page, []).append(region)
    unboxed = [(number, piece) for number, piece in evidence if _lacks_box(piece)]
    for page in pages:
        found = [*boxed.get(page.number, ()), *_find_words(page, unboxed)]
        yield page, list(dict.fromkeys(sorted(found, key=itemgetter(0))))


def _list_evidence(row: Row) -> Iterator[tuple[int, Mapping[str, Any]]]:
    for number, tag in enumerate(row.get("tags") or ()):
        yield from ((number, piece) for piece in tag.get("evidence") or ())


def _lacks_box(piece: Mapping[str, Any]) -> bool:
    return piece.get("box") is None and has_offsets(piece)


def _find_words(page: Page, evidence: Sequence[tuple[int, Mapping[str, Any]]]) -> Iterator[Region]:
    """Yield a region around the words of the page that each piece of evidence overlaps."""
    words = sorted(page.words, key=lambda word: word.start) if evidence else []
    starts, ends = [word.start for word in words], [word.end for word in words]
    for number, piece in evidence:
        marked = words[bisect_right(ends, piece["start"]) : bisect_left(starts, piece["end"])]
        if marked:
            lefts, tops, rights, bottoms = zip(*(word.box for word in marked), strict=True)
            box = (min(lefts), min(tops), max(rights), max(bottoms))
            yield Region(number, page.number, box, piece.get("text"))
