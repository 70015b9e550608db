"""Which marks of a page are near enough to overlap, found without looking at the others."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import TypeAlias

Box: TypeAlias = tuple[float, float, float, float]
_ROUNDING = 0.01


class TooMuch(Exception):  # noqa: N818 - no error, but a reason to answer with less
    """More work than whoever asked has allowed."""


class Effort:
    """How many marks, or rows, may be looked at."""

    def __init__(self, most: int) -> None:
        self._left = most

    def spend(self, count: int) -> None:
        """Take from what is left; raises TooMuch when that is not enough."""
        self._left -= count
        if self._left < 0:
            raise TooMuch


def down(box: Box) -> Box:
    """What boxes are sorted by to go down the page, in a line from the left."""
    x0, y0, x1, y1 = box
    return y0, x0, y1, x1


def each_once(ranked: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Of pairs, the best first, those whose both sides no better one has."""
    taken_left: set[int] = set()
    taken_right: set[int] = set()
    chosen = []
    for here, there in ranked:
        if here not in taken_left and there not in taken_right:
            taken_left.add(here)
            taken_right.add(there)
            chosen.append((here, there))
    return chosen


class Windows:
    """Boxes of one page, the uppermost first: a sweep down the page."""

    def __init__(self, boxes: Sequence[Box], least: float) -> None:
        self._tops = [box[1] for box in boxes]
        # The lowest point of all up to here never rises: it can be searched.
        self._reach = list(accumulate((box[3] for box in boxes), max))
        self._least = least

    def of(self, box: Box) -> tuple[int, int]:
        """The stretch of the boxes, first and last + 1, outside of which none overlaps `box` by the
        least share; by 0 is by anything at all."""
        _, top, _, bottom = box
        height = bottom - top
        # Sharing a part p, of the height of both together, two boxes share p of either's height:
        # the other is no higher than height / p, and begins no later than where p is left.
        share = max(self._least - _ROUNDING, 0.0)
        last = bisect_right(self._tops, bottom - share * height)
        first = bisect_right(self._reach, top + share * height, 0, last)
        if share:
            first = max(first, bisect_left(self._tops, bottom - height / share, 0, last))
        return first, max(first, last)
