"""Two sequences lined up in order, so that what stands beside each other has most in common."""

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Hashable, Sequence
from typing import TypeAlias

SMALL = 10_000
"""So many pairs of members are weighed without numpy, which costs a process memory."""
LARGE = 30_000_000
"""More are not weighed; see `paired`."""
_Members: TypeAlias = Sequence[Counter[int]]
"""Of each member its parts, as numbers, and how often it has each."""
_Pair: TypeAlias = tuple[int | None, int | None]


def paired(left: _Members, right: _Members, most: int, *, large: int = LARGE) -> list[_Pair]:
    """Both from the first to the last: positions in `left` and `right`, None where one has none.

    Two members that stand beside each other weigh, over the parts of both, how often the one has it
    times the other; the sum is the greatest that there is. `right` has each part once, `left` at
    most `most` times. Between two such pairs, what has nothing in common is paired from the first.

    Where more than `large` pairs would have to be weighed, members that have the same parts, and
    that no other on their side has, are paired instead, as many as can be in order (the "patience"
    of Bram Cohen's diff); and what is between them from the first.
    """
    anchors = _anchors(left, right, most, large)
    found: list[_Pair] = []
    here = there = 0
    for next_here, next_there in [*anchors, (len(left), len(right))]:
        gap = max(next_here - here, next_there - there)
        found += (
            (
                here + n if here + n < next_here else None,
                there + n if there + n < next_there else None,
            )
            for n in range(gap)
        )
        if next_here < len(left) or next_there < len(right):
            found.append((next_here, next_there))
        here, there = next_here + 1, next_there + 1
    return found


def _anchors(left: _Members, right: _Members, most: int, large: int) -> list[tuple[int, int]]:
    """The pairs that weigh something, in order."""
    # Equal ends belong together in one of the best ways: to take such a pair apart wins no more
    # than it weighs. This leaves little of tables that differ in a few rows.
    head = _equal(left, right, most)
    shorter = min(len(left), len(right)) - head
    tail = min(_equal(left[::-1], right[::-1], most), shorter)
    shared = _parts(left) & _parts(right)
    ours = [n for n in range(head, len(left) - tail) if not shared.isdisjoint(left[n])]
    theirs = [n for n in range(head, len(right) - tail) if not shared.isdisjoint(right[n])]
    search = _heaviest if len(ours) * len(theirs) <= large else _unique
    middle = search([left[n] for n in ours], [right[n] for n in theirs])
    return [
        *((n, n) for n in range(head)),
        *((ours[here], theirs[there]) for here, there in middle),
        *((len(left) - n, len(right) - n) for n in range(tail, 0, -1)),
    ]


def _equal(left: _Members, right: _Members, most: int) -> int:
    count = 0
    for one, other in zip(left, right, strict=False):
        if one.keys() != other.keys() or any(times != most for times in one.values()):
            break
        count += 1
    return count


def _parts(members: _Members) -> set[int]:
    return set().union(*members)


def _heaviest(left: _Members, right: _Members) -> list[tuple[int, int]]:
    """The pairs of a heaviest alignment; of several, the one that skips the last it can."""
    if len(left) * len(right) > SMALL:
        from app.engines.agreement import long  # noqa: PLC0415 - numpy, which few need

        return long.heaviest(left, right)
    table = _weighed(left, right)
    found = []
    here, there = len(left), len(right)
    while here and there:
        if table[here][there] == table[here][there - 1]:
            there -= 1
        elif table[here][there] == table[here - 1][there]:
            here -= 1
        else:
            here, there = here - 1, there - 1
            found.append((here, there))
    return found[::-1]


def _weighed(left: _Members, right: _Members) -> list[list[int]]:
    """What the best alignment of the first members weighs: of so many of `left` and of `right`."""
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


def _unique(left: _Members, right: _Members) -> list[tuple[int, int]]:
    """The most pairs in order of members that are alike, and like no other on their side."""
    ours, theirs = (_once(side) for side in (left, right))
    ends: list[int] = []  # of the rising chains of each length, the least last position in `right`
    chains: list[tuple[int, int, int]] = []  # position in left and right, and of the one before
    tips: list[int] = []
    for parts, here in ours.items():
        there = theirs.get(parts)
        if there is not None:
            length = bisect_left(ends, there)
            ends[length : length + 1] = [there]
            tips[length : length + 1] = [len(chains)]
            chains.append((here, there, tips[length - 1] if length else -1))
    found = []
    last = tips[-1] if tips else -1
    while last >= 0:
        here, there, last = chains[last]
        found.append((here, there))
    return found[::-1]


def _once(members: _Members) -> dict[Hashable, int]:
    """The positions, in order, of members that no other is like."""
    keys: list[Hashable] = [
        next(iter(member)) if len(member) == 1 else frozenset(member) for member in members
    ]
    times = Counter(keys)
    return {key: position for position, key in enumerate(keys) if times[key] == 1}
