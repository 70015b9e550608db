"""Match large numbers of marks that nearly all overlap each other.

A mark is the position of a span or region tag, as a box. Up to `MAX_SORTED_PAIRS` candidate pairs
are scored as arrays and sorted. Above this number, the best partner of each mark is found by one
array operation over the nearby marks, so the cost grows with the number of marks and not with the
number of pairs. This module is imported lazily, because numpy increases the memory of every
process.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.engines.agreement.boxes import (
    Box,
    BoxIndex,
    Budget,
    build_sort_key,
    select_disjoint_pairs,
)

MAX_SORTED_PAIRS = 300_000
"""The maximum number of candidate pairs that are scored and sorted."""
MAX_COMPARISONS = 50_000_000
"""The maximum number of mark comparisons in `group_boxes`: about half a second of work."""
_MAX_REMOVED = 64
"""The arrays are rebuilt only after more than this number of marks have been removed."""
_FULL_WIDTH = (0.0, 1.0)  # the horizontal range of all spans


class _MarkIndex:
    """An index to search the marks of one page by overlap. Marks can be removed.

    Marks are identified by their positions in `boxes`, which are sorted from top to bottom.
    """

    def __init__(self, boxes: Sequence[Box], min_overlap: float) -> None:
        self.boxes = boxes
        self.min_overlap = min_overlap
        self._has_full_width = all((box[0], box[2]) == _FULL_WIDTH for box in boxes)
        self._is_present = np.ones(len(boxes), bool)
        self._build_arrays(np.arange(len(boxes)))

    def _build_arrays(self, positions: NDArray[np.int64]) -> None:
        self._positions = positions
        boxes = [self.boxes[position] for position in positions.tolist()]
        self._box_index = BoxIndex(boxes, self.min_overlap)
        corners = np.array(boxes, np.float64).reshape(-1, 4).T
        self._left, self._top, self._right, self._bottom = (row.copy() for row in corners)
        # The operations are those of `marks.compute_overlap`, so equal overlaps have equal values.
        self._area = (self._right - self._left) * (self._bottom - self._top)
        self._array_indexes = {
            position: array_index for array_index, position in enumerate(positions.tolist())
        }
        self._removed_count = 0

    def remove(self, position: int) -> None:
        """Exclude a mark from all later searches."""
        self._is_present[position] = False
        # With its top at +inf and its bottom at -inf, the box cannot overlap any other box.
        array_index = self._array_indexes[position]
        self._top[array_index], self._bottom[array_index] = np.inf, -np.inf
        self._removed_count += 1
        if self._removed_count > _MAX_REMOVED and 2 * self._removed_count > len(self._positions):
            self._build_arrays(self._positions[self._is_present[self._positions]])

    def find_best_match(self, box: Box) -> int | None:
        """Return the position of the mark that overlaps `box` the most.

        If there is a tie, returns the first position. Returns None if no overlap is large enough.
        """
        start, end, overlaps = self._compute_overlaps(box)
        if start == end:
            return None
        array_index = int(overlaps.argmax())
        overlap = overlaps[array_index]
        is_match = overlap > 0 and overlap >= self.min_overlap
        return int(self._positions[start + array_index]) if is_match else None

    def list_overlapping_marks(self, box: Box, budget: Budget) -> list[int]:
        """List the positions of the marks that overlap `box` by at least `min_overlap`.

        Raises BudgetExceeded if more marks are near `box` than `budget` allows.
        """
        start, end, overlaps = self._compute_overlaps(box)
        budget.spend(end - start)
        positions: list[int] = self._positions[start:end][overlaps >= self.min_overlap].tolist()
        return positions

    def _compute_overlaps(self, box: Box) -> tuple[int, int, Any]:
        """Return the range (start, end) of the marks near `box`, and their overlaps with `box`."""
        start, end = self._box_index.find_range(box)
        x0, y0, x1, y1 = box
        nearby = slice(start, end)
        intersection = np.minimum(self._bottom[nearby], y1)
        intersection -= np.maximum(self._top[nearby], y0)
        np.maximum(intersection, 0.0, out=intersection)
        if not (self._has_full_width and (x0, x1) == _FULL_WIDTH):
            width = np.minimum(self._right[nearby], x1)
            width -= np.maximum(self._left[nearby], x0)
            np.maximum(width, 0.0, out=width)
            intersection *= width
        union = self._area[nearby] + (x1 - x0) * (y1 - y0)
        union -= intersection
        return start, end, _divide_areas(intersection, union)


def _divide_areas(
    intersection: NDArray[np.float64], union: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Divide `intersection` by `union` in place; return 0 where tiny areas were rounded to 0."""
    return np.divide(intersection, union, out=intersection, where=union > 0)


def match_by_sorting(
    left: Sequence[Box],
    right: Sequence[Box],
    candidate_ranges: list[tuple[int, int]],
    min_overlap: float,
) -> list[tuple[int, int]]:
    """Match boxes greedily, after scoring and sorting all candidate pairs.

    Returns pairs of positions in `left` and `right`, which are both sorted from top to bottom.
    `candidate_ranges` contains, for each box in `left`, the range of boxes in `right` that may
    overlap it.
    """
    starts, ends = np.array(candidate_ranges, np.int64).reshape(-1, 2).T
    counts = ends - starts
    i = np.repeat(np.arange(len(left)), counts)
    j = np.arange(len(i)) + np.repeat(starts - (np.cumsum(counts) - counts), counts)
    a, b = (np.array(side, np.float64).reshape(-1, 4).T for side in (left, right))
    # The operations are those of `marks.compute_overlap`, so equal overlaps have equal values.
    intersection, width = (
        np.minimum(a[end][i], b[end][j]) - np.maximum(a[start][i], b[start][j])
        for start, end in ((1, 3), (0, 2))
    )
    intersection = np.maximum(intersection, 0.0) * np.maximum(width, 0.0)
    areas = [(side[2] - side[0]) * (side[3] - side[1]) for side in (a, b)]
    overlap = _divide_areas(intersection, areas[1][j] + areas[0][i] - intersection)
    is_kept = (overlap > 0) & (overlap >= min_overlap)
    i, j, overlap = i[is_kept], j[is_kept], overlap[is_kept]
    # If overlaps are equal, prefer the pair higher on the page, whichever side its boxes are on.
    ranks = {box: rank for rank, box in enumerate(sorted({*left, *right}, key=build_sort_key))}
    left_rank, right_rank = (
        np.array([ranks[box] for box in side], np.int64)[positions]
        for side, positions in ((left, i), (right, j))
    )
    order = np.lexsort(
        (np.maximum(left_rank, right_rank), np.minimum(left_rank, right_rank), -overlap)
    )
    return select_disjoint_pairs(zip(i[order].tolist(), j[order].tolist(), strict=True))


def match_by_search(
    left: Sequence[Box], right: Sequence[Box], min_overlap: float
) -> list[tuple[int, int]]:
    """Match boxes greedily by searching for the best partner of each box.

    Returns pairs of positions in `left` and `right`, which are both sorted from top to bottom.
    Follows a chain from mark to best partner until two marks are the best partners of each other.
    No better pair exists for either mark, so the greedy matching also contains this pair (Preis
    1999, "locally heaviest edges"). Each mark enters the chain once, and each pair causes one more
    search, so there are at most three searches per mark.
    """
    indexes = (_MarkIndex(left, min_overlap), _MarkIndex(right, min_overlap))
    pairs: list[tuple[int, int]] = []
    is_free = [True] * len(left)
    chain: list[int] = []  # The boxes alternate between `left` and `right`.
    for start in range(len(left)):
        if is_free[start]:
            chain.append(start)
        while chain:
            side = (len(chain) - 1) % 2
            current = chain[-1]
            partner = indexes[1 - side].find_best_match(indexes[side].boxes[current])
            if partner is None:
                # This mark will never have a partner, because removed marks do not return.
                indexes[side].remove(chain.pop())
                if side == 0:
                    is_free[current] = False
            elif len(chain) > 1 and chain[-2] == partner:
                pair = (current, partner) if side == 0 else (partner, current)
                del chain[-2:]
                for index, position in zip(indexes, pair, strict=True):
                    index.remove(position)
                is_free[pair[0]] = False
                pairs.append(pair)
            else:
                chain.append(partner)
    return pairs


def group_boxes(boxes: Sequence[Box], min_overlap: float) -> list[int]:
    """Group overlapping boxes; for each box, return the position of the first box of its group.

    The boxes are sorted from top to bottom. Two boxes are in one group if a chain of overlaps of at
    least `min_overlap` connects them. Raises BudgetExceeded after MAX_COMPARISONS comparisons.
    """
    index = _MarkIndex(boxes, min_overlap)
    budget = Budget(MAX_COMPARISONS)
    first_positions = [-1] * len(boxes)
    for start in range(len(boxes)):
        if first_positions[start] >= 0:
            continue
        first_positions[start] = start
        index.remove(start)
        pending = [start]
        while pending:
            for position in index.list_overlapping_marks(boxes[pending.pop()], budget):
                first_positions[position] = start
                index.remove(position)
                pending.append(position)
    return first_positions
