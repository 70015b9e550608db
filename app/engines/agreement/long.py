"""Align long sequences with numpy; imported lazily because numpy costs memory."""

from collections import Counter, defaultdict
from collections.abc import Sequence

import numpy as np


def align_heaviest(
    left: Sequence[Counter[int]], right: Sequence[Counter[int]]
) -> list[tuple[int, int]]:
    """Return the same pairs as `sequences._align_heaviest`, using numpy.

    Computes one table row at a time and keeps two bits per entry: whether the entry to the left and
    the entry above have the same weight.
    """
    places: dict[int, list[int]] = defaultdict(list)
    for there, member in enumerate(right):
        for part in member:
            places[part].append(there)
    where = {part: np.array(positions) for part, positions in places.items()}
    above = np.zeros(len(right) + 1, np.int32)
    as_before, as_above = [], []
    for member in left:
        row = above.copy()
        weighed = above[:-1].copy()
        for part, times in member.items():
            if part in where:
                weighed[where[part]] += times
        np.maximum(row[1:], weighed, out=row[1:])
        # Skipping costs nothing, so each entry is at least as large as the one to its left.
        np.maximum.accumulate(row, out=row)
        as_before.append(np.packbits(row[1:] == row[:-1]))
        as_above.append(np.packbits(row[1:] == above[1:]))
        above = row
    aligned = []
    here, there = len(left), len(right)
    while here and there:
        byte, bit = divmod(there - 1, 8)
        if as_before[here - 1][byte] << bit & 128:
            there -= 1
        elif as_above[here - 1][byte] << bit & 128:
            here -= 1
        else:
            here, there = here - 1, there - 1
            aligned.append((here, there))
    return aligned[::-1]
