"""Measure the agreement of tag sets as a share from 0 to 1."""

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
"""The maximum number of marks that `agrees` matches, over all pairs: under half a second."""
_CLOSE = 1e-6
Counts = tuple[int, int]
"""Twice the number of matched tags, and the number of tags in both sets."""
_Said = dict[Place, list[Hashable]]
"""For each place the values or marks of one tag set."""
_Heard: TypeAlias = frozenset[tuple[Hashable, int]]
"""The values of one place without order; a repeated value is numbered, so it differs."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """The agreement of tag sets: overall, per field, and per place with a tag; shares from 0 to 1.

    If the effort limit did not suffice to match the marks of a place, `overall` is None and the
    place and its field are missing.
    """

    overall: float | None
    fields: dict[str, float]
    places: dict[Place, float]


def agreement(
    sets: Sequence[Sequence[Tag]], known: Shapes, effort: Effort | None = None
) -> Agreement | None:
    """Return the mean agreement over all pairs of tag sets; None for fewer than two sets.

    For a pair A and B it is 2 * |A and B| / (|A| + |B|), where |A and B| is the number of tags of A
    that have a match in B: the Dice coefficient, which is the F1 score of either set against the
    other (Hripcsak and Rothschild, 2005, JAMIA 12:296). It is computed over the tags of a place, of
    a field, or of all fields.

    If any set has a tag in a field or place, a pair that both leave it empty agrees fully (1). In
    the overall share such a pair has no weight, because neither set gave a value to count. Two sets
    without any tags agree fully.
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
    """Combine the counts of all fields; a place of each `unknown` field could not be compared."""
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
    """Return whether `agreement(...).overall` is at least `least`; None for fewer than two sets.

    Much cheaper than `agreement`, because it counts each pair of sets as a whole and stops as soon
    as the remaining pairs cannot change the answer. It runs within a request, so when matching
    would take too long (see `MOST_MATCHED`), agreement is not proven and the result is False.
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
        # Close to the threshold count every pair, so that rounding cannot decide.
        missing = least * len(couples) - fsum(shares)
        if missing > left + _CLOSE:
            return False
        if missing < -_CLOSE:
            return True
    return _mean(shares) >= least


class _Numbered:
    """The values of one tag set as numbers; equal values have equal numbers in all sets."""

    def __init__(self, said: _Said, numbers: dict[Hashable, int]) -> None:
        self.said: set[int] = set()
        self.marks: dict[int, tuple[Place, Mark]] = {}
        for place, held in said.items():
            times: Counter[Hashable] = Counter()
            for one in held:
                times[one] += 1
                # A value that is repeated in a place only matches the same repetition in another
                # set.
                number = numbers.setdefault((place, one, times[one]), len(numbers))
                self.said.add(number)
                if isinstance(one, Mark):
                    self.marks[number] = (place, one)
        self.size = len(self.said)

    def matches(self, other: "_Numbered", effort: Effort) -> int:
        """Return how many tags have a match in another set. Raises TooMuch."""
        same = self.said & other.said
        ours, theirs = self.rest(same), other.rest(same)
        alike = (
            pairs(ours[place], theirs[place], effort=effort)
            for place in ours.keys() & theirs.keys()
        )
        return len(same) + sum(map(len, alike))

    def rest(self, same: set[int]) -> dict[Place, list[Mark]]:
        """Return the marks at each place, without those that both sets contain."""
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
    """The number of matched tags for each pair of sets, and the number of tags of each set."""

    def __init__(self, count: int) -> None:
        self._couples = list(combinations(range(count), 2))
        self._sizes = [0] * count
        self._matched: Counter[tuple[int, int]] = Counter()
        # At most places the same sets agree, so the groups of equal sets are counted together.
        self._alike: Counter[tuple[int, ...]] = Counter()

    def add(self, held: dict[int, list[Hashable]], shape: Shape, effort: Effort | None) -> float:
        """Count one place and return the agreement on it over all pairs of sets.

        `held` maps the number of a set to its values there. Equal values are compared once. Raises
        TooMuch when `effort` is used up.
        """
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
        """Return the matched and total tag counts for each pair of sets."""
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
    """Return how many values of two results of `_distinct` for one place match."""
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
    # `fsum` is exact, so the order of the sets cannot change the last digits.
    return fsum(shares) / len(shares)
