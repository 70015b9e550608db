"""Count how often labelers give different values of a choice field, and read the counts."""

from collections import Counter
from collections.abc import Sequence
from itertools import combinations
from typing import Any, NamedTuple

STORED_VALUES = 100
"""The number of the most frequent values that are stored; the others are summed as one."""


class Matrix(NamedTuple):
    """A confusion matrix. `values` are in order of frequency; None stands for no value.

    With `has_other`, the last row and column are all other values together.
    """

    values: list[str | bool | None]
    has_other: bool
    other_values: int
    counts: list[list[int]]
    units: int


class Confusion:
    """The counts of one field. Values that are not among `options` are added when they occur."""

    def __init__(self, options: Sequence[str]) -> None:
        self._numbers: dict[Any, int] = {option: n for n, option in enumerate(options)}
        self._of_labelers: Counter[tuple[int, int]] = Counter()
        self._of_accepted: Counter[tuple[int, int]] = Counter()

    def add(self, values: Sequence[Any]) -> None:
        """Count each two answers for a document; the order of a pair does not matter."""
        given = Counter(self._number(value) for value in values)
        for number, count in given.items():
            if count > 1:
                self._of_labelers[number, number] += count * (count - 1) // 2
        for a, b in combinations(sorted(given), 2):
            self._of_labelers[a, b] += given[a] * given[b]

    def add_accepted(self, values: Sequence[Any], accepted: Any) -> None:
        """Count each answer for a document against the accepted value."""
        column = self._number(accepted)
        for value in values:
            self._of_accepted[self._number(value), column] += 1

    def build(self) -> dict[str, Any]:
        """Return the counts as JSON values, reduced to the most frequent values."""
        names = list(self._numbers)
        return {
            "labelers": _reduce(self._of_labelers, names),
            "accepted": _reduce(self._of_accepted, names),
        }

    def _number(self, value: Any) -> int:
        return self._numbers.setdefault(value, len(self._numbers))


def _reduce(cells: Counter[tuple[int, int]], names: list[Any]) -> dict[str, Any]:
    frequency: Counter[int] = Counter()
    for (a, b), count in cells.items():
        frequency[a] += count
        frequency[b] += count
    ranked = sorted(frequency, key=lambda number: (-frequency[number], number))
    kept = ranked[:STORED_VALUES]
    positions = {number: position for position, number in enumerate(kept)}
    reduced: Counter[tuple[int, int]] = Counter()
    for (a, b), count in cells.items():
        reduced[positions.get(a, len(kept)), positions.get(b, len(kept))] += count
    return {
        "values": [names[number] for number in kept],
        "other_values": len(ranked) - len(kept),
        "cells": [[a, b, count] for (a, b), count in sorted(reduced.items())],
    }


def build_matrix(stored: dict[str, Any], *, limit: int, is_symmetric: bool) -> Matrix:
    """Return the matrix of the `limit` most frequent values, with all others summed as one.

    In a symmetric matrix, a pair of different answers counts in both of its cells, and a pair of
    equal answers once.
    """
    values = stored["values"][:limit]
    others = stored["other_values"] + len(stored["values"]) - len(values)
    size = len(values) + bool(others)
    counts = [[0] * size for _ in range(size)]
    for a, b, count in stored["cells"]:
        row, column = min(a, len(values)), min(b, len(values))
        counts[row][column] += count
        if is_symmetric and row != column:
            counts[column][row] += count
    units = sum(count for _, _, count in stored["cells"])
    return Matrix(values, others > 0, others, counts, units)
