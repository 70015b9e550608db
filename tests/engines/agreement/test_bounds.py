"""What comparing does where it would take longer than a request can wait."""

from collections import Counter
from itertools import combinations
from math import comb
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.engines.agreement import dense_marks, marks, rows
from app.engines.agreement.boxes import Budget
from app.engines.agreement.rows import align_rows
from app.engines.agreement.sequences import align_sequences
from app.engines.agreement.votes import find_majority
from tests.engines.agreement.labels import FIELD_SPECS, measure, region, span, tag
from tests.factories.properties import examples

QUICK = examples(200)
_members = st.lists(st.frozensets(st.integers(0, 5), min_size=1, max_size=2), max_size=7)


def _make_lines(*items: str) -> list[dict[str, Any]]:
    return [tag("lines.item", item, row=row) for row, item in enumerate(items)]


@QUICK
@given(_members, _members)
def test_tables_too_long_to_weigh_are_held_together_by_rows_that_none_is_like(
    left: list[frozenset[int]], right: list[frozenset[int]]
) -> None:
    found = align_sequences(
        [Counter(one) for one in left], [Counter(one) for one in right], 1, max_pairs=-1
    )
    assert [here for here, _ in found if here is not None] == list(range(len(left)))
    assert [there for _, there in found if there is not None] == list(range(len(right)))
    # Equal ends go together first; what is like no other is sought between them.
    head = _count_equal_items(left, right)
    tail = min(_count_equal_items(left[::-1], right[::-1]), min(len(left), len(right)) - head)
    shared = frozenset().union(*left) & frozenset().union(*right)
    ours, theirs = (
        [
            (place, one)
            for place, one in enumerate(side)
            if head <= place < len(side) - tail and one & shared
        ]
        for side in (left, right)
    )
    times = [Counter(one for _, one in side) for side in (ours, theirs)]
    equal_pairs = [
        (here, there)
        for here, one in ours
        for there, other in theirs
        if one == other and times[0][one] == times[1][other] == 1
    ]
    most = max(
        count
        for count in range(len(equal_pairs) + 1)
        for chain in combinations(equal_pairs, count)
        if all(a[0] < b[0] and a[1] < b[1] for a, b in combinations(chain, 2))
    )
    assert len(set(equal_pairs) & set(found)) >= most
    assert {(n, n) for n in range(head)} <= set(found)
    assert {(len(left) - n, len(right) - n) for n in range(1, tail + 1)} <= set(found)


def _count_equal_items(left: list[frozenset[int]], right: list[frozenset[int]]) -> int:
    count = 0
    for one, other in zip(left, right, strict=False):
        if one != other:
            break
        count += 1
    return count


def test_rows_past_the_bound_go_by_their_number(monkeypatch: pytest.MonkeyPatch) -> None:
    sets = [_make_lines("a", "b", "c"), _make_lines("a", "x", "b", "c"), _make_lines("a", "b")]
    assert align_rows(sets, FIELD_SPECS).rows["lines", 2] == (1, 2, 1)
    monkeypatch.setattr(rows, "MAX_ALIGNED_ROWS", 4)
    for ordered_sets in (sets, sets[::-1]):
        alignment = align_rows(ordered_sets, FIELD_SPECS)
        source_rows = {number: set(line) - {None} for (_, number), line in alignment.rows.items()}
        assert source_rows == {0: {0}, 1: {1}, 2: {2}, 3: {3}}
        assert alignment.tag_sets == ordered_sets


@QUICK
@given(
    st.lists(st.lists(st.sampled_from("abc"), max_size=4), min_size=2, max_size=5),
    st.lists(st.sampled_from("ab"), min_size=5, max_size=5),
)
def test_agreement_is_the_mean_of_all_pairs_taken_by_themselves(
    notes: list[list[str]], numbers: list[str]
) -> None:
    sets = [
        [*(tag("note", note) for note in document_notes), tag("number", number)]
        for document_notes, number in zip(notes, numbers, strict=False)
    ]
    shares = []
    for pair in combinations(sets, 2):
        first, second = (Counter((t["field"], t["value"]) for t in tags) for tags in pair)
        shares.append(2 * (first & second).total() / (first.total() + second.total()))
    assert measure(*sets).overall == pytest.approx(sum(shares) / comb(len(sets), 2))


def test_fields_that_exceed_the_budget_have_no_agreement() -> None:
    sets = [[tag("number", "A"), span("names", at, at + 10)] for at in range(3)]
    whole = measure(*sets, budget=Budget(6))
    assert whole == measure(*sets)
    assert whole.overall == 1.0
    cut = measure(*sets, budget=Budget(5))
    assert cut.overall is None
    assert (cut.fields, cut.tag_keys) == ({"number": 1.0}, {("number", None): 1.0})
    # The same marks need no matching.
    assert measure(*[sets[0]] * 3, budget=Budget(0)) == whole


def test_nothing_wins_where_too_many_marks_are_near(monkeypatch: pytest.MonkeyPatch) -> None:
    side_by_side = [region([n / 100, 0.0, (n + 1) / 100, 1.0]) for n in range(20)]
    moved = [region([n / 100 + 0.001, 0.0, (n + 1) / 100, 1.0]) for n in range(20)]
    sets = [side_by_side, side_by_side, moved]
    monkeypatch.setattr(marks, "MAX_PYTHON_PAIRS", 0)
    (exact,) = find_majority(sets, FIELD_SPECS)
    assert (len(exact.winners), exact.tie) == (20, False)
    monkeypatch.setattr(dense_marks, "MAX_COMPARISONS", 40)
    (cut,) = find_majority(sets, FIELD_SPECS)
    assert (cut.winners, cut.tie, cut.unanimous) == ((), True, False)
    assert [choice.voters for choice in cut.choices] == [(0, 1)] * 20 + [(2,)] * 20
    assert find_majority(sets[::-1], FIELD_SPECS)[0].choices[0].tag == cut.choices[0].tag
