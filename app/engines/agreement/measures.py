"""Measure the agreement between tag sets as a fraction from 0 to 1."""

from collections import Counter, defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from itertools import chain, combinations, product
from math import fsum
from typing import TypeAlias

from app.engines.agreement.boxes import Budget, BudgetExceeded
from app.engines.agreement.marks import Mark, match_marks
from app.engines.agreement.tag_keys import (
    UNKNOWN_FIELD_SPEC,
    FieldSpec,
    FieldSpecs,
    TagKey,
    build_value_key,
    group_by_tag_key,
    list_marks,
    number_occurrences,
    sort_tag_keys,
)
from app.engines.fields import Tag

MAX_MATCHED_MARKS = 200_000
"""The usual budget of one computation: the maximum number of marks that it matches in total.

Matching this number of marks takes less than half a second.
"""
_ROUNDING_MARGIN = 1e-6
_PairCounts = tuple[int, int]
"""For a pair of tag sets: the number of matched tags and of all tags, both added over the sets."""
_ValuesByKey = dict[TagKey, list[Hashable]]
"""The values or marks in one tag set, by tag key."""
_DistinctValues: TypeAlias = frozenset[tuple[Hashable, int]]
"""The unordered values of one tag key; repeated values are numbered to keep them distinct."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """The agreement between tag sets as fractions from 0 to 1: overall, per field and per tag key.

    A tag key is a field, or a table column and a row. If matching the marks (spans or regions) of a
    tag key would exceed the budget, `overall` is None, and the tag key and its field are missing
    from `tag_keys` and `fields`.
    """

    overall: float | None
    fields: dict[str, float]
    tag_keys: dict[TagKey, float]


def measure_agreement(
    tag_sets: Sequence[Sequence[Tag]], field_specs: FieldSpecs, budget: Budget | None = None
) -> Agreement | None:
    """Measure the mean agreement over all pairs of tag sets; return None for fewer than two sets.

    The agreement of a pair A and B is 2 * |A and B| / (|A| + |B|), where |A and B| is the number of
    tags of A that have a match in B. This is the Dice coefficient, and also the F1 score of either
    set against the other (Hripcsak and Rothschild, 2005, JAMIA 12:296). It is computed over the
    tags with one tag key, over the tags of one field, and over all tags.

    Two sets without tags for a field or tag key agree fully (1) on it, if another set has tags for
    it. Such a pair does not affect the overall agreement, because it has no tags to count. Two sets
    without any tags agree fully.
    """
    if len(tag_sets) < 2:  # noqa: PLR2004 - agreement needs two sets
        return None
    values_of_sets = [_group_values(tags, field_specs) for tags in tag_sets]
    match_counts: dict[str, _MatchCounts] = {}
    by_tag_key: dict[TagKey, float] = {}
    incomparable_fields: set[str] = set()
    for tag_key in sort_tag_keys(set(chain.from_iterable(values_of_sets)), field_specs):
        name = tag_key[0]
        values_by_set = {
            number: values_by_key[tag_key]
            for number, values_by_key in enumerate(values_of_sets)
            if tag_key in values_by_key
        }
        field_match_counts = match_counts.setdefault(name, _MatchCounts(len(tag_sets)))
        try:
            by_tag_key[tag_key] = field_match_counts.add(
                values_by_set, field_specs.get(name, UNKNOWN_FIELD_SPEC), budget
            )
        except BudgetExceeded:
            incomparable_fields.add(name)
    return _build_agreement(match_counts, incomparable_fields, by_tag_key)


def _build_agreement(
    match_counts: "dict[str, _MatchCounts]",
    incomparable_fields: set[str],
    by_tag_key: dict[TagKey, float],
) -> Agreement:
    """Build the overall and per-field agreement from the match counts of all fields.

    `incomparable_fields` are the fields for which matching exceeded the budget.
    """
    pair_counts_by_field = {
        name: field_match_counts.list_pair_counts()
        for name, field_match_counts in match_counts.items()
    }
    by_field = {
        name: _compute_mean(list(map(_compute_dice, field_pair_counts)))
        for name, field_pair_counts in pair_counts_by_field.items()
        if name not in incomparable_fields
    }
    if incomparable_fields:
        return Agreement(None, by_field, by_tag_key)
    pair_agreements = [
        _compute_dice(
            (
                sum(matched_count for matched_count, _ in pair_counts),
                sum(tag_count for _, tag_count in pair_counts),
            )
        )
        for pair_counts in zip(*pair_counts_by_field.values(), strict=True)
    ]
    return Agreement(_compute_mean(pair_agreements or [1.0]), by_field, by_tag_key)


def has_agreement(
    tag_sets: Sequence[Sequence[Tag]], field_specs: FieldSpecs, threshold: float
) -> bool | None:
    """Return whether the overall agreement is at least `threshold`; None for fewer than two sets.

    This function is much cheaper than `measure_agreement`, because it counts each pair of sets as a
    whole and stops as soon as the remaining pairs cannot change the result. It runs within a
    request, so it returns False if matching would take too long (see `MAX_MATCHED_MARKS`).
    """
    if len(tag_sets) < 2:  # noqa: PLR2004 - agreement needs two sets
        return None
    numbers: dict[Hashable, int] = {}
    numbered_values = [
        _NumberedValues(_group_values(tags, field_specs), numbers) for tags in tag_sets
    ]
    set_pairs = list(combinations(numbered_values, 2))
    try:
        return _is_threshold_reached(set_pairs, threshold, Budget(MAX_MATCHED_MARKS))
    except BudgetExceeded:
        return False


def _is_threshold_reached(
    set_pairs: "Sequence[tuple[_NumberedValues, _NumberedValues]]",
    threshold: float,
    budget: Budget,
) -> bool:
    agreements: list[float] = []
    for remaining_count, (first, second) in zip(
        range(len(set_pairs) - 1, -1, -1), set_pairs, strict=True
    ):
        agreements.append(
            _compute_dice((2 * first.count_matches(second, budget), first.size + second.size))
        )
        # Close to the threshold, every pair is counted, so that rounding cannot affect the result.
        missing_agreement = threshold * len(set_pairs) - fsum(agreements)
        if missing_agreement > remaining_count + _ROUNDING_MARGIN:
            return False
        if missing_agreement < -_ROUNDING_MARGIN:
            return True
    return _compute_mean(agreements) >= threshold


class _NumberedValues:
    """The values of one tag set as numbers; equal values have equal numbers in all sets."""

    def __init__(self, values_by_key: _ValuesByKey, numbers: dict[Hashable, int]) -> None:
        self.values: set[int] = set()
        self.marks: dict[int, tuple[TagKey, Mark]] = {}
        for tag_key, values in values_by_key.items():
            # The second occurrence of a value with one tag key only matches a second occurrence in
            # another set, and so on.
            for value, occurrence in number_occurrences(values):
                number = numbers.setdefault((tag_key, value, occurrence), len(numbers))
                self.values.add(number)
                if isinstance(value, Mark):
                    self.marks[number] = (tag_key, value)
        self.size = len(self.values)

    def count_matches(self, other: "_NumberedValues", budget: Budget) -> int:
        """Count the tags that have a match in `other`.

        Raises BudgetExceeded when `budget` is used up.
        """
        common_numbers = self.values & other.values
        own_marks, other_marks = self.get_marks(common_numbers), other.get_marks(common_numbers)
        pairs = (
            match_marks(own_marks[tag_key], other_marks[tag_key], budget=budget)
            for tag_key in own_marks.keys() & other_marks.keys()
        )
        return len(common_numbers) + sum(map(len, pairs))

    def get_marks(self, excluded_numbers: set[int]) -> dict[TagKey, list[Mark]]:
        """Return the marks (spans or regions) by tag key, without those in `excluded_numbers`."""
        remaining_marks: dict[TagKey, list[Mark]] = defaultdict(list)
        for number, (tag_key, mark) in self.marks.items():
            if number not in excluded_numbers:
                remaining_marks[tag_key].append(mark)
        return remaining_marks


def _group_values(tags: Sequence[Tag], field_specs: FieldSpecs) -> _ValuesByKey:
    values_by_key: _ValuesByKey = {}
    for tag_key, same_key_tags in group_by_tag_key(tags).items():
        marks = list_marks(same_key_tags, field_specs.get(tag_key[0], UNKNOWN_FIELD_SPEC))
        values_by_key[tag_key] = (
            [build_value_key(tag) for tag in same_key_tags] if marks is None else list(marks)
        )
    return values_by_key


class _MatchCounts:
    """Counts the matched tags of each pair of tag sets, and the tags of each set, for one field."""

    def __init__(self, set_count: int) -> None:
        self._set_pairs = list(combinations(range(set_count), 2))
        self._tag_counts = [0] * set_count
        self._matched_counts: Counter[tuple[int, int]] = Counter()
        # The number of equal tags, by group of sets. Most tag keys have the same groups of sets.
        self._equal_tag_counts: Counter[tuple[int, ...]] = Counter()

    def add(
        self, values_by_set: dict[int, list[Hashable]], field_spec: FieldSpec, budget: Budget | None
    ) -> float:
        """Add the values of one tag key, and return its mean agreement over all pairs of sets.

        `values_by_set` maps set numbers to values. Sets with equal values are compared only once.
        Raises BudgetExceeded when `budget` is used up.
        """
        sets_by_values: dict[_DistinctValues, list[int]] = defaultdict(list)
        for number, values in values_by_set.items():
            sets_by_values[frozenset(number_occurrences(values))].append(number)
            self._tag_counts[number] += len(values)
        empty_count = len(self._tag_counts) - len(values_by_set)
        agreeing_pair_count = empty_count * (empty_count - 1) // 2
        for distinct_values, numbers in sets_by_values.items():
            self._equal_tag_counts[tuple(numbers)] += len(distinct_values)
            agreeing_pair_count += len(numbers) * (len(numbers) - 1) // 2
        agreements = [float(agreeing_pair_count)]
        has_single_values = not field_spec.has_marks and max(map(len, sets_by_values)) == 1
        for left, right in () if has_single_values else combinations(sets_by_values, 2):
            match_count = _count_matches(left, right, field_spec, budget)
            if match_count:
                set_pairs = list(product(sets_by_values[left], sets_by_values[right]))
                agreements += [2 * match_count / (len(left) + len(right))] * len(set_pairs)
                for first_set, second_set in set_pairs:
                    self._matched_counts[
                        min(first_set, second_set), max(first_set, second_set)
                    ] += match_count
        return fsum(agreements) / len(self._set_pairs)

    def list_pair_counts(self) -> list[_PairCounts]:
        """List the match counts for each pair of sets; see `_PairCounts`."""
        matched_counts = self._matched_counts.copy()
        for numbers, tag_count in self._equal_tag_counts.items():
            for set_pair in combinations(numbers, 2):
                matched_counts[set_pair] += tag_count
        return [
            (2 * matched_counts[first, second], self._tag_counts[first] + self._tag_counts[second])
            for first, second in self._set_pairs
        ]


def _count_matches(
    left: _DistinctValues, right: _DistinctValues, field_spec: FieldSpec, budget: Budget | None
) -> int:
    """Count the matches between the values of two tag sets for one tag key.

    `left` and `right` contain the results of `number_occurrences`. Raises BudgetExceeded when
    `budget` is used up.
    """
    common_values = left & right
    if not field_spec.has_marks:
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


def _compute_dice(counts: _PairCounts) -> float:
    """Return the Dice coefficient of a pair of tag sets; 1 if both are empty."""
    matched_count, tag_count = counts
    return matched_count / tag_count if tag_count else 1.0


def _compute_mean(agreements: list[float]) -> float:
    # `fsum` is exact, so the order of the sets cannot change the last digits.
    return fsum(agreements) / len(agreements)
