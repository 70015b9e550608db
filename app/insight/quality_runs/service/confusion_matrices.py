"""Build the confusion matrices of a choice field: between labelers, and with the accepted value."""

from collections import Counter
from collections.abc import Sequence
from itertools import combinations
from typing import Any

MAX_STORED_VALUES = 100
"""The maximum number of values in a stored matrix; less frequent values are combined into one."""


class ConfusionCounter:
    """Counts pairs of values of one field, including values that are not in `options`."""

    def __init__(self, options: Sequence[str]) -> None:
        self._numbers: dict[Any, int] = {option: n for n, option in enumerate(options)}
        self._labeler_pairs: Counter[tuple[int, int]] = Counter()
        self._accepted_pairs: Counter[tuple[int, int]] = Counter()

    def add(self, values: Sequence[Any]) -> None:
        """Count every pair of answers for a document, regardless of the order within a pair."""
        frequency = Counter(self._get_number(value) for value in values)
        for number, count in frequency.items():
            if count > 1:
                self._labeler_pairs[number, number] += count * (count - 1) // 2
        for a, b in combinations(sorted(frequency), 2):
            self._labeler_pairs[a, b] += frequency[a] * frequency[b]

    def add_accepted(self, values: Sequence[Any], accepted_value: object) -> None:
        """Count each answer for a document against the accepted value."""
        column = self._get_number(accepted_value)
        for value in values:
            self._accepted_pairs[self._get_number(value), column] += 1

    def build(self) -> dict[str, Any]:
        """Build the stored matrices from the counts, limited to the most frequent values."""
        values = list(self._numbers)
        return {
            "labelers": _keep_most_frequent(self._labeler_pairs, values),
            "accepted": _keep_most_frequent(self._accepted_pairs, values),
        }

    def _get_number(self, value: object) -> int:
        return self._numbers.setdefault(value, len(self._numbers))


def _keep_most_frequent(cells: Counter[tuple[int, int]], values: list[Any]) -> dict[str, Any]:
    frequency: Counter[int] = Counter()
    for (a, b), count in cells.items():
        frequency[a] += count
        frequency[b] += count
    ranked_numbers = sorted(frequency, key=lambda number: (-frequency[number], number))
    kept_numbers = ranked_numbers[:MAX_STORED_VALUES]
    positions = {number: position for position, number in enumerate(kept_numbers)}
    other = len(kept_numbers)
    reduced_cells: Counter[tuple[int, int]] = Counter()
    for (a, b), count in cells.items():
        # If both values of a pair are combined but differ, they get two different positions,
        # because a symmetric matrix counts a pair of different values twice.
        other_column = other if a == b else other + 1
        reduced_cells[positions.get(a, other), positions.get(b, other_column)] += count
    return {
        "values": [values[number] for number in kept_numbers],
        "other_values": len(ranked_numbers) - len(kept_numbers),
        "cells": [[a, b, count] for (a, b), count in sorted(reduced_cells.items())],
    }


def build_matrix(stored_data: dict[str, Any], *, limit: int, is_symmetric: bool) -> dict[str, Any]:
    """Build the response properties of a confusion matrix with the `limit` most frequent values.

    If `other_values` is not 0, the last row and column combine that many less frequent values.
    A symmetric matrix counts a pair of equal answers once. It counts a pair of different answers
    twice: in two cells, or twice in the combined cell if both values are combined.
    """
    values = stored_data["values"][:limit]
    other_count = stored_data["other_values"] + len(stored_data["values"]) - len(values)
    size = len(values) + bool(other_count)
    counts = [[0] * size for _ in range(size)]
    for a, b, count in stored_data["cells"]:
        row, column = min(a, len(values)), min(b, len(values))
        counts[row][column] += count
        if is_symmetric and a != b:
            counts[column][row] += count
    return {
        "values": values,
        "other_values": other_count,
        "counts": counts,
        "units": sum(count for _, _, count in stored_data["cells"]),
    }
