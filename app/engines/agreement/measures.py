"""How far label sets agree, as a share from 0 to 1."""

from collections import Counter, defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from math import fsum
from typing import TypeAlias

from app.engines.agreement.marks import Mark, pairs
from app.engines.agreement.places import (
    UNKNOWN,
    Place,
    Shape,
    Shapes,
    by_place,
    in_order,
    marks_of,
    value_key,
)
from app.engines.agreement.windows import Effort, TooMuch
from app.engines.fields import Tag

MOST_MATCHED = 200_000
"""Marks that `agrees` matches with others, over all pairs of sets: less than half a second."""
_CLOSE = 1e-6
Counts = tuple[int, int]
"""Tags of both sets that found their like, of tags in both sets."""
_Said = dict[Place, list[Hashable]]
"""What a set says at each place: marks, or what tells its values apart."""
_Heard: TypeAlias = frozenset[tuple[Hashable, int]]
"""The same of one place, without order: what is said twice is another the second time."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """Shares from 0 to 1: over all, of each field, and of each place that has a tag.

    Where the effort allowed did not reach to match the marks of a place, `overall` is None, and
    neither the place nor its field is among the others.
    """

    overall: float | None
    fields: dict[str, float]
    places: dict[Place, float]


def agreement(
    sets: Sequence[Sequence[Tag]], known: Shapes, effort: Effort | None = None
) -> Agreement | None:
    """The mean over all pairs of sets; None of fewer than two.

    Of a pair, A and B, it is 2 * |A and B| / (|A| + |B|), where |A and B| counts the tags of A that
    found their like in B: the coefficient of Dice, which is the F1 of either set measured by the
    other (Hripcsak and Rothschild, 2005, JAMIA 12:296). It is taken over the tags of a place, of a
    field, or of all fields.

    Empty and empty: of a field or place that any of the sets has a tag in, a pair that both leave
    empty agrees fully, 1. In the overall share such a field has no weight, as neither gave a value
    to count; two sets without any tags agree fully.
    """
    if len(sets) < 2:  # noqa: PLR2004 - it takes two to agree
        return None
    indexed = [_said(tags, known) for tags in sets]
    sums: dict[str, _Sums] = {}
    by_cell: dict[Place, float] = {}
    unknown: set[str] = set()
    for place in in_order({place for cells in indexed for place in cells}, known):
        name = place[0]
        held = {number: cells[place] for number, cells in enumerate(indexed) if place in cells}
        of_field = sums.setdefault(name, _Sums(len(sets)))
        try:
            by_cell[place] = of_field.add(held, known.get(name, UNKNOWN), effort)
        except TooMuch:
            unknown.add(name)
    return _summed(sums, unknown, by_cell)


def _summed(sums: "dict[str, _Sums]", unknown: set[str], by_cell: dict[Place, float]) -> Agreement:
    """What the fields come to; of the `unknown` ones a place was not compared."""
    counts = {name: found.counts() for name, found in sums.items()}
    by_field = {
        name: _mean(list(map(_share, counted)))
        for name, counted in counts.items()
        if name not in unknown
    }
    if unknown:
        return Agreement(None, by_field, by_cell)
    overall = [
        _share((sum(matched for matched, _ in couple), sum(tags for _, tags in couple)))
        for couple in zip(*counts.values(), strict=True)
    ]
    return Agreement(_mean(overall or [1.0]), by_field, by_cell)


def agrees(sets: Sequence[Sequence[Tag]], known: Shapes, least: float) -> bool | None:
    """Whether `agreement(...).overall` is `least` or more; None of fewer than two sets.

    Tells no more than that, at a fraction of the cost: it counts a pair of sets as a whole, and
    stops at the pair from which on the others cannot change the answer. It is asked in the middle
    of a request: where thousands of marks on top of each other would have to be told apart for
    longer than that can wait, agreement is not shown, which is False (see `MOST_MATCHED`).
    """
    if len(sets) < 2:  # noqa: PLR2004 - it takes two to agree
        return None
    numbers: dict[Hashable, int] = {}
    counted = [_Numbered(_said(tags, known), numbers) for tags in sets]
    couples = list(combinations(counted, 2))
    try:
        return _reach(couples, least, Effort(MOST_MATCHED))
    except TooMuch:
        return False


def _reach(couples: "Sequence[tuple[_Numbered, _Numbered]]", least: float, effort: Effort) -> bool:
    shares: list[float] = []
    for left, (one, other) in zip(range(len(couples) - 1, -1, -1), couples, strict=True):
        shares.append(_share((2 * one.matches(other, effort), one.size + other.size)))
        # Nothing is left to chance but rounding: close to the line, all of them are counted.
        missing = least * len(couples) - fsum(shares)
        if missing > left + _CLOSE:
            return False
        if missing < -_CLOSE:
            return True
    return _mean(shares) >= least


class _Numbered:
    """What a set says, as numbers: equal ones for what is equal, wherever it is said."""

    def __init__(self, said: _Said, numbers: dict[Hashable, int]) -> None:
        self.said: set[int] = set()
        self.marks: dict[int, tuple[Place, Mark]] = {}
        for place, held in said.items():
            times: Counter[Hashable] = Counter()
            for one in held:
                times[one] += 1
                # Said twice, it finds its like only where it is said twice.
                number = numbers.setdefault((place, one, times[one]), len(numbers))
                self.said.add(number)
                if isinstance(one, Mark):
                    self.marks[number] = (place, one)
        self.size = len(self.said)

    def matches(self, other: "_Numbered", effort: Effort) -> int:
        """How many of its tags find their like in another set. Raises TooMuch."""
        same = self.said & other.said
        ours, theirs = self.rest(same), other.rest(same)
        alike = (
            pairs(ours[place], theirs[place], effort=effort)
            for place in ours.keys() & theirs.keys()
        )
        return len(same) + sum(map(len, alike))

    def rest(self, same: set[int]) -> dict[Place, list[Mark]]:
        """Its marks at each place, but those that both sets have."""
        found: dict[Place, list[Mark]] = defaultdict(list)
        for number, (place, mark) in self.marks.items():
            if number not in same:
                found[place].append(mark)
        return found


def _said(tags: Sequence[Tag], known: Shapes) -> _Said:
    found: _Said = {}
    for place, held in by_place(tags).items():
        marks = marks_of(held, known.get(place[0], UNKNOWN))
        found[place] = [value_key(tag) for tag in held] if marks is None else list(marks)
    return found


class _Sums:
    """Of each pair of `count` sets the tags that found their like, and of each set its tags."""

    def __init__(self, count: int) -> None:
        self._couples = list(combinations(range(count), 2))
        self._sizes = [0] * count
        self._matched: Counter[tuple[int, int]] = Counter()
        # Most places are said alike by the same sets: those are counted together.
        self._alike: Counter[tuple[int, ...]] = Counter()

    def add(self, held: dict[int, list[Hashable]], shape: Shape, effort: Effort | None) -> float:
        """Count a place that so many sets say so much at; how far they agree on it, over all pairs.
        What sets say alike is compared once. Raises TooMuch when `effort` is used up."""
        heard: dict[_Heard, list[int]] = defaultdict(list)
        for number, said in held.items():
            heard[_distinct(said)].append(number)
            self._sizes[number] += len(said)
        empty = len(self._sizes) - len(held)
        same = empty * (empty - 1) // 2
        for distinct, numbers in heard.items():
            self._alike[tuple(numbers)] += len(distinct)
            same += len(numbers) * (len(numbers) - 1) // 2
        shares = [float(same)]
        single = not shape.is_mark and max(map(len, heard)) == 1
        for one, other in () if single else combinations(heard, 2):
            matched = _matches(one, other, shape, effort)
            if matched:
                pairs_of = list(product(heard[one], heard[other]))
                shares += [2 * matched / (len(one) + len(other))] * len(pairs_of)
                for here, there in pairs_of:
                    self._matched[min(here, there), max(here, there)] += matched
        return fsum(shares) / len(self._couples)

    def counts(self) -> list[Counts]:
        """Of each pair of sets."""
        matched = self._matched.copy()
        for numbers, count in self._alike.items():
            for couple in combinations(numbers, 2):
                matched[couple] += count
        return [
            (2 * matched[one, other], self._sizes[one] + self._sizes[other])
            for one, other in self._couples
        ]


def _distinct(said: list[Hashable]) -> _Heard:
    if len(said) == 1:
        return frozenset(((said[0], 1),))
    times: Counter[Hashable] = Counter()
    found: list[tuple[Hashable, int]] = []
    for one in said:
        times[one] += 1
        found.append((one, times[one]))
    return frozenset(found)


def _matches(one: _Heard, other: _Heard, shape: Shape, effort: Effort | None) -> int:
    """How many find their like, of what `_distinct` made of two sets' tags at a place."""
    same = one & other
    if not shape.is_mark:
        return len(same)
    ours, theirs = (
        [mark for mark, _ in said - same if isinstance(mark, Mark)] for said in (one, other)
    )
    return len(same) + (len(pairs(ours, theirs, effort=effort)) if ours and theirs else 0)


def _share(counted: Counts) -> float:
    matched, tags = counted
    return matched / tags if tags else 1.0


def _mean(shares: list[float]) -> float:
    # Exactly summed: the order of the sets does not show in the last digits.
    return fsum(shares) / len(shares)
