"""What differs between two label sets."""

from typing import Any

from app.engines.agreement.comparing import diff
from tests.engines.agreement.labels import FIELD_SPECS, region, span, tag


def _get_value(tag: Any) -> Any:
    return tag and tag["value"]


def _list_changes(before: list[Any], after: list[Any]) -> list[tuple[Any, ...]]:
    return [
        (c["field"], c["row"], c["kind"], _get_value(c["from"]), _get_value(c["to"]))
        for c in diff(before, after, FIELD_SPECS)
    ]


def test_a_value_changed_came_or_went() -> None:
    before = [tag("number", "A-1"), tag("paid", True)]
    after = [tag("number", "A-2"), tag("total", {"amount": "1.00", "currency": "EUR"})]
    assert _list_changes(before, after) == [
        ("number", None, "changed", "A-1", "A-2"),
        ("total", None, "added", None, {"amount": "1.00", "currency": "EUR"}),
        ("paid", None, "removed", True, None),
    ]


def test_members_say_what_changed() -> None:
    before = [tag("number", "A-1", confidence=0.4, source="model")]
    after = [tag("number", "A-1", confidence=None, source="human")]
    (change,) = diff(before, after, FIELD_SPECS)
    assert (change["kind"], change["members"]) == ("changed", ["confidence", "source"])
    assert (change["from"], change["to"]) == (before[0], after[0])


def test_the_order_of_values_is_no_difference() -> None:
    before = [tag("note", "a"), tag("note", "b"), tag("number", "1")]
    assert diff(before, before[::-1], FIELD_SPECS) == []


def test_one_of_two_equal_values_went() -> None:
    twice = [tag("note", "a"), tag("note", "a")]
    assert _list_changes(twice, twice[:1]) == [("note", None, "removed", "a", None)]


def test_of_several_values_another_is_not_a_change() -> None:
    before, after = [tag("note", "a"), tag("note", "b")], [tag("note", "b"), tag("note", "c")]
    assert _list_changes(before, after) == [
        ("note", None, "removed", "a", None),
        ("note", None, "added", None, "c"),
    ]


def test_an_equal_value_with_other_evidence_is_paired_with_it() -> None:
    piece = {"page": 1, "box": None, "start": None, "end": None, "text": None}
    before = [tag("note", "a"), tag("note", "b")]
    after = [tag("note", "b", evidence=[piece]), tag("note", "a")]
    (change,) = diff(before, after, FIELD_SPECS)
    assert (change["from"]["value"], change["members"]) == ("b", ["evidence"])


def test_cells_differ_row_by_row() -> None:
    before = [tag("lines.item", "rope", row=0), tag("lines.item", "sail", row=1)]
    after = [tag("lines.item", "rope", row=0), tag("lines.item", "mast", row=1)]
    assert _list_changes(before, after) == [("lines.item", 1, "changed", "sail", "mast")]


def test_spans_that_overlap_moved_and_others_came_and_went() -> None:
    before = [span("names", 0, 10), span("names", 20, 30)]
    after = [span("names", 28, 40), span("names", 50, 60)]
    assert _list_changes(before, after) == [
        ("names", None, "changed", "20-30", "28-40"),
        ("names", None, "removed", "0-10", None),
        ("names", None, "added", None, "50-60"),
    ]


def test_the_greatest_overlap_is_paired_first() -> None:
    before = [span("names", 0, 10), span("names", 8, 20)]
    after = [span("names", 9, 21)]
    assert _list_changes(before, after) == [
        ("names", None, "changed", "8-20", "9-21"),
        ("names", None, "removed", "0-10", None),
    ]


def test_a_single_span_has_one_change_wherever_it_went() -> None:
    assert _list_changes([span("clause", 0, 5)], [span("clause", 90, 95)]) == [
        ("clause", None, "changed", "0-5", "90-95")
    ]


def test_a_box_given_another_word_is_the_same_box() -> None:
    before, after = [region([0, 0, 0.5, 0.5], "seal")], [region([0, 0, 0.5, 0.5], "stamp")]
    (change,) = diff(before, after, FIELD_SPECS)
    assert (change["kind"], change["members"]) == ("changed", ["value"])


def test_boxes_pair_from_half_an_overlap_on_one_page() -> None:
    box = region([0, 0, 0.4, 0.4])
    assert [c["kind"] for c in diff([box], [region([0, 0, 0.4, 0.3])], FIELD_SPECS)] == ["changed"]
    for other in (region([0, 0, 0.4, 0.1]), region([0, 0, 0.4, 0.4], page=2)):
        assert [c["kind"] for c in diff([box], [other], FIELD_SPECS)] == ["removed", "added"]


def test_same_is_told_when_asked_for() -> None:
    tags = [tag("number", "A-1"), tag("note", "x")]
    assert [c["kind"] for c in diff(tags, tags, FIELD_SPECS, include_same=True)] == ["same", "same"]


def test_fields_that_the_version_does_not_have_come_last() -> None:
    before = [tag("abandoned", "x"), tag("number", "A")]
    assert [c["field"] for c in diff(before, [], FIELD_SPECS)] == ["number", "abandoned"]
