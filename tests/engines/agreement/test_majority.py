"""What most label sets say."""

from typing import Any

import pytest

from app.engines.agreement.tag_keys import serialize_tag
from app.engines.agreement.votes import VoteResult, find_majority
from tests.engines.agreement.labels import FIELD_SPECS, region, span, tag

A, B = tag("number", "A"), tag("number", "B")


def _find_vote_result(*sets: list[dict[str, Any]]) -> VoteResult:
    (vote_result,) = find_majority(sets, FIELD_SPECS)
    return vote_result


def _list_winners(vote_result: VoteResult) -> list[Any]:
    return [choice.tag["value"] for choice in vote_result.winners]


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
    vote_result = _find_vote_result(*sets)
    assert _list_winners(vote_result) == won
    assert (vote_result.tie, vote_result.unanimous) == (tie, unanimous)


def test_voters_are_positions_and_the_most_chosen_comes_first() -> None:
    vote_result = _find_vote_result([B], [A], [A])
    assert [(c.tag["value"], c.voters) for c in vote_result.choices] == [("A", (1, 2)), ("B", (0,))]


def test_each_of_several_values_is_voted_on() -> None:
    x, y, z = (tag("note", value) for value in "xyz")
    vote_result = _find_vote_result([x, y], [x, z], [x])
    assert (_list_winners(vote_result), vote_result.tie) == (["x"], False)
    vote_result = _find_vote_result([x, y], [x])
    assert (_list_winners(vote_result), vote_result.tie) == (["x"], True)


def test_an_accent_is_the_same_however_it_is_written() -> None:
    vote_result = _find_vote_result([tag("number", "Caf\u00e9")], [tag("number", "Cafe\u0301")])
    assert (vote_result.unanimous, len(vote_result.choices)) == (True, 1)
    assert not _find_vote_result([tag("number", "Café")], [tag("number", "Cafe")]).unanimous


def test_a_value_given_twice_by_most_stands_twice() -> None:
    x = tag("note", "x")
    assert _list_winners(_find_vote_result([x, x], [x, x], [x])) == ["x", "x"]
    assert _list_winners(_find_vote_result([x, x], [x], [x])) == ["x"]


def test_places_are_in_the_schemas_order() -> None:
    rows = [tag("lines.item", "a", row=1), tag("lines.item", "b", row=0)]
    vote_results = find_majority([[*rows, tag("gone", 1), tag("paid", True)], [A]], FIELD_SPECS)
    assert [(b.field, b.row) for b in vote_results] == [
        ("number", None), ("paid", None), ("lines.item", 0), ("lines.item", 1), ("gone", None),
    ]  # fmt: skip


def test_spans_that_overlap_by_half_are_one_choice_in_its_most_frequent_form() -> None:
    vote_result = _find_vote_result(
        [span("clause", 0, 10)], [span("clause", 0, 11)], [span("clause", 0, 11)]
    )
    assert _list_winners(vote_result) == ["0-11"]
    assert vote_result.winners[0].voters == (0, 1, 2)


@pytest.mark.parametrize(
    "twice",
    [
        [span("names", 0, 10), span("names", 3, 12)],
        [span("names", 0, 10), span("names", 0, 10)],
        [region([0, 0, 0.4, 0.4]), region([0, 0.1, 0.4, 0.4])],
    ],
)
def test_marks_on_top_of_each_other_all_stand_when_all_have_them(twice: list[Any]) -> None:
    vote_result = _find_vote_result(twice, twice[::-1], twice)
    assert [choice.voters for choice in vote_result.choices] == [(0, 1, 2), (0, 1, 2)]
    assert sorted(map(serialize_tag, (c.tag for c in vote_result.winners))) == sorted(
        map(serialize_tag, twice)
    )
    assert vote_result.unanimous


def test_a_mark_near_two_of_the_others_is_a_vote_for_the_nearer() -> None:
    both = [span("names", 0, 10), span("names", 3, 12)]
    vote_result = _find_vote_result([span("names", 4, 12)], both, both)
    votes = {choice.tag["value"]: choice.voters for choice in vote_result.choices}
    assert votes == {"3-12": (0, 1, 2), "0-10": (1, 2)}
    assert sorted(_list_winners(vote_result)) == ["0-10", "3-12"]


def test_boxes_are_grouped_by_place_and_word() -> None:
    near = [region([0, 0, 0.4, 0.4], "s")], [region([0, 0, 0.4, 0.38], "s")]
    vote_result = _find_vote_result(*near, [region([0, 0, 0.4, 0.4], "t")])
    assert [c.voters for c in vote_result.choices] == [(0, 1), (2,)]
    assert _list_winners(vote_result)[0] == "s"


def test_the_form_that_most_gave_stands_for_the_value() -> None:
    sure = tag("number", "A", confidence=0.9, source="model")
    for sets in ([[A], [sure], [sure]], [[sure], [A], [sure]]):
        assert _find_vote_result(*sets).winners[0].tag == sure
