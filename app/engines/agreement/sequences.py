"""Align two sequences in order so that paired items have the most in common."""

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Hashable, Sequence
from typing import TypeAlias

MAX_PYTHON_PAIRS = 10_000
"""The maximum number of item pairs compared without numpy, which needs a lot of memory."""
MAX_PAIRS = 30_000_000
"""The maximum number of item pairs compared with numpy; see `align_sequences`."""
_Items: TypeAlias = Sequence[Counter[int]]
"""The parts of each item as numbers, with the number of times that each part occurs."""
_Pair: TypeAlias = tuple[int | None, int | None]


def align_sequences(
    left: _Items, right: _Items, max_part_count: int, *, max_pairs: int = MAX_PAIRS
) -> list[_Pair]:
    """Align two sequences; return pairs of positions, with None for a missing partner.

    An item is a set of numbered parts. In `left`, each part has a count from 1 to
    `max_part_count`; in `right`, every count must be 1. The weight of two items is the sum of the
    `left` counts of the parts that they share. The alignment with the greatest total weight is
    returned. Items left over between aligned items share no part; they are paired by position.

    If more than `max_pairs` pairs would have to be compared, equal items that are unique on their
    side are paired instead, as many as possible in order (the "patience" diff of Bram Cohen). The
    items between these pairs are also paired by position.
    """
    content_pairs = _pair_by_content(left, right, max_part_count, max_pairs)
    pairs: list[_Pair] = []
    left_start = right_start = 0
    for next_left, next_right in [*content_pairs, (len(left), len(right))]:
        gap_length = max(next_left - left_start, next_right - right_start)
        pairs += (
            (
                left_start + n if left_start + n < next_left else None,
                right_start + n if right_start + n < next_right else None,
            )
            for n in range(gap_length)
        )
        if next_left < len(left) or next_right < len(right):
            pairs.append((next_left, next_right))
        left_start, right_start = next_left + 1, next_right + 1
    return pairs


def _pair_by_content(
    left: _Items, right: _Items, max_part_count: int, max_pairs: int
) -> list[tuple[int, int]]:
    """Pair items that share parts; return the pairs of positions in ascending order.

    The pairs have the greatest total weight (see `align_sequences`). If more than `max_pairs` pairs
    would have to be compared, pairs only equal items that occur once in each sequence.
    """
    # Equal items at both ends can always be paired without losing weight. This leaves little to
    # compare if the tables differ in only a few rows.
    head_length = _count_leading_equal_items(left, right, max_part_count)
    max_tail_length = min(len(left), len(right)) - head_length
    tail_length = min(
        _count_leading_equal_items(left[::-1], right[::-1], max_part_count), max_tail_length
    )
    shared_parts = _collect_parts(left) & _collect_parts(right)
    left_positions, right_positions = (
        [
            position
            for position in range(head_length, len(items) - tail_length)
            if not shared_parts.isdisjoint(items[position])
        ]
        for items in (left, right)
    )
    align = (
        _align_by_weight
        if len(left_positions) * len(right_positions) <= max_pairs
        else _align_unique_items
    )
    middle_pairs = align([left[n] for n in left_positions], [right[n] for n in right_positions])
    return [
        *((n, n) for n in range(head_length)),
        *(
            (left_positions[left_index], right_positions[right_index])
            for left_index, right_index in middle_pairs
        ),
        *((len(left) - n, len(right) - n) for n in range(tail_length, 0, -1)),
    ]


def _count_leading_equal_items(left: _Items, right: _Items, max_part_count: int) -> int:
    count = 0
    for left_item, right_item in zip(left, right, strict=False):
        if left_item.keys() != right_item.keys() or any(
            part_count != max_part_count for part_count in left_item.values()
        ):
            break
        count += 1
    return count


def _collect_parts(items: _Items) -> set[int]:
    return set().union(*items)


def _align_by_weight(left: _Items, right: _Items) -> list[tuple[int, int]]:
    """Align two sequences with the greatest total weight (see `align_sequences`); return the pairs.

    If several alignments have the greatest weight, returns the one that pairs the earliest items.
    """
    if len(left) * len(right) > MAX_PYTHON_PAIRS:
        from app.engines.agreement import long_sequences  # noqa: PLC0415 - numpy, which few processes need

        return long_sequences.align_by_weight(left, right)
    weights = _compute_weights(left, right)
    pairs = []
    left_index, right_index = len(left), len(right)
    while left_index and right_index:
        if weights[left_index][right_index] == weights[left_index][right_index - 1]:
            right_index -= 1
        elif weights[left_index][right_index] == weights[left_index - 1][right_index]:
            left_index -= 1
        else:
            left_index, right_index = left_index - 1, right_index - 1
            pairs.append((left_index, right_index))
    return pairs[::-1]


def _compute_weights(left: _Items, right: _Items) -> list[list[int]]:
    """Compute the table of the greatest total weights (see `align_sequences`).

    Entry [i][j] is the greatest weight for the first i items of `left` and the first j items of
    `right`.
    """
    part_positions: dict[int, list[int]] = defaultdict(list)
    for position, item in enumerate(right):
        for part in item:
            part_positions[part].append(position)
    table = [[0] * (len(right) + 1)]
    for item in left:
        weights = [0] * len(right)
        for part, count in item.items():
            for position in part_positions.get(part, ()):
                weights[position] += count
        above, row = table[-1], [0]
        for index, weight in enumerate(weights):
            row.append(max(row[index], above[index + 1], above[index] + weight))
        table.append(row)
    return table


def _align_unique_items(left: _Items, right: _Items) -> list[tuple[int, int]]:
    """Align equal items that are unique on their side; return as many ordered pairs as possible."""
    left_positions, right_positions = (_find_unique_items(side) for side in (left, right))
    # For each chain length, the lowest position in `right` at which a chain of this length ends.
    end_positions: list[int] = []
    # Each link has its positions in `left` and `right`, and the index of the link before it.
    links: list[tuple[int, int, int]] = []
    end_indexes: list[int] = []  # for each chain length, the index of the last link
    for parts, left_index in left_positions.items():
        right_index = right_positions.get(parts)
        if right_index is not None:
            length = bisect_left(end_positions, right_index)
            end_positions[length : length + 1] = [right_index]
            end_indexes[length : length + 1] = [len(links)]
            links.append((left_index, right_index, end_indexes[length - 1] if length else -1))
    pairs = []
    link_index = end_indexes[-1] if end_indexes else -1
    while link_index >= 0:
        left_index, right_index, link_index = links[link_index]
        pairs.append((left_index, right_index))
    return pairs[::-1]


def _find_unique_items(items: _Items) -> dict[Hashable, int]:
    """Find the items that occur only once; return their positions by item, in order."""
    keys: list[Hashable] = [
        next(iter(item)) if len(item) == 1 else frozenset(item) for item in items
    ]
    counts = Counter(keys)
    return {key: position for position, key in enumerate(keys) if counts[key] == 1}
