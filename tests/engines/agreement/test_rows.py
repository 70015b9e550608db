"""Rows of a table lined up by what they say."""

import random
from collections import Counter
from itertools import combinations, pairwise
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.engines.agreement import sequences
from app.engines.agreement.comparing import diff_by_content
from app.engines.agreement.rows import align_rows
from app.engines.agreement.sequences import align_sequences
from app.engines.agreement.tag_keys import build_field_specs
from app.engines.agreement.votes import find_majority
from tests.engines.agreement.labels import FIELD_SPECS, count_tags, measure, span, tag
from tests.factories.labels import make_field
from tests.factories.properties import examples

QUICK = examples(200)
KNOWN = build_field_specs(
    [
        make_field(
            "lines",
            "table",
            columns=[
                make_field("item", "text"),
                make_field("count", "number"),
                make_field("note", "text", multiple=True),
                make_field("clause", "span", multiple=False),
            ],
        )
    ]
)


def table(*rows: str) -> list[dict[str, Any]]:
    """A row for each text: its first letter is the item, its second the count."""
    found = []
    for number, row in enumerate(rows):
        found.append(tag("lines.item", row[0], row=number))
        if row[1:]:
            found.append(tag("lines.count", row[1], row=number))
    return found


def _measure_overall(*sets: list[Any]) -> float:
    return measure(*align_rows(sets, KNOWN).tag_sets, field_specs=KNOWN).overall


_row = st.builds(str.__add__, st.sampled_from("abcd"), st.sampled_from(["", "1", "2"]))
TABLES = st.lists(_row, max_size=6).map(lambda rows: table(*rows))


def _list_row_numbers(sets: list[Any]) -> list[tuple[int | None, ...]]:
    return [line for _, line in sorted(align_rows(sets, KNOWN).rows.items())]


def test_a_row_put_in_at_the_top_moves_the_others() -> None:
    before, after = table("a1", "b2", "c3"), table("x9", "a1", "b2", "c3")
    assert _list_row_numbers([before, after]) == [(None, 0), (0, 1), (1, 2), (2, 3)]
    assert _measure_overall(before, after) == pytest.approx(2 * 6 / (6 + 8))


def test_the_alignment_with_the_most_equal_cells_wins() -> None:
    # By the item alone, a would go with a; by both columns, three cells are equal further on.
    before, after = table("a1", "b2"), table("b2", "a9", "b2")
    assert _list_row_numbers([before, after]) == [(None, 0), (0, 1), (1, 2)]


def test_a_row_of_which_all_changed_is_still_that_row() -> None:
    before, after = table("a1", "b2", "c3"), table("a1", "x8", "y9", "c3")
    assert _list_row_numbers([before, after]) == [(0, 0), (1, 1), (None, 2), (2, 3)]


def test_a_number_is_kept_where_there_is_room() -> None:
    before = [tag("lines.item", "a", row=2), tag("lines.item", "b", row=7)]
    after = [tag("lines.item", "a", row=3), tag("lines.item", "b", row=7)]
    assert set(align_rows([before, after], KNOWN).rows) == {("lines", 2), ("lines", 7)}
    last = [tag("lines.item", "a", row=9999)]
    more = [tag("lines.item", "a", row=9998), tag("lines.item", "b", row=9999)]
    top = [tag("lines.item", "x", row=9999)]
    assert max(row for _, row in align_rows([last, more, top], KNOWN).rows) <= 9999


def test_three_tables_vote_row_by_row() -> None:
    plain, longer = table("a1", "b2"), table("x9", "a1", "b3")
    alignment = align_rows([plain, plain, longer], KNOWN)
    won = {
        (b.field, b.row): [c.tag["value"] for c in b.winners]
        for b in find_majority(alignment.tag_sets, KNOWN)
    }
    assert won["lines.item", 0] == won["lines.count", 0] == []
    assert won["lines.item", 1] == ["a"]
    assert won["lines.count", 2] == ["2"]
    assert alignment.rows["lines", 2] == (1, 1, 2)


def test_cells_of_several_values_and_spans_tell_rows_apart() -> None:
    def row(number: int, *notes: str, start: int) -> list[Any]:
        return [
            *(tag("lines.note", note, row=number) for note in notes),
            span("lines.clause", start, start + 10, row=number),
        ]

    before = [*row(0, "x", "y", start=0), *row(1, "z", start=50)]
    after = [*row(0, "new", start=900), *row(1, "y", "x", start=1), *row(2, "z", start=51)]
    assert _list_row_numbers([before, after]) == [(None, 0), (0, 1), (1, 2)]


def test_tables_of_a_schema_move_by_themselves_and_other_tags_stay() -> None:
    known = build_field_specs(
        [make_field(key, "table", columns=[make_field("item", "text")]) for key in ("one", "two")]
    )
    before = [tag("one.item", "a", row=0), tag("two.item", "a", row=0), tag("free", "x")]
    after = [
        tag("one.item", "new", row=0),
        tag("one.item", "a", row=1),
        tag("two.item", "a", row=0),
        tag("free", "x"),
    ]
    found = diff_by_content(before, after, known)
    assert [(c["field"], c["row"], c["kind"]) for c in found.changes] == [("one.item", 0, "added")]
    assert found.moved == [{"table": "one", "from": 0, "to": 1, "count": 1}]


def test_a_diff_names_the_row_on_each_side() -> None:
    before, after = table("a1", "b2", "c3", "d4"), table("x9", "a1", "b7", "d4")
    found = diff_by_content(before, after, KNOWN)
    changes = [
        (
            c["field"],
            c["row"],
            c["kind"],
            c["from"] and c["from"]["row"],
            c["to"] and c["to"]["row"],
        )
        for c in found.changes
    ]
    assert changes == [
        ("lines.item", 0, "added", None, 0),
        ("lines.item", 2, "removed", 2, None),
        ("lines.count", 0, "added", None, 0),
        ("lines.count", 2, "changed", 1, 2),
        ("lines.count", 2, "removed", 2, None),
    ]
    assert found.moved == [{"table": "lines", "from": 0, "to": 1, "count": 2}]


def _apply_changes(before: list[Any], diff: Any) -> list[Any]:
    """Remove, renumber and add tags, as the guide says."""
    remaining = count_tags(before) - count_tags([c["from"] for c in diff.changes if c["from"]])
    new_rows = {run["from"] + n: run["to"] + n for run in diff.moved for n in range(run["count"])}
    tags = [orjson.loads(serialized) for serialized in remaining.elements()]
    for each in tags:
        each["row"] = new_rows.get(each["row"], each["row"])
    return [*tags, *(c["to"] for c in diff.changes if c["to"])]


@QUICK
@given(TABLES, TABLES)
def test_a_diff_leads_from_the_one_to_the_other(a: list[Any], b: list[Any]) -> None:
    assert count_tags(_apply_changes(a, diff_by_content(a, b, KNOWN))) == count_tags(b)


@QUICK
@given(TABLES, TABLES)
def test_a_diff_taken_the_other_way_says_the_opposite(a: list[Any], b: list[Any]) -> None:
    there, back = diff_by_content(a, b, KNOWN), diff_by_content(b, a, KNOWN)
    pairs = Counter(orjson.dumps([c["from"], c["to"]]) for c in there.changes)
    assert pairs == Counter(orjson.dumps([c["to"], c["from"]]) for c in back.changes)
    runs = [{**run, "from": run["to"], "to": run["from"]} for run in back.moved]
    assert there.moved == runs


@QUICK
@given(TABLES, st.integers(0, 6), _row)
def test_a_row_put_in_anywhere_costs_only_itself(rows: list[Any], at: int, row: str) -> None:
    texts = _texts(rows)
    at = min(at, len(texts))
    longer = table(*texts[:at], row, *texts[at:])
    found = diff_by_content(rows, longer, KNOWN)
    assert [c["kind"] for c in found.changes] == ["added"] * len(row)
    count = len(rows)
    assert _measure_overall(rows, longer) == pytest.approx(2 * count / (2 * count + len(row)))


def _texts(rows: list[Any]) -> list[str]:
    found: dict[int, str] = {}
    for one in rows:
        found[one["row"]] = found.get(one["row"], "") + one["value"]
    return list(found.values())


@QUICK
@given(st.lists(TABLES, min_size=1, max_size=4), st.randoms(use_true_random=False))
def test_neither_the_order_of_sets_nor_of_tags_matters(
    sets: list[Any], generator: random.Random
) -> None:
    order = list(range(len(sets)))
    generator.shuffle(order)
    shuffled = [generator.sample(sets[n], len(sets[n])) for n in order]
    rows = align_rows(sets, KNOWN).rows
    rows_of_shuffled = align_rows(shuffled, KNOWN).rows
    contents = {
        number: Counter((line[n], str(count_tags(sets[n]))) for n in range(len(sets)))
        for number, line in rows.items()
    }
    contents_of_shuffled = {
        number: Counter((line[k], str(count_tags(sets[n]))) for k, n in enumerate(order))
        for number, line in rows_of_shuffled.items()
    }
    assert contents == contents_of_shuffled


@QUICK
@given(TABLES)
def test_alike_tables_agree_whatever_their_numbers(rows: list[Any]) -> None:
    apart = [{**one, "row": 3 * one["row"] + 5} for one in rows]
    assert _measure_overall(rows, apart) == 1.0
    assert diff_by_content(rows, apart, KNOWN).changes == []


@QUICK
@given(st.lists(TABLES, min_size=1, max_size=4))
def test_rows_rise_in_every_set_and_none_is_lost(sets: list[Any]) -> None:
    alignment = align_rows(sets, KNOWN)
    lines = [line for _, line in sorted(alignment.rows.items())]
    for n, tags in enumerate(sets):
        original_numbers = [line[n] for line in lines if line[n] is not None]
        assert original_numbers == sorted({one["row"] for one in tags})
        assert [{**one, "row": 0} for one in alignment.tag_sets[n]] == [
            {**one, "row": 0} for one in tags
        ]


_member = st.sets(st.integers(0, 4), min_size=1, max_size=3)


@pytest.fixture(params=["small", "long"])
def _implementation(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "long":
        monkeypatch.setattr(sequences, "MAX_PYTHON_PAIRS", 0)


@pytest.mark.usefixtures("_implementation")
class TestSequences:
    """Tables of any length, by either of two ways to the same."""

    @QUICK
    @given(st.lists(_member, max_size=5), st.lists(_member, max_size=5))
    def test_no_other_alignment_has_more_in_common(self, a: list[Any], b: list[Any]) -> None:
        found = align_sequences([Counter(one) for one in a], [Counter(one) for one in b], 1)
        both = [(x, y) for x, y in found if x is not None and y is not None]
        assert [x for x, _ in found if x is not None] == list(range(len(a)))
        assert [y for _, y in found if y is not None] == list(range(len(b)))
        weight = sum(len(a[x] & b[y]) for x, y in both)
        most = max(
            sum(len(a[x] & b[y]) for x, y in zip(ours, theirs, strict=True))
            for count in range(min(len(a), len(b)) + 1)
            for ours in combinations(range(len(a)), count)
            for theirs in combinations(range(len(b)), count)
        )
        assert weight == most

    @QUICK
    @given(st.lists(_member, max_size=8), st.lists(_member, max_size=8))
    def test_what_is_skipped_is_skipped_on_one_side_only(self, a: list[Any], b: list[Any]) -> None:
        found = align_sequences([Counter(one) for one in a], [Counter(one) for one in b], 1)
        for (x, y), (x_next, y_next) in pairwise(found):
            assert (x is None) + (y_next is None) < 2
            assert (y is None) + (x_next is None) < 2


def test_both_ways_choose_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    generator = random.Random(3)
    for _ in range(50):
        sides = [
            [Counter(generator.choices(range(5), k=2)) for _ in range(generator.randint(9, 40))]
            for _ in range(2)
        ]
        left, right = sides[0], [Counter(set(one)) for one in sides[1]]
        plain = align_sequences(left, right, 2)
        with monkeypatch.context() as patch:
            patch.setattr(sequences, "MAX_PYTHON_PAIRS", 0)
            assert align_sequences(left, right, 2) == plain


def test_of_long_tables_only_what_differs_is_weighed(monkeypatch: pytest.MonkeyPatch) -> None:
    weighed = []
    plain = sequences._align_by_weight

    def counted(left: Any, right: Any) -> Any:
        weighed.append(len(left) * len(right))
        return plain(left, right)

    monkeypatch.setattr(sequences, "_align_by_weight", counted)
    rows = [f"{chr(1000 + n)}1" for n in range(1000)]
    longer = [*rows[:400], "x9", *rows[400:700], *rows[701:]]
    assert len(diff_by_content(table(*rows), table(*longer), KNOWN).changes) == 4
    assert weighed == [0, 301 * 300]
    same = table("new", *rows)
    assert diff_by_content(table(*rows), same, KNOWN).moved[0]["count"] == 1000
    assert weighed[2:] == [0, 0]


def test_tables_of_the_schema_with_one_column() -> None:
    before = [tag("lines.item", "rope", row=0), tag("lines.item", "sail", row=1)]
    after = [tag("lines.item", "rope", row=0), tag("lines.item", "mast", row=1)]
    (change,) = diff_by_content(before, after, FIELD_SPECS).changes
    assert (change["kind"], change["row"]) == ("changed", 1)
