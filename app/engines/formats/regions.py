"""Find the boxes on pages that a tag set's evidence marks."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import itemgetter
from typing import Any, NamedTuple, TypeAlias

from app.engines.formats.model import Page, Row
from app.engines.formats.text_spans import has_offsets

Box: TypeAlias = tuple[float, float, float, float]


class Region(NamedTuple):
    """A box that a piece of evidence marks on a page, in fractions of the page from 0 to 1.

    `tag_index` is the index of the tag in the tag set, and `text` is the marked text, or None.
    """

    tag_index: int
    page: int
    box: Box
    text: str | None


def needs_words(row: Row) -> bool:
    """Return whether any evidence has offsets but no box, so that word boxes are needed."""
    return any(_has_only_offsets(piece) for _, piece in _iterate_evidence(row))


def locate_tags(row: Row, pages: Iterable[Page]) -> Iterator[tuple[Page, list[Region]]]:
    """Locate a row's tags on the pages: yield each page with its distinct regions, in tag order.

    Evidence without a box gets one region per page: the smallest box around the words that overlap
    its offsets.
    """
    evidence = list(_iterate_evidence(row))
    boxed_regions: dict[int, list[Region]] = {}
    for index, piece in evidence:
        if piece.get("box") is not None:
            region = Region(index, piece.get("page") or 0, tuple(piece["box"]), piece.get("text"))
            boxed_regions.setdefault(region.page, []).append(region)
    unboxed_evidence = [(index, piece) for index, piece in evidence if _has_only_offsets(piece)]
    for page in pages:
        page_regions = [*boxed_regions.get(page.number, ()), *_locate_words(page, unboxed_evidence)]
        yield page, list(dict.fromkeys(sorted(page_regions, key=itemgetter(0))))


def _iterate_evidence(row: Row) -> Iterator[tuple[int, Mapping[str, Any]]]:
    for index, tag in enumerate(row.get("tags") or ()):
        yield from ((index, piece) for piece in tag.get("evidence") or ())


def _has_only_offsets(piece: Mapping[str, Any]) -> bool:
    return piece.get("box") is None and has_offsets(piece)


def _locate_words(
    page: Page, evidence: Sequence[tuple[int, Mapping[str, Any]]]
) -> Iterator[Region]:
    """Yield, for each piece of evidence on the page, a region around the words that it marks."""
    words = sorted(page.words, key=lambda word: word.start) if evidence else []
    starts, ends = [word.start for word in words], [word.end for word in words]
    for index, piece in evidence:
        overlapping_words = words[
            bisect_right(ends, piece["start"]) : bisect_left(starts, piece["end"])
        ]
        if overlapping_words:
            lefts, tops, rights, bottoms = zip(
                *(word.box for word in overlapping_words), strict=True
            )
            box = (min(lefts), min(tops), max(rights), max(bottoms))
            yield Region(index, page.number, box, piece.get("text"))
