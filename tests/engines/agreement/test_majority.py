"""What most label sets say."""

from typing import Any

import pytest

from app.engines.agreement.tag_keys import serialize_tag
from app.engines.agreement.votes import Ballot, find_majority
from tests.engines.agreement.labels import SHAPES, region, span, tag

A, B = tag("number", "A"), tag("number", "B")


def _find_ballot(*sets: list[dict[str, Any]]) -> Ballot:
    (ballot,) = find_majority(sets, SHAPES)
    return ballot


def _list_winners(ballot: Ballot) -> list[Any]:
    return [choice.tag["value"] for choice in ballot.winners]


@pytest.mark.parametrize(
    ("sets", "won", "tie", "unanimous"),
    [
        ([[A], [A]], ["A"], False, True),
        ([[A], [B]], [], True, False),
        ([[A], []], [], True, False),
        ([[A], [A], [B]], ["A"], False, False),
        ([[A], [A], []], ["A"], False, False),
        ([[A], [], []], [], False, False),
        ([[A], [B], []], [], True, False),
        ([[A], [A], [B], [B]], [], True, False),
        ([[A], [A], [B], [], []], [], True, False),
    ],
)
def test_more_than_half_decides(
    sets: list[Any], won: list[str], tie: bool, unanimous: bool
) -> None:
    ballot = _find_ballot(*sets)
    assert (_list_winners(ballot), ballot.tie, ballot.unanimous) == (won, tie, unanimous)


def test_voters_are_positions_and_the_most_chosen_comes_first() -> None:
    ballot = _find_ballot([B], [A], [A])
    assert [(c.tag["value"], c.voters) for c in ballot.choices] == [("A", (1, 2)), ("B", (0,))]


def test_each_of_several_values_is_voted_on() -> None:
    x, y, z = (tag("note", value) for value in "xyz")
    ballot = _find_ballot([x, y], [x, z], [x])
    assert (_list_winners(ballot), ballot.tie) == (["x"], False)
    ballot = _find_ballot([x, y], [x])
    assert (_list_winners(ballot), ballot.tie) == (["x"], True)


def test_an_accent_is_the_same_however_it_is_written() -> None:
    ballot = _find_ballot([tag("number", "Caf\u00e9")], [tag("number", "Cafe\u0301")])
    assert (ballot.unanimous, len(ballot.choices)) == (True, 1)
    assert not _find_ballot([tag("number", "Café")], [tag("number", "Cafe")]).unanimous


def test_a_value_given_twice_by_most_stands_twice() -> None:
    x = tag("note", "x")
    assert _list_winners(_find_ballot([x, x], [x, x], [x])) == ["x", "x"]
    assert _list_winners(_find_ballot([x, x], [x], [x])) == ["x"]


def test_places_are_in_the_schemas_order() -> None:
    rows = [tag("lines.item", "a", row=1), tag("lines.item", "b", row=0)]
    ballots = find_majority([[*rows, tag("gone", 1), tag("paid", True)], [A]], SHAPES)
    assert [(b.field, b.row) for b in ballots] == [
        ("number", None), ("paid", None), ("lines.item", 0), ("lines.item", 1), ("gone", None),
    ]  # fmt: skip


def test_spans_that_overlap_by_half_are_one_choice_in_its_most_frequent_form() -> None:
    ballot = _find_ballot([span("clause", 0, 10)], [span("clause", 0, 11)], [span("clause", 0, 11)])
    assert _list_winners(ballot) == ["0-11"]
    assert ballot.winners[0].voters == (0, 1, 2)


@pytest.mark.parametrize(
    "twice",
    [
        [span("names", 0, 10), span("names", 3, 12)],
        [span("names", 0, 10), span("names", 0, 10)],
        [region([0, 0, 0.4, 0.4]), region([0, 0.1, 0.4, 0.4])],
    ],
)
def test_marks_on_top_of_each_other_all_stand_when_all_have_them(twice: list[Any]) -> None:
    ballot = _find_ballot(twice, twice[::-1], twice)
    assert [choice.voters for choice in ballot.choices] == [(0, 1, 2), (0, 1, 2)]
    assert sorted(map(serialize_tag, (c.tag for c in ballot.winners))) == sorted(
        map(serialize_tag, twice)
    )
    assert ballot.unanimous


def test_a_mark_near_two_of_the_others_is_a_vote_for_the_nearer() -> None:
    both = [span("names", 0, 10), span("names", 3, 12)]
    ballot = _find_ballot([span("names", 4, 12)], both, both)
    votes = {choice.tag["value"]: choice.voters for choice in ballot.choices}
    assert votes == {"3-12": (0, 1, 2), "0-10": (1, 2)}
    assert sorted(_list_winners(ballot)) == ["0-10", "3-12"]


def test_boxes_are_grouped_by_place_and_word() -> None:
    near = [region([0, 0, 0.4, 0.4], "s")], [region([0, 0, 0.4, 0.38], "s")]
    ballot = _find_ballot(*near, [region([0, 0, 0.4, 0.4], "t")])
    assert [c.voters for c in ballot.choices] == [(0, 1), (2,)]
    assert _list_winners(ballot)[0] == "s"


def test_the_form_that_most_gave_stands_for_the_value() -> None:
    sure = tag("number", "A", confidence=0.9, source="model")
    for sets in ([[A], [sure], [sure]], [[sure], [A], [sure]]):
        assert _find_ballot(*sets).winners[0].tag == sure
