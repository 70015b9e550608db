"""Find boxes of a page that may overlap, pair items, and limit the work of a computation."""

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from itertools import accumulate
from typing import TypeAlias, TypeVar

Box: TypeAlias = tuple[float, float, float, float]
"""The left, top, right and bottom edges of a box."""
_Item = TypeVar("_Item")
_ROUNDING_MARGIN = 0.01
"""Subtracted from the minimum overlap, so that `BoxIndex` misses no box due to rounding."""


class BudgetExceeded(Exception):  # noqa: N818 - a reason to return a simpler result, not an error
    """The computation needs more work than the caller allows."""


class Budget:
    """A limit on the work of a computation, counted in marks, rows or comparisons."""

    def __init__(self, max_count: int) -> None:
        self._remaining = max_count

    def spend(self, count: int) -> None:
        """Subtract `count` from the budget. Raises BudgetExceeded if less than `count` is left."""
        self._remaining -= count
        if self._remaining < 0:
            raise BudgetExceeded


def build_sort_key(box: Box) -> Box:
    """Return the sort key that orders boxes from top to bottom, then from left to right."""
    x0, y0, x1, y1 = box
    return y0, x0, y1, x1


def select_disjoint_pairs(ranked_pairs: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Select pairs in their order; skip a pair if one of its elements is already paired."""
    paired_left: set[int] = set()
    paired_right: set[int] = set()
    pairs = []
    for left, right in ranked_pairs:
        if left not in paired_left and right not in paired_right:
            paired_left.add(left)
            paired_right.add(right)
            pairs.append((left, right))
    return pairs


def pair_by_key(
    left: Sequence[_Item],
    right: Sequence[_Item],
    left_key: Callable[[_Item], Hashable],
    right_key: Callable[[_Item], Hashable],
) -> tuple[list[tuple[_Item, _Item]], list[_Item], list[_Item]]:
    """Pair items with equal keys, in order; return (pairs, unpaired left, unpaired right)."""
    unpaired: dict[Hashable, list[int]] = defaultdict(list)
    for position in reversed(range(len(right))):
        unpaired[right_key(right[position])].append(position)
    pairs, unpaired_left = [], []
    for item in left:
        candidates = unpaired.get(left_key(item))
        if candidates:
            pairs.append((item, right[candidates.pop()]))
        else:
            unpaired_left.append(item)
    remaining_positions = {position for positions in unpaired.values() for position in positions}
    unpaired_right = [
        item for position, item in enumerate(right) if position in remaining_positions
    ]
    return pairs, unpaired_left, unpaired_right


class BoxIndex:
    """An index to find the boxes on one page that overlap another box.

    `boxes` must be sorted by their top edges. `min_overlap` is the minimum intersection over union,
    from 0 to 1; if it is 0, any overlap counts.
    """

    def __init__(self, boxes: Sequence[Box], min_overlap: float) -> None:
        self._tops = [box[1] for box in boxes]
        # The running maximum of the bottom edges never decreases, so it can be searched by
        # bisection.
        self._max_bottoms = list(accumulate((box[3] for box in boxes), max))
        self._min_overlap = min_overlap

    def find_range(self, box: Box) -> tuple[int, int]:
        """Return a range (start, end) of positions, which contains all boxes that overlap `box`."""
        _, top, _, bottom = box
        height = bottom - top
        # If the intersection over union is at least p, the boxes share at least the fraction p of
        # each height, and the height of both together is at most height / p.
        min_fraction = max(self._min_overlap - _ROUNDING_MARGIN, 0.0)
        end = bisect_right(self._tops, bottom - min_fraction * height)
        start = bisect_right(self._max_bottoms, top + min_fraction * height, 0, end)
        if min_fraction:
            start = max(start, bisect_left(self._tops, bottom - height / min_fraction, 0, end))
        return start, max(start, end)
