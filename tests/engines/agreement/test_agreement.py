"""How far label sets agree, worked out by hand."""

import pytest

from app.engines.agreement.measures import measure_agreement
from tests.engines.agreement.labels import SHAPES, region, span, tag


def _measure_overall(*sets: list[dict[str, object]]) -> float:
    found = measure_agreement(sets, SHAPES)
    assert found is not None
    return found.overall


def test_it_takes_two() -> None:
    assert measure_agreement([], SHAPES) is None
    assert measure_agreement([[tag("number", "A")]], SHAPES) is None


def test_what_both_say_counts_twice_over_what_either_says() -> None:
    one = [tag("number", "A"), tag("paid", True), tag("note", "x")]
    other = [tag("number", "A"), tag("paid", False)]
    found = measure_agreement([one, other], SHAPES)
    assert found is not None
    assert found.overall == pytest.approx(2 / 5)
    assert found.fields == {"number": 1.0, "paid": 0.0, "note": 0.0}


def test_several_values_are_counted_one_by_one() -> None:
    one = [tag("note", "a"), tag("note", "b"), tag("note", "b")]
    other = [tag("note", "b"), tag("note", "c")]
    assert _measure_overall(one, other) == pytest.approx(2 / 5)


def test_three_sets_are_three_pairs() -> None:
    a, b = [tag("number", "A")], [tag("number", "B")]
    assert _measure_overall(a, a, b) == pytest.approx(1 / 3)
    assert _measure_overall(a, a, a) == 1.0


def test_empty_and_empty_agree_on_what_a_third_filled() -> None:
    found = measure_agreement([[tag("number", "A")], [], []], SHAPES)
    assert found is not None
    assert found.fields["number"] == pytest.approx(1 / 3)
    assert found.overall == pytest.approx(1 / 3)
    assert _measure_overall([], []) == 1.0


def test_an_empty_field_has_no_weight() -> None:
    one, other, third = [tag("number", "A")], [tag("number", "A")], [tag("note", "x")]
    assert _measure_overall(one, other) == _measure_overall(one, other) == 1.0
    found = measure_agreement([one, other, third], SHAPES)
    assert found is not None
    assert found.fields["note"] == pytest.approx(1 / 3)


def test_amounts_are_compared_as_numbers() -> None:
    one = [tag("total", {"amount": "1.50", "currency": "EUR"})]
    assert _measure_overall(one, [tag("total", {"amount": "1.500", "currency": "EUR"})]) == 1.0
    assert _measure_overall(one, [tag("total", {"amount": "1.50", "currency": "USD"})]) == 0.0


def test_rows_are_places_of_their_own_and_one_field() -> None:
    one = [tag("lines.item", "rope", row=0), tag("lines.item", "sail", row=1)]
    other = [tag("lines.item", "rope", row=0), tag("lines.item", "mast", row=1)]
    found = measure_agreement([one, other], SHAPES)
    assert found is not None
    assert found.tag_keys == {("lines.item", 0): 1.0, ("lines.item", 1): 0.0}
    assert found.fields == {"lines.item": 0.5}


@pytest.mark.parametrize(
    ("start", "end", "share"),
    [(0, 10, 1.0), (0, 20, 1.0), (0, 21, 0.0), (5, 15, 0.0), (3, 10, 1.0), (20, 30, 0.0)],
)
def test_spans_agree_from_half_an_overlap(start: int, end: int, share: float) -> None:
    assert _measure_overall([span("clause", 0, 10)], [span("clause", start, end)]) == share


def test_boxes_agree_on_a_page_and_with_their_word() -> None:
    box = region([0, 0, 0.4, 0.4], "seal")
    assert _measure_overall([box], [region([0, 0, 0.4, 0.3], "seal")]) == 1.0
    assert _measure_overall([box], [region([0, 0, 0.4, 0.1], "seal")]) == 0.0
    assert _measure_overall([box], [region([0, 0, 0.4, 0.4], "stamp")]) == 0.0
    assert _measure_overall([box], [region([0, 0, 0.4, 0.4], "seal", page=2)]) == 0.0


def test_a_mark_is_matched_once() -> None:
    one = [span("names", 0, 10), span("names", 1, 11)]
    assert _measure_overall(one, [span("names", 0, 11)]) == pytest.approx(2 / 3)


def test_confidence_source_and_evidence_do_not_matter() -> None:
    doubtful = tag("number", "A", confidence=0.1, source="model")
    assert _measure_overall([tag("number", "A")], [doubtful]) == 1.0
