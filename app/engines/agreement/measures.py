"""How far label sets agree, as a share from 0 to 1."""

from collections import Counter, defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import fsum

from app.engines.agreement.marks import Effort, Mark, TooMuch, pairs
from app.engines.agreement.places import (
    UNKNOWN,
    Place,
    Shape,
    Shapes,
    by_place,
    marks_of,
    value_key,
)
from app.engines.fields import Tag

MOST_MATCHED = 200_000
"""Marks that `agrees` matches with others, over all pairs of sets: less than half a second."""
_CLOSE = 1e-6
Counts = tuple[int, int]
"""Tags of both sets that found their like, of tags in both sets."""
_Said = dict[Place, list[Hashable]]
"""What a set says at each place: marks, or what tells its values apart."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """Shares from 0 to 1: over all, of each field, and of each place that has a tag."""

    overall: float
    fields: dict[str, float]
    places: dict[Place, float]


def agreement(sets: Sequence[Sequence[Tag]], known: Shapes) -> Agreement | None:
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
    places = {place for cells in indexed for place in cells}
    by_field: dict[str, list[float]] = defaultdict(list)
    by_cell: dict[Place, list[float]] = defaultdict(list)
    overall: list[float] = []
    for one, other in combinations(indexed, 2):
        sums: dict[str, Counts] = {}
        for place in places:
            field = place[0]
            counted = _counted(one, other, place, known.get(field, UNKNOWN))
            by_cell[place].append(_share(counted))
            sums[field] = _add(sums.get(field, (0, 0)), counted)
        for field, counted in sums.items():
            by_field[field].append(_share(counted))
        total = (0, 0)
        for counted in sums.values():
            total = _add(total, counted)
        overall.append(_share(total))
    return Agreement(
        _mean(overall),
        {field: _mean(shares) for field, shares in by_field.items()},
        {place: _mean(shares) for place, shares in by_cell.items()},
    )


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


def _counted(one: _Said, other: _Said, place: Place, shape: Shape) -> Counts:
    left, right = one.get(place), other.get(place)
    if not left or not right:
        return 0, len(left or ()) + len(right or ())
    return 2 * _matches(left, right, shape), len(left) + len(right)


def _matches(left: list[Hashable], right: list[Hashable], shape: Shape) -> int:
    if left == right:
        return len(left)
    if not shape.is_mark and len(left) == len(right) == 1:
        return 0
    ours, theirs = Counter(left), Counter(right)
    same = ours & theirs
    if not shape.is_mark:
        return same.total()
    rest = [
        [one for one in (said - same).elements() if isinstance(one, Mark)]
        for said in (ours, theirs)
    ]
    return same.total() + len(pairs(rest[0], rest[1]))


def _add(one: Counts, other: Counts) -> Counts:
    return one[0] + other[0], one[1] + other[1]


def _share(counted: Counts) -> float:
    matched, tags = counted
    return matched / tags if tags else 1.0


def _mean(shares: list[float]) -> float:
    # Exactly summed: the order of the sets does not show in the last digits.
    return fsum(shares) / len(shares)
