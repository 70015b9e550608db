"""Match large numbers of marks that nearly all overlap each other.

Up to `LISTED` candidate pairs are scored as arrays and sorted. Beyond that, each mark looks up its
best partner in one array operation over the nearby marks, so the cost grows with the number of
marks and not with the number of pairs. Imported lazily, because numpy increases the memory of every
process.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.engines.agreement.windows import Box, Budget, Windows, build_sort_key, select_disjoint

LISTED = 300_000
"""The maximum number of candidate pairs that are scored and sorted."""
MOST_LOOKED = 50_000_000
"""The maximum number of mark comparisons in `group_boxes`: about half a second of work."""
_SMALL = 64
"""Removed entries are kept in the arrays up to this number; rebuilding would cost more."""
_FULL = (0.0, 1.0)


class _MarkIndex:
    """Marks of one page, from top to bottom, that can be searched by overlap and removed.

    Results are positions in the sequence that was passed in.
    """

    def __init__(self, boxes: Sequence[Box], min_overlap: float) -> None:
        self.boxes = boxes
        self.min_overlap = min_overlap
        self._flat = all((box[0], box[2]) == _FULL for box in boxes)
        self._present = np.ones(len(boxes), bool)
        self._build_arrays(np.arange(len(boxes)))

    def _build_arrays(self, numbers: NDArray[np.int64]) -> None:
        self._numbers = numbers
        boxes = [self.boxes[number] for number in numbers.tolist()]
        self._windows = Windows(boxes, self.min_overlap)
        corners = np.array(boxes, np.float64).reshape(-1, 4).T
        self._left, self._top, self._right, self._bottom = (row.copy() for row in corners)
        # The same arithmetic as `marks.compute_overlap`, so that equal overlaps give equal numbers.
        self._area = (self._right - self._left) * (self._bottom - self._top)
        self._index = {number: place for place, number in enumerate(numbers.tolist())}
        self._removed = 0

    def remove(self, number: int) -> None:
        """Exclude a mark from all later results."""
        self._present[number] = False
        # With its top at +inf and its bottom at -inf, the box cannot overlap any other.
        place = self._index[number]
        self._top[place], self._bottom[place] = np.inf, -np.inf
        self._removed += 1
        if self._removed > _SMALL and 2 * self._removed > len(self._numbers):
            self._build_arrays(self._numbers[self._present[self._numbers]])

    def find_best(self, box: Box) -> int | None:
        """Return the mark that overlaps `box` most, if that is enough; the first on a tie."""
        first, last, shares = self._compute_shares(box)
        if first == last:
            return None
        place = int(shares.argmax())
        share = shares[place]
        overlaps = share > 0 and share >= self.min_overlap
        return int(self._numbers[first + place]) if overlaps else None

    def list_overlapping(self, box: Box, budget: Budget) -> list[int]:
        """Return all marks that overlap `box` by `min_overlap` or more. Raises BudgetExceeded."""
        first, last, shares = self._compute_shares(box)
        budget.spend(last - first)
        numbers: list[int] = self._numbers[first:last][shares >= self.min_overlap].tolist()
        return numbers

    def _compute_shares(self, box: Box) -> tuple[int, int, Any]:
        first, last = self._windows.get_range(box)
        x0, y0, x1, y1 = box
        near = slice(first, last)
        shared = np.minimum(self._bottom[near], y1)
        shared -= np.maximum(self._top[near], y0)
        np.maximum(shared, 0.0, out=shared)
        if not (self._flat and (x0, x1) == _FULL):
            width = np.minimum(self._right[near], x1)
            width -= np.maximum(self._left[near], x0)
            np.maximum(width, 0.0, out=width)
            shared *= width
        either = self._area[near] + (x1 - x0) * (y1 - y0)
        either -= shared
        return first, last, np.divide(shared, either, out=shared)


def match_by_list(
    left: Sequence[Box], right: Sequence[Box], stretches: list[tuple[int, int]], min_overlap: float
) -> list[tuple[int, int]]:
    """Score all candidate pairs and return the greedy matching as positions in `left` and `right`.

    Both sequences are sorted down the page. `stretches` gives, for each box of `left`, the range of
    `right` that may overlap it.
    """
    first, last = np.array(stretches, np.int64).reshape(-1, 2).T
    near = last - first
    here = np.repeat(np.arange(len(left)), near)
    there = np.arange(len(here)) + np.repeat(first - (np.cumsum(near) - near), near)
    ours, theirs = (np.array(side, np.float64).reshape(-1, 4).T for side in (left, right))
    # The same arithmetic as `marks.compute_overlap`, so that equal overlaps give equal numbers.
    shared, width = (
        np.minimum(ours[end][here], theirs[end][there])
        - np.maximum(ours[start][here], theirs[start][there])
        for start, end in ((1, 3), (0, 2))
    )
    shared = np.maximum(shared, 0.0) * np.maximum(width, 0.0)
    areas = [(side[2] - side[0]) * (side[3] - side[1]) for side in (ours, theirs)]
    share = shared / (areas[1][there] + areas[0][here] - shared)
    kept = (share > 0) & (share >= min_overlap)
    here, there, share = here[kept], there[kept], share[kept]
    # Of equal overlaps, prefer the pair higher on the page, whichever side its boxes are on.
    height = {box: rank for rank, box in enumerate(sorted({*left, *right}, key=build_sort_key))}
    left_rank, right_rank = (
        np.array([height[box] for box in side], np.int64)[places]
        for side, places in ((left, here), (right, there))
    )
    order = np.lexsort(
        (np.maximum(left_rank, right_rank), np.minimum(left_rank, right_rank), -share)
    )
    return select_disjoint(zip(here[order].tolist(), there[order].tolist(), strict=True))


def match_by_search(
    left: Sequence[Box], right: Sequence[Box], min_overlap: float
) -> list[tuple[int, int]]:
    """Return the greedy matching as positions in `left` and `right`, both sorted down the page.

    Follows a chain from each mark to its best partner until two marks are each other's best. No
    better pair exists for either, so the greedy matching contains that pair too (Preis 1999,
    "locally heaviest edges"). Each mark enters the chain once, and each pair causes one more
    lookup: at most three lookups per mark.
    """
    indexes = (_MarkIndex(left, min_overlap), _MarkIndex(right, min_overlap))
    chosen: list[tuple[int, int]] = []
    free = [True] * len(left)
    chain: list[int] = []  # alternates between left and right
    for start in range(len(left)):
        if free[start]:
            chain.append(start)
        while chain:
            side = (len(chain) - 1) % 2
            here = chain[-1]
            there = indexes[1 - side].find_best(indexes[side].boxes[here])
            if there is None:
                # It will never have a partner, because removed marks do not return.
                indexes[side].remove(chain.pop())
                if side == 0:
                    free[here] = False
            elif len(chain) > 1 and chain[-2] == there:
                pair = (here, there) if side == 0 else (there, here)
                del chain[-2:]
                for index, number in zip(indexes, pair, strict=True):
                    index.remove(number)
                free[pair[0]] = False
                chosen.append(pair)
            else:
                chain.append(there)
    return chosen


def group_boxes(boxes: Sequence[Box], min_overlap: float) -> list[int]:
    """Return for each box the position of the first box in its overlap group.

    Boxes are sorted down the page. Two boxes are in one group if a chain of overlaps of at least
    `min_overlap` connects them. Raises BudgetExceeded.
    """
    index = _MarkIndex(boxes, min_overlap)
    budget = Budget(MOST_LOOKED)
    firsts = [-1] * len(boxes)
    for start in range(len(boxes)):
        if firsts[start] >= 0:
            continue
        firsts[start] = start
        index.remove(start)
        pending = [start]
        while pending:
            for number in index.list_overlapping(boxes[pending.pop()], budget):
                firsts[number] = start
                index.remove(number)
                pending.append(number)
    return firsts
