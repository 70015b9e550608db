"""Determine the majority among several tag sets, place by place."""

from collections import Counter, defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from operator import itemgetter

from app.engines.agreement import marks
from app.engines.agreement.measures import MOST_MATCHED
from app.engines.agreement.places import (
    UNKNOWN_SHAPE,
    Place,
    Shape,
    Shapes,
    build_value_key,
    group_by_place,
    list_marks,
    serialize_tag,
    sort_places,
)
from app.engines.agreement.windows import Budget, BudgetExceeded
from app.engines.fields import Tag


@dataclass(frozen=True, slots=True)
class Choice:
    """A value with votes: an example tag, and the positions of the sets that voted for it."""

    tag: Tag
    voters: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Ballot:
    """The votes for one place, most votes first; `winners` have the majority and may be empty.

    `tie` is True if the votes do not decide the place, and `unanimous` if all sets agree on it. If
    too many marks are near each other to match them, the ballot is a tie without winners, and only
    identical marks are counted together.
    """

    field: str
    row: int | None
    choices: tuple[Choice, ...]
    winners: tuple[Choice, ...]
    tie: bool
    unanimous: bool


def find_majority(sets: Sequence[Sequence[Tag]], shapes: Shapes) -> list[Ballot]:
    """Return a ballot for each place in which any set has a tag, in schema order.

    A value wins with the votes of more than half of the sets. In a single-value field, leaving it
    empty is a vote too; if neither a value nor emptiness has more than half, it is a tie. In a
    multi-value field each value is voted on separately: a value with the votes of exactly half of
    the sets is a tie, and a value with fewer votes loses.

    Each tag is one vote: two tags of one set are two choices, even if they overlap. The example tag
    of a choice is the form that most of its voters gave; ties are resolved independently of the
    order of the sets.
    """
    indexed = [group_by_place(tags) for tags in sets]
    budget = Budget(MOST_MATCHED)
    places = sort_places({place for tags_by_place in indexed for place in tags_by_place}, shapes)
    return [
        _create_ballot(place, indexed, shapes.get(place[0], UNKNOWN_SHAPE), budget)
        for place in places
    ]


def _create_ballot(
    place: Place, indexed: list[dict[Place, list[Tag]]], shape: Shape, budget: Budget
) -> Ballot:
    votes = [
        (voter, tag)
        for voter, tags_by_place in enumerate(indexed)
        for tag in tags_by_place.get(place, ())
    ]
    count = len(indexed)
    try:
        choices = _create_choices(votes, _list_keys(votes, shape, budget))
    except BudgetExceeded:
        mark_choices = _create_choices(votes, list_marks([tag for _, tag in votes], shape) or ())
        return Ballot(place[0], place[1], mark_choices, (), tie=True, unanimous=False)
    winners = tuple(choice for choice in choices if 2 * len(choice.voters) > count)
    if shape.multiple:
        tie = any(2 * len(choice.voters) == count for choice in choices)
    else:
        empty_count = count - len({voter for voter, _ in votes})
        tie = not winners and 2 * empty_count <= count
    unanimous = all(len(choice.voters) == count for choice in choices)
    return Ballot(place[0], place[1], choices, winners, tie, unanimous)


def _create_choices(
    all_votes: list[tuple[int, Tag]], keys: Sequence[Hashable]
) -> tuple[Choice, ...]:
    grouped: dict[Hashable, list[tuple[int, Tag]]] = defaultdict(list)
    for key, vote in zip(keys, all_votes, strict=True):
        grouped[key].append(vote)
    choices = [_create_choice(votes) for votes in grouped.values()]
    if len(choices) == 1:
        return (choices[0],)
    return tuple(sorted(choices, key=lambda c: (-len(c.voters), serialize_tag(c.tag))))


def _list_keys(all_votes: list[tuple[int, Tag]], shape: Shape, budget: Budget) -> list[Hashable]:
    """Return the key of the choice that each vote counts for.

    If a set repeats a value, the repetition is a separate choice. Raises BudgetExceeded.
    """
    order = list(range(len(all_votes)))
    if shape.multiple:
        # The order of the tags must not decide which repetition is the second.
        order.sort(key=lambda position: serialize_tag(all_votes[position][1]))
    votes = [all_votes[position] for position in order]
    tag_marks = list_marks([tag for _, tag in votes], shape)
    if tag_marks is None:
        keys = _number_repeats(votes)
    else:
        keys = marks.find_choices(tag_marks, [voter for voter, _ in votes], budget)
    return [key for _, key in sorted(zip(order, keys, strict=True), key=itemgetter(0))]


def _number_repeats(votes: list[tuple[int, Tag]]) -> list[Hashable]:
    times: Counter[Hashable] = Counter()
    keys: list[Hashable] = []
    for voter, tag in votes:
        value = build_value_key(tag)
        times[voter, value] += 1
        keys.append((value, times[voter, value]))
    return keys


def _create_choice(votes: list[tuple[int, Tag]]) -> Choice:
    if len(votes) == 1:
        return Choice(votes[0][1], (votes[0][0],))
    serialized_tags = [(serialize_tag(tag), tag) for _, tag in votes]
    forms = Counter(form for form, _ in serialized_tags)
    tag = dict(serialized_tags)[min(forms, key=lambda form: (-forms[form], form))]
    return Choice(tag, tuple(sorted({voter for voter, _ in votes})))
