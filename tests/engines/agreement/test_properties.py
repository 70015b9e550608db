"""For any label sets: symmetry, identity, and no word about whose set came first."""

from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.engines.agreement.comparing import diff
from app.engines.agreement.measures import has_agreement
from app.engines.agreement.votes import find_majority
from tests.engines.agreement.labels import FIELD_SPECS, count_tags, measure, region, span, tag
from tests.factories.properties import examples

QUICK = examples(200)

_offsets = st.tuples(st.integers(0, 12), st.integers(1, 6))
_corner = st.integers(0, 3).map(lambda n: n / 10)
_side = st.integers(1, 5).map(lambda n: n / 10)
_names = st.builds(lambda at: span("names", at[0], at[0] + at[1]), _offsets)
_stamps = st.builds(
    lambda x, y, w, h, v, p: region([x, y, x + w, y + h], v, page=p),
    _corner, _corner, _side, _side, st.sampled_from(["", "s"]), st.integers(1, 2),
)  # fmt: skip
_notes = st.builds(
    lambda v, c: tag("note", v, confidence=c), st.sampled_from("abc"), st.sampled_from([None, 0.5])
)


def _single(field: str, values: list[Any], row: int | None = None) -> Any:
    return st.lists(st.sampled_from(values).map(lambda v: tag(field, v, row=row)), max_size=1)


SETS = st.tuples(
    _single("number", ["A", "B", ""]),
    _single("paid", [True, False]),
    _single("total", [{"amount": a, "currency": "EUR"} for a in ("1.00", "1.000", "2.00")]),
    st.lists(_offsets.map(lambda at: span("clause", at[0], at[0] + at[1])), max_size=1),
    st.lists(_notes, max_size=4),
    st.lists(_names, max_size=4),
    st.lists(_stamps, max_size=4),
    _single("lines.item", ["x", "y"], 0),
    _single("lines.item", ["x", "y"], 1),
).map(lambda parts: [one for part in parts for one in part])


@QUICK
@given(SETS, SETS)
def test_a_diff_leads_from_the_one_to_the_other(a: list[Any], b: list[Any]) -> None:
    changes = diff(a, b, FIELD_SPECS)
    gone = [c["from"] for c in changes if c["from"]]
    come = [c["to"] for c in changes if c["to"]]
    assert count_tags(a) - count_tags(gone) + count_tags(come) == count_tags(b)
    assert all(c["from"] != c["to"] for c in changes)


@QUICK
@given(SETS, SETS)
def test_a_diff_taken_the_other_way_says_the_opposite(a: list[Any], b: list[Any]) -> None:
    opposite = {"added": "removed", "removed": "added", "changed": "changed"}
    there = Counter((c["field"], c["row"], c["kind"]) for c in diff(a, b, FIELD_SPECS))
    back = Counter((c["field"], c["row"], opposite[c["kind"]]) for c in diff(b, a, FIELD_SPECS))
    assert there == back


@QUICK
@given(SETS)
def test_nothing_differs_from_itself(a: list[Any]) -> None:
    assert diff(a, a, FIELD_SPECS) == []
    assert diff(a, a[::-1], FIELD_SPECS) == []
    agreement = measure(a, a)
    assert agreement.overall == 1.0
    assert set(agreement.fields.values()) <= {1.0}
    winning_tags: list[Any] = []
    for vote_result in find_majority([a, a, a], FIELD_SPECS):
        assert not vote_result.tie
        assert vote_result.winners == vote_result.choices
        winning_tags += (choice.tag for choice in vote_result.winners)
    assert count_tags(winning_tags) == count_tags(a)


@QUICK
@given(st.lists(SETS, min_size=2, max_size=4), st.randoms(use_true_random=False))
def test_the_order_of_sets_and_tags_does_not_matter(sets: list[Any], generator: Any) -> None:
    order = list(range(len(sets)))
    generator.shuffle(order)
    shuffled = [generator.sample(sets[position], len(sets[position])) for position in order]
    assert measure(*sets) == measure(*shuffled)
    votes = [_list_votes(b, list(range(len(sets)))) for b in find_majority(sets, FIELD_SPECS)]
    assert votes == [_list_votes(b, order) for b in find_majority(shuffled, FIELD_SPECS)]


def _list_votes(result: Any, order: list[int]) -> Any:
    choices = [(c.tag, sorted(order[v] for v in c.voters)) for c in result.choices]
    winners = [c.tag for c in result.winners]
    return result.field, result.row, choices, winners, result.tie, result.unanimous


@QUICK
@given(st.lists(SETS, min_size=2, max_size=4))
def test_shares_are_shares(sets: list[Any]) -> None:
    agreement = measure(*sets)
    for share in (agreement.overall, *agreement.fields.values(), *agreement.tag_keys.values()):
        assert 0 <= share <= 1
    if agreement.overall == pytest.approx(1.0):
        assert all(
            vote_result.unanimous
            for vote_result in find_majority(sets, FIELD_SPECS)
            if vote_result.field == "paid"
        )


@QUICK
@given(st.lists(SETS, min_size=2, max_size=5))
def test_each_tag_is_one_vote(sets: list[Any]) -> None:
    submitted_votes = Counter(
        (tag["field"], tag["row"], number) for number, tags in enumerate(sets) for tag in tags
    )
    vote_results = find_majority(sets, FIELD_SPECS)
    assert submitted_votes == Counter(
        (b.field, b.row, voter)
        for b in vote_results
        for choice in b.choices
        for voter in choice.voters
    )


@QUICK
@given(st.lists(SETS, min_size=1, max_size=5))
def test_a_field_of_one_value_has_one_winner_at_most(sets: list[Any]) -> None:
    for vote_result in find_majority(sets, FIELD_SPECS):
        if not FIELD_SPECS[vote_result.field].multiple:
            assert len(vote_result.winners) <= 1
            assert not (vote_result.winners and vote_result.tie)


@QUICK
@given(st.lists(SETS, min_size=2, max_size=6), st.floats(0, 1))
def test_the_quick_answer_is_that_of_the_whole_measure(sets: list[Any], least: float) -> None:
    overall = measure(*sets).overall
    for line in (least, overall):
        assert has_agreement(sets, FIELD_SPECS, line) is (overall >= line)
