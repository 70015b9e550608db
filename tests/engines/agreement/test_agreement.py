"""The agreement of tag sets, compared with values worked out by hand."""

import pytest

from app.engines.agreement.measures import measure_agreement
from tests.engines.agreement.labels import FIELD_SPECS, measure, region, span, tag


def test_agreement_needs_two_tag_sets() -> None:
    assert measure_agreement([], FIELD_SPECS) is None
    assert measure_agreement([[tag("number", "A")]], FIELD_SPECS) is None


def test_equal_tags_are_compared_with_all_tags_of_both_sets() -> None:
    first = [tag("number", "A"), tag("paid", True), tag("note", "x")]
    second = [tag("number", "A"), tag("paid", False)]
    agreement = measure(first, second)
    assert agreement.overall == pytest.approx(2 / 5)
    assert agreement.fields == {"number": 1.0, "paid": 0.0, "note": 0.0}


def test_several_values_are_counted_one_by_one() -> None:
    first = [tag("note", "a"), tag("note", "b"), tag("note", "b")]
    second = [tag("note", "b"), tag("note", "c")]
    assert measure(first, second).overall == pytest.approx(2 / 5)


def test_three_sets_are_three_pairs() -> None:
    a, b = [tag("number", "A")], [tag("number", "B")]
    assert measure(a, a, b).overall == pytest.approx(1 / 3)
    assert measure(a, a, a).overall == 1.0


def test_sets_without_a_value_that_a_third_set_has_agree() -> None:
    agreement = measure([tag("number", "A")], [], [])
    assert agreement.fields["number"] == pytest.approx(1 / 3)
    assert agreement.overall == pytest.approx(1 / 3)
    assert measure([], []).overall == 1.0


def test_an_empty_field_has_no_weight() -> None:
    first, second, third = [tag("number", "A")], [tag("number", "A")], [tag("note", "x")]
    assert measure(first, second).overall == measure(first, second).overall == 1.0
    assert measure(first, second, third).fields["note"] == pytest.approx(1 / 3)


def test_amounts_are_compared_as_numbers() -> None:
    euros = [tag("total", {"amount": "1.50", "currency": "EUR"})]
    assert measure(euros, [tag("total", {"amount": "1.500", "currency": "EUR"})]).overall == 1.0
    assert measure(euros, [tag("total", {"amount": "1.50", "currency": "USD"})]).overall == 0.0


def test_each_row_has_its_own_agreement_and_the_column_is_one_field() -> None:
    first = [tag("lines.item", "rope", row=0), tag("lines.item", "sail", row=1)]
    second = [tag("lines.item", "rope", row=0), tag("lines.item", "mast", row=1)]
    agreement = measure(first, second)
    assert agreement.tag_keys == {("lines.item", 0): 1.0, ("lines.item", 1): 0.0}
    assert agreement.fields == {"lines.item": 0.5}


@pytest.mark.parametrize(
    ("start", "end", "share"),
    [(0, 10, 1.0), (0, 20, 1.0), (0, 21, 0.0), (5, 15, 0.0), (3, 10, 1.0), (20, 30, 0.0)],
)
def test_spans_agree_from_half_an_overlap(start: int, end: int, share: float) -> None:
    assert measure([span("clause", 0, 10)], [span("clause", start, end)]).overall == share


def test_boxes_agree_on_a_page_and_with_their_word() -> None:
    box = region([0, 0, 0.4, 0.4], "seal")
    assert measure([box], [region([0, 0, 0.4, 0.3], "seal")]).overall == 1.0
    assert measure([box], [region([0, 0, 0.4, 0.1], "seal")]).overall == 0.0
    assert measure([box], [region([0, 0, 0.4, 0.4], "stamp")]).overall == 0.0
    assert measure([box], [region([0, 0, 0.4, 0.4], "seal", page=2)]).overall == 0.0


def test_a_mark_is_matched_once() -> None:
    spans = [span("names", 0, 10), span("names", 1, 11)]
    assert measure(spans, [span("names", 0, 11)]).overall == pytest.approx(2 / 3)


def test_confidence_source_and_evidence_do_not_matter() -> None:
    doubtful = tag("number", "A", confidence=0.1, source="model")
    assert measure([tag("number", "A")], [doubtful]).overall == 1.0
