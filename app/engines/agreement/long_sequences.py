"""Align long sequences with numpy. Import this module lazily: numpy uses a lot of memory."""

from collections import Counter, defaultdict
from collections.abc import Sequence

import numpy as np


def align_by_weight(
    left: Sequence[Counter[int]], right: Sequence[Counter[int]]
) -> list[tuple[int, int]]:
    """Align two sequences so that the total weight of the pairs is as great as possible.

    An item is a set of numbered parts. The weight of a pair is the sum of the counts, in `left`, of
    the parts that both items have. Returns the same pairs as `sequences._align_by_weight`, but
    stores only whether each entry of the weight table equals its left and its upper neighbor.
    """
    positions_by_part: dict[int, list[int]] = defaultdict(list)
    for position, item in enumerate(right):
        for part in item:
            positions_by_part[part].append(position)
    part_positions = {part: np.array(positions) for part, positions in positions_by_part.items()}
    above = np.zeros(len(right) + 1, np.int32)
    equals_left, equals_above = [], []
    for item in left:
        row = above.copy()
        paired_weights = above[:-1].copy()
        for part, count in item.items():
            if part in part_positions:
                paired_weights[part_positions[part]] += count
        np.maximum(row[1:], paired_weights, out=row[1:])
        # Skipping an item has no penalty, so no entry is smaller than the entry to its left.
        np.maximum.accumulate(row, out=row)
        equals_left.append(np.packbits(row[1:] == row[:-1]))
        equals_above.append(np.packbits(row[1:] == above[1:]))
        above = row
    pairs = []
    left_index, right_index = len(left), len(right)
    while left_index and right_index:
        byte, bit = divmod(right_index - 1, 8)
        if equals_left[left_index - 1][byte] << bit & 128:
            right_index -= 1
        elif equals_above[left_index - 1][byte] << bit & 128:
            left_index -= 1
        else:
            left_index, right_index = left_index - 1, right_index - 1
            pairs.append((left_index, right_index))
    return pairs[::-1]
