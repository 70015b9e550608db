"""Stretches of text and boxes on pages: how far two of them overlap, and which belong together."""

from bisect import bisect_left, bisect_right
from collections.abc import Hashable, Iterator, Sequence
from operator import itemgetter
from typing import Any, NamedTuple

ALIKE = 0.5
"""From this share of overlap up, two marks are taken for the same (PASCAL VOC; Everingham 2010)."""
MAX_PAIRS = 40_000
"""More pairs at one place are not tried: marks are then compared in reading order."""
EACH = 8
"""As many for each mark are always tried."""


class Mark(NamedTuple):
    """What a tag marks: a box of (x0, y0, x1, y1), of a span (start, 0, end, 1).

    Marks on different pages, or of different labels, have nothing in common.
    """

    page: int
    box: tuple[float, float, float, float]
    label: Hashable = None


def span_of(evidence: Sequence[dict[str, Any]]) -> Mark | None:
    """The first stretch of text."""
    for piece in evidence:
        if piece["start"] is not None:
            return Mark(0, (piece["start"], 0, piece["end"], 1))
    return None


def region_of(evidence: Sequence[dict[str, Any]], label: Hashable) -> Mark | None:
    """The first box."""
    for piece in evidence:
        if piece["box"] is not None:
            x0, y0, x1, y1 = piece["box"]
            return Mark(piece["page"], (x0, y0, x1, y1), label)
    return None


def overlap(one: Mark, other: Mark) -> float:
    """Intersection over union, 0 to 1."""
    (page, box, label), (its_page, its_box, its_label) = one, other
    if page != its_page or label != its_label:
        return 0.0
    if box == its_box:
        return 1.0
    (a0, b0, a1, b1), (c0, d0, c1, d1) = box, its_box
    # Plain comparisons: `min` and `max` would take most of the time that many label sets take.
    width = (a1 if a1 < c1 else c1) - (a0 if a0 > c0 else c0)
    height = (b1 if b1 < d1 else d1) - (b0 if b0 > d0 else d0)
    if width <= 0 or height <= 0:
        return 0.0
    shared = width * height
    return shared / ((a1 - a0) * (b1 - b0) + (c1 - c0) * (d1 - d0) - shared)


def pairs(
    left: Sequence[Mark], right: Sequence[Mark], least: float = ALIKE
) -> list[tuple[int, int]]:
    """Positions in `left` and `right` of marks that overlap by `least` or more, each in one pair at
    most; the greatest overlap is paired first. With 0, any overlap will do.

    Swapping the sides swaps the pairs, whatever the order of equal overlaps.
    """
    found = []
    for here, there in _candidates(left, right, least):
        one, other = left[here], right[there]
        shared = overlap(one, other)
        if shared > 0 and shared >= least:
            places = (one[:2], other[:2]) if one[:2] <= other[:2] else (other[:2], one[:2])
            found.append((-shared, places, here, there))
    found.sort(key=itemgetter(0, 1))
    taken_left: set[int] = set()
    taken_right: set[int] = set()
    chosen = []
    for *_, here, there in found:
        if here not in taken_left and there not in taken_right:
            taken_left.add(here)
            taken_right.add(there)
            chosen.append((here, there))
    return chosen


def groups(marks: Sequence[Mark]) -> list[int]:
    """For each mark the number of its group: what is alike is together, and so is what is linked by
    others. The order of the marks does not matter to who is with whom."""
    parents = list(range(len(marks)))

    def root(one: int) -> int:
        while parents[one] != one:
            parents[one] = parents[parents[one]]
            one = parents[one]
        return one

    exact: dict[Mark, int] = {}
    for position, mark in enumerate(marks):
        parents[position] = exact.setdefault(mark, position)
    different = list(exact.values())
    kept = [marks[position] for position in different]
    for here, there in _candidates(kept, kept, ALIKE):
        if here < there and overlap(kept[here], kept[there]) >= ALIKE:
            parents[root(different[here])] = root(different[there])
    return [root(position) for position in range(len(marks))]


def _place(mark: Mark) -> tuple[int, tuple[float, float, float, float]]:
    return mark.page, mark.box


def _candidates(
    left: Sequence[Mark], right: Sequence[Mark], least: float
) -> Iterator[tuple[int, int]]:
    """Pairs that may overlap by `least`; where there are too many of them, neighbours."""
    if least < ALIKE:
        if len(left) * len(right) > MAX_PAIRS:
            return _neighbours(left, right)
        return ((here, there) for here in range(len(left)) for there in range(len(right)))
    order = sorted(range(len(right)), key=lambda i: right[i].box[0])
    windows = _windows(left, [right[i].box[0] for i in order])
    if sum(last - first for first, last in windows) > max(MAX_PAIRS, EACH * len(left)):
        return _neighbours(left, right)
    return (
        (here, order[rank])
        for here, (first, last) in enumerate(windows)
        for rank in range(first, last)
    )


def _windows(marks: Sequence[Mark], starts: list[float]) -> list[tuple[int, int]]:
    """For each mark the stretch of `starts`, in order, in which what overlaps it by half begins."""
    # What overlaps by half shares half the width of either: it begins at most half of this one's
    # width further on, and at most the whole of it before. A hundredth more is for rounding.
    found = []
    for mark in marks:
        start, _, end, _ = mark.box
        width = end - start
        first = bisect_left(starts, start - 1.01 * width)
        found.append((first, bisect_right(starts, start + 0.51 * width, first)))
    return found


def _neighbours(left: Sequence[Mark], right: Sequence[Mark]) -> Iterator[tuple[int, int]]:
    # In reading order: bounded work, and the same from both sides.
    near = max(1, MAX_PAIRS // max(len(left), len(right)) // 2)
    ours = sorted(range(len(left)), key=lambda i: _place(left[i]))
    theirs = sorted(range(len(right)), key=lambda i: _place(right[i]))
    for rank, here in enumerate(ours):
        for there in theirs[max(0, rank - near) : rank + near + 1]:
            yield here, there
