"""Align two sequences in order so that paired members have the most in common."""

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Hashable, Sequence
from typing import TypeAlias

SMALL = 10_000
"""The maximum number of member pairs compared without numpy, which costs memory."""
LARGE = 30_000_000
"""The maximum number of member pairs compared at all; see `paired`."""
_Members: TypeAlias = Sequence[Counter[int]]
"""The parts of each member as numbers, with the count of each."""
_Pair: TypeAlias = tuple[int | None, int | None]


def align_sequences(
    left: _Members, right: _Members, most: int, *, large: int = LARGE
) -> list[_Pair]:
    """Align two sequences; return pairs of positions, with None for a missing partner.

    The alignment has the greatest total weight. For each part that both members of a pair have, the
    product of its counts is added to the weight of the pair. A member of `right` has each part
    once, a member of `left` at most `most` times. The members between two aligned pairs have
    nothing in common; they are paired in order.

    If more than `large` pairs would have to be compared, as many equal members as possible are
    paired instead, in order, if they are unique on their side (the "patience" diff of Bram Cohen).
    The members between them are paired in order.
    """
    anchors = _find_anchors(left, right, most, large)
    aligned: list[_Pair] = []
    here = there = 0
    for next_here, next_there in [*anchors, (len(left), len(right))]:
        gap = max(next_here - here, next_there - there)
        aligned += (
            (
                here + n if here + n < next_here else None,
                there + n if there + n < next_there else None,
            )
            for n in range(gap)
        )
        if next_here < len(left) or next_there < len(right):
            aligned.append((next_here, next_there))
        here, there = next_here + 1, next_there + 1
    return aligned


def _find_anchors(left: _Members, right: _Members, most: int, large: int) -> list[tuple[int, int]]:
    """Return the pairs that have something in common, in order."""
    # Equal members at both ends can always be paired without losing weight. This leaves little to
    # compare if the tables differ in only a few rows.
    head = _count_equal(left, right, most)
    shorter = min(len(left), len(right)) - head
    tail = min(_count_equal(left[::-1], right[::-1], most), shorter)
    shared = _list_parts(left) & _list_parts(right)
    left_positions = [n for n in range(head, len(left) - tail) if not shared.isdisjoint(left[n])]
    right_positions = [n for n in range(head, len(right) - tail) if not shared.isdisjoint(right[n])]
    search = (
        _align_heaviest if len(left_positions) * len(right_positions) <= large else _align_unique
    )
    middle = search([left[n] for n in left_positions], [right[n] for n in right_positions])
    return [
        *((n, n) for n in range(head)),
        *((left_positions[here], right_positions[there]) for here, there in middle),
        *((len(left) - n, len(right) - n) for n in range(tail, 0, -1)),
    ]


def _count_equal(left: _Members, right: _Members, most: int) -> int:
    count = 0
    for left_member, right_member in zip(left, right, strict=False):
        if left_member.keys() != right_member.keys() or any(
            times != most for times in left_member.values()
        ):
            break
        count += 1
    return count


def _list_parts(members: _Members) -> set[int]:
    return set().union(*members)


def _align_heaviest(left: _Members, right: _Members) -> list[tuple[int, int]]:
    """Return the pairs of an alignment with the greatest weight.

    Of several such alignments, returns the one that pairs the earliest members.
    """
    if len(left) * len(right) > SMALL:
        from app.engines.agreement import long  # noqa: PLC0415 - numpy, which few need

        return long.align_heaviest(left, right)
    table = _compute_weights(left, right)
    aligned = []
    here, there = len(left), len(right)
    while here and there:
        if table[here][there] == table[here][there - 1]:
            there -= 1
        elif table[here][there] == table[here - 1][there]:
            here -= 1
        else:
            here, there = here - 1, there - 1
            aligned.append((here, there))
    return aligned[::-1]


def _compute_weights(left: _Members, right: _Members) -> list[list[int]]:
    """Return the greatest weight for the first i members of `left` and j of `right`, as a table."""
    where: dict[int, list[int]] = defaultdict(list)
    for there, member in enumerate(right):
        for part in member:
            where[part].append(there)
    table = [[0] * (len(right) + 1)]
    for member in left:
        weights = [0] * len(right)
        for part, times in member.items():
            for there in where.get(part, ()):
                weights[there] += times
        above, row = table[-1], [0]
        for there, weight in enumerate(weights):
            row.append(max(row[there], above[there + 1], above[there] + weight))
        table.append(row)
    return table


def _align_unique(left: _Members, right: _Members) -> list[tuple[int, int]]:
    """Return the longest ordered list of pairs of equal members that are unique on their side."""
    left_keys, right_keys = (_find_unique(side) for side in (left, right))
    ends: list[int] = []  # for each chain length, the lowest position in `right` of a last pair
    # the positions in left and right, and the index of the previous pair of the chain
    chains: list[tuple[int, int, int]] = []
    tips: list[int] = []
    for parts, here in left_keys.items():
        there = right_keys.get(parts)
        if there is not None:
            length = bisect_left(ends, there)
            ends[length : length + 1] = [there]
            tips[length : length + 1] = [len(chains)]
            chains.append((here, there, tips[length - 1] if length else -1))
    aligned = []
    last = tips[-1] if tips else -1
    while last >= 0:
        here, there, last = chains[last]
        aligned.append((here, there))
    return aligned[::-1]


def _find_unique(members: _Members) -> dict[Hashable, int]:
    """Return the positions, in order, of members that occur only once."""
    keys: list[Hashable] = [
        next(iter(member)) if len(member) == 1 else frozenset(member) for member in members
    ]
    times = Counter(keys)
    return {key: position for position, key in enumerate(keys) if times[key] == 1}
