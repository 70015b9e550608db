"""Which marks of a page are near enough to overlap, found without looking at the others."""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import accumulate
from typing import TypeAlias

Box: TypeAlias = tuple[float, float, float, float]
_ROUNDING = 0.01


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
