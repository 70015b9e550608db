"""Measure the agreement of tag sets as a share from 0 to 1."""

from collections import Counter, defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from math import fsum
from typing import TypeAlias

from app.engines.agreement.marks import Mark, match_marks
from app.engines.agreement.places import (
    UNKNOWN_SHAPE,
    Place,
    Shape,
    Shapes,
    build_value_key,
    group_by_place,
    list_marks,
    sort_places,
)
from app.engines.agreement.windows import Budget, BudgetExceeded
from app.engines.fields import Tag

MOST_MATCHED = 200_000
"""The maximum number of marks that `has_agreement` matches, over all pairs: under half a second."""
_ROUNDING_MARGIN = 1e-6
Counts = tuple[int, int]
"""Twice the number of matched tags, and the number of tags in both sets."""
_PlaceValues = dict[Place, list[Hashable]]
"""The values or marks of one tag set by place."""
_DistinctValues: TypeAlias = frozenset[tuple[Hashable, int]]
"""The values of one place without order; repeated values are numbered to keep them distinct."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """The agreement of tag sets: overall, per field, and per place with a tag; shares from 0 to 1.

    If matching the marks of a place would exceed the budget limit, `overall` is None, and the place
    and its field are missing.
    """

    overall: float | None
    fields: dict[str, float]
    places: dict[Place, float]


def measure_agreement(
    sets: Sequence[Sequence[Tag]], shapes: Shapes, budget: Budget | None = None
) -> Agreement | None:
    """Return the mean agreement over all pairs of tag sets; None for fewer than two sets.

    For a pair A and B it is 2 * |A and B| / (|A| + |B|), where |A and B| is the number of tags of A
    that have a match in B: the Dice coefficient, which is the F1 score of either set against the
    other (Hripcsak and Rothschild, 2005, JAMIA 12:296). It is computed over the tags of a place, of
    a field, or of all fields.

    If any set has a tag in a field or place, a pair of sets that both leave it empty agrees fully
    (1). In the overall share such a pair has no weight, because it has no values to count. Two sets
    without any tags agree fully.
    """
    if len(sets) < 2:  # noqa: PLR2004 - it takes two to agree
        return None
    indexed = [_list_values(tags, shapes) for tags in sets]
    sums: dict[str, _Sums] = {}
    by_place: dict[Place, float] = {}
    incomparable: set[str] = set()
    for place in sort_places({place for place_values in indexed for place in place_values}, shapes):
        name = place[0]
        values_by_set = {
            number: place_values[place]
            for number, place_values in enumerate(indexed)
            if place in place_values
        }
        field_sums = sums.setdefault(name, _Sums(len(sets)))
        try:
            by_place[place] = field_sums.add(values_by_set, shapes.get(name, UNKNOWN_SHAPE), budget)
        except BudgetExceeded:
            incomparable.add(name)
    return _combine_fields(sums, incomparable, by_place)


def _combine_fields(
    sums: "dict[str, _Sums]", incomparable: set[str], by_place: dict[Place, float]
) -> Agreement:
    """Combine the counts of all fields; `incomparable` fields have a place without a result."""
    counts = {name: field_sums.list_counts() for name, field_sums in sums.items()}
    by_field = {
        name: _compute_mean(list(map(_compute_share, field_counts)))
        for name, field_counts in counts.items()
        if name not in incomparable
    }
    if incomparable:
        return Agreement(None, by_field, by_place)
    overall = [
        _compute_share(
            (sum(matched for matched, _ in pair_counts), sum(tags for _, tags in pair_counts))
        )
        for pair_counts in zip(*counts.values(), strict=True)
    ]
    return Agreement(_compute_mean(overall or [1.0]), by_field, by_place)


def has_agreement(sets: Sequence[Sequence[Tag]], shapes: Shapes, threshold: float) -> bool | None:
    """Return whether the overall agreement reaches `threshold`; None for fewer than two sets.

    Much cheaper than `measure_agreement`, because it counts each pair of sets as a whole and stops
    as soon as the remaining pairs cannot change the answer. It runs within a request, so when
    matching would take too long (see `MOST_MATCHED`), agreement is not proven and the result is
    False.
    """
    if len(sets) < 2:  # noqa: PLR2004 - it takes two to agree
        return None
    numbers: dict[Hashable, int] = {}
    numbered_values = [_NumberedValues(_list_values(tags, shapes), numbers) for tags in sets]
    set_pairs = list(combinations(numbered_values, 2))
    try:
        return _is_threshold_reached(set_pairs, threshold, Budget(MOST_MATCHED))
    except BudgetExceeded:
        return False


def _is_threshold_reached(
    set_pairs: "Sequence[tuple[_NumberedValues, _NumberedValues]]",
    threshold: float,
    budget: Budget,
) -> bool:
    shares: list[float] = []
    for remaining, (first, second) in zip(
        range(len(set_pairs) - 1, -1, -1), set_pairs, strict=True
    ):
        shares.append(
            _compute_share((2 * first.count_matches(second, budget), first.size + second.size))
        )
        # Close to the threshold, every pair is counted, so that rounding cannot decide.
        missing = threshold * len(set_pairs) - fsum(shares)
        if missing > remaining + _ROUNDING_MARGIN:
            return False
        if missing < -_ROUNDING_MARGIN:
            return True
    return _compute_mean(shares) >= threshold


class _NumberedValues:
    """The values of one tag set as numbers; equal values have equal numbers in all sets."""

    def __init__(self, place_values: _PlaceValues, numbers: dict[Hashable, int]) -> None:
        self.values: set[int] = set()
        self.marks: dict[int, tuple[Place, Mark]] = {}
        for place, values in place_values.items():
            times: Counter[Hashable] = Counter()
            for value in values:
                times[value] += 1
                # The second occurrence of a value in a place only matches a second occurrence in
                # another set, and so on.
                number = numbers.setdefault((place, value, times[value]), len(numbers))
                self.values.add(number)
                if isinstance(value, Mark):
                    self.marks[number] = (place, value)
        self.size = len(self.values)

    def count_matches(self, other: "_NumberedValues", budget: Budget) -> int:
        """Return the number of tags that have a match in another set. Raises BudgetExceeded."""
        common_numbers = self.values & other.values
        own_marks, other_marks = self.list_marks(common_numbers), other.list_marks(common_numbers)
        pairs = (
            match_marks(own_marks[place], other_marks[place], budget=budget)
            for place in own_marks.keys() & other_marks.keys()
        )
        return len(common_numbers) + sum(map(len, pairs))

    def list_marks(self, excluded_numbers: set[int]) -> dict[Place, list[Mark]]:
        """Return the marks at each place, except the marks with these numbers."""
        remaining: dict[Place, list[Mark]] = defaultdict(list)
        for number, (place, mark) in self.marks.items():
            if number not in excluded_numbers:
                remaining[place].append(mark)
        return remaining


def _list_values(tags: Sequence[Tag], shapes: Shapes) -> _PlaceValues:
    place_values: _PlaceValues = {}
    for place, place_tags in group_by_place(tags).items():
        marks = list_marks(place_tags, shapes.get(place[0], UNKNOWN_SHAPE))
        place_values[place] = (
            [build_value_key(tag) for tag in place_tags] if marks is None else list(marks)
        )
    return place_values


class _Sums:
    """The number of matched tags for each pair of sets, and the number of tags of each set."""

    def __init__(self, count: int) -> None:
        self._set_pairs = list(combinations(range(count), 2))
        self._sizes = [0] * count
        self._matched: Counter[tuple[int, int]] = Counter()
        # The same sets agree at most places, so equal groups of sets are counted together.
        self._equal_groups: Counter[tuple[int, ...]] = Counter()

    def add(
        self, values_by_set: dict[int, list[Hashable]], shape: Shape, budget: Budget | None
    ) -> float:
        """Count one place and return the agreement on it over all pairs of sets.

        `values_by_set` maps set numbers to values at the place. Equal values are compared once.
        Raises BudgetExceeded when `budget` is used up.
        """
        sets_by_values: dict[_DistinctValues, list[int]] = defaultdict(list)
        for number, values in values_by_set.items():
            sets_by_values[_number_repeats(values)].append(number)
            self._sizes[number] += len(values)
        empty_count = len(self._sizes) - len(values_by_set)
        agreeing_pairs = empty_count * (empty_count - 1) // 2
        for distinct, numbers in sets_by_values.items():
            self._equal_groups[tuple(numbers)] += len(distinct)
            agreeing_pairs += len(numbers) * (len(numbers) - 1) // 2
        shares = [float(agreeing_pairs)]
        has_single_values = not shape.is_mark and max(map(len, sets_by_values)) == 1
        for left, right in () if has_single_values else combinations(sets_by_values, 2):
            match_count = _count_matches(left, right, shape, budget)
            if match_count:
                set_pairs = list(product(sets_by_values[left], sets_by_values[right]))
                shares += [2 * match_count / (len(left) + len(right))] * len(set_pairs)
                for first_set, second_set in set_pairs:
                    self._matched[min(first_set, second_set), max(first_set, second_set)] += (
                        match_count
                    )
        return fsum(shares) / len(self._set_pairs)

    def list_counts(self) -> list[Counts]:
        """Return the matched and total tag counts for each pair of sets."""
        matched = self._matched.copy()
        for numbers, count in self._equal_groups.items():
            for set_pair in combinations(numbers, 2):
                matched[set_pair] += count
        return [
            (2 * matched[first, second], self._sizes[first] + self._sizes[second])
            for first, second in self._set_pairs
        ]


def _number_repeats(values: list[Hashable]) -> _DistinctValues:
    if len(values) == 1:
        return frozenset(((values[0], 1),))
    times: Counter[Hashable] = Counter()
    distinct: list[tuple[Hashable, int]] = []
    for value in values:
        times[value] += 1
        distinct.append((value, times[value]))
    return frozenset(distinct)


def _count_matches(
    left: _DistinctValues, right: _DistinctValues, shape: Shape, budget: Budget | None
) -> int:
    """Return the number of values that two tag sets have in common at one place.

    `left` and `right` are results of `_number_repeats`.
    """
    common_values = left & right
    if not shape.is_mark:
        return len(common_values)
    left_marks, right_marks = (
        [mark for mark, _ in values - common_values if isinstance(mark, Mark)]
        for values in (left, right)
    )
    return len(common_values) + (
        len(match_marks(left_marks, right_marks, budget=budget))
        if left_marks and right_marks
        else 0
    )


def _compute_share(counts: Counts) -> float:
    matched, tags = counts
    return matched / tags if tags else 1.0


def _compute_mean(shares: list[float]) -> float:
    # `fsum` is exact, so the order of the sets cannot change the last digits.
    return fsum(shares) / len(shares)
