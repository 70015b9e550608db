"""Find the majority value among several tag sets, for each field and row."""

from collections import Counter, defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from itertools import chain
from operator import itemgetter

from app.engines.agreement import marks
from app.engines.agreement.boxes import Budget, BudgetExceeded
from app.engines.agreement.measures import MAX_MATCHED_MARKS
from app.engines.agreement.tag_keys import (
    UNKNOWN_FIELD_SPEC,
    FieldSpec,
    FieldSpecs,
    TagKey,
    build_value_key,
    group_by_tag_key,
    list_marks,
    number_occurrences,
    serialize_tag,
    sort_tag_keys,
)
from app.engines.fields import Tag


@dataclass(frozen=True, slots=True)
class Choice:
    """A value that received votes: an example tag, and the indexes of the tag sets that voted."""

    tag: Tag
    voters: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class VoteResult:
    """The votes of all tag sets for one field and row, most votes first.

    `winners` are the choices with a majority; there may be none. `tie` is True if the vote is
    inconclusive, and `unanimous` is True if all sets agree. If there are too many marks (spans or
    regions) to match, the vote is a tie without winners, and only identical marks count as one
    choice.
    """

    field: str
    row: int | None
    choices: tuple[Choice, ...]
    winners: tuple[Choice, ...]
    tie: bool
    unanimous: bool


def find_majority(tag_sets: Sequence[Sequence[Tag]], field_specs: FieldSpecs) -> list[VoteResult]:
    """Find the majority values. Return a result for each field and row with a tag, in schema order.

    A value wins with the votes of more than half of the sets. In a single-value field, an empty
    field also counts as a vote; the vote is a tie if neither a value nor "empty" has more than
    half of the votes. In a multi-value field, each value is voted on separately: a value with the
    votes of exactly half of the sets is a tie, and a value with fewer votes loses.

    Tags of one set are never merged: two overlapping tags of one set are votes for two values. Tags
    that agree may still differ, for example in their exact position. The example tag of a choice is
    the most frequent variant, and does not depend on the order of the sets.
    """
    tags_of_sets = [group_by_tag_key(tags) for tags in tag_sets]
    budget = Budget(MAX_MATCHED_MARKS)
    tag_keys = sort_tag_keys(set(chain.from_iterable(tags_of_sets)), field_specs)
    return [
        _create_vote_result(
            tag_key, tags_of_sets, field_specs.get(tag_key[0], UNKNOWN_FIELD_SPEC), budget
        )
        for tag_key in tag_keys
    ]


def _create_vote_result(
    tag_key: TagKey,
    tags_of_sets: list[dict[TagKey, list[Tag]]],
    field_spec: FieldSpec,
    budget: Budget,
) -> VoteResult:
    votes = [
        (voter, tag)
        for voter, tags_by_key in enumerate(tags_of_sets)
        for tag in tags_by_key.get(tag_key, ())
    ]
    set_count = len(tags_of_sets)
    try:
        choices = _create_choices(votes, _list_choice_keys(votes, field_spec, budget))
    except BudgetExceeded:
        mark_choices = _create_choices(
            votes, list_marks([tag for _, tag in votes], field_spec) or ()
        )
        return VoteResult(tag_key[0], tag_key[1], mark_choices, (), tie=True, unanimous=False)
    winners = tuple(choice for choice in choices if 2 * len(choice.voters) > set_count)
    if field_spec.multiple:
        tie = any(2 * len(choice.voters) == set_count for choice in choices)
    else:
        empty_count = set_count - len({voter for voter, _ in votes})
        tie = not winners and 2 * empty_count <= set_count
    unanimous = all(len(choice.voters) == set_count for choice in choices)
    return VoteResult(tag_key[0], tag_key[1], choices, winners, tie, unanimous)


def _create_choices(
    all_votes: list[tuple[int, Tag]], keys: Sequence[Hashable]
) -> tuple[Choice, ...]:
    votes_by_key: dict[Hashable, list[tuple[int, Tag]]] = defaultdict(list)
    for key, vote in zip(keys, all_votes, strict=True):
        votes_by_key[key].append(vote)
    choices = [_create_choice(votes) for votes in votes_by_key.values()]
    if len(choices) == 1:
        return (choices[0],)
    return tuple(sorted(choices, key=lambda c: (-len(c.voters), serialize_tag(c.tag))))


def _list_choice_keys(
    all_votes: list[tuple[int, Tag]], field_spec: FieldSpec, budget: Budget
) -> list[Hashable]:
    """List, for each vote, the key of its choice.

    If a tag set repeats a value, the repetition is a separate choice. Raises BudgetExceeded if
    there are too many marks (spans or regions) to match.
    """
    order = list(range(len(all_votes)))
    if field_spec.multiple:
        # The order of the tags must not determine which repetition is the second.
        order.sort(key=lambda position: serialize_tag(all_votes[position][1]))
    votes = [all_votes[position] for position in order]
    tag_marks = list_marks([tag for _, tag in votes], field_spec)
    keys: list[Hashable]
    if tag_marks is None:
        values = ((voter, build_value_key(tag)) for voter, tag in votes)
        keys = [(value, number) for (_, value), number in number_occurrences(values)]
    else:
        keys = marks.find_choices(tag_marks, [voter for voter, _ in votes], budget)
    return [key for _, key in sorted(zip(order, keys, strict=True), key=itemgetter(0))]


def _create_choice(votes: list[tuple[int, Tag]]) -> Choice:
    if len(votes) == 1:
        return Choice(votes[0][1], (votes[0][0],))
    serialized_tags = [(serialize_tag(tag), tag) for _, tag in votes]
    counts = Counter(serialized_tag for serialized_tag, _ in serialized_tags)
    most_frequent = min(
        counts, key=lambda serialized_tag: (-counts[serialized_tag], serialized_tag)
    )
    tag = dict(serialized_tags)[most_frequent]
    return Choice(tag, tuple(sorted({voter for voter, _ in votes})))
