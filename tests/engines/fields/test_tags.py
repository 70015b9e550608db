"""Which tags a schema version accepts, and which of its required fields they leave empty."""

from typing import Any

import pytest

from app.engines.fields import (
    CompiledFields,
    SourceText,
    TagErrors,
    check_fields,
)

FIELDS = check_fields(
    [
        {"key": "number", "type": "text", "required": True},
        {"key": "total", "type": "money", "required": True},
        {"key": "note", "type": "text", "multiple": True},
        {"key": "clause", "type": "span"},
        {"key": "party", "type": "span", "multiple": False},
        {"key": "stamp", "type": "region"},
        {
            "key": "items",
            "type": "table",
            "required": True,
            "columns": [
                {"key": "description", "type": "text", "required": True},
                {"key": "quantity", "type": "number"},
                {"key": "codes", "type": "text", "multiple": True},
            ],
        },
    ]
)
COMPILED = CompiledFields(FIELDS)
BOX = [0.1, 0.2, 0.3, 0.4]


def check(*tags: Any) -> list[dict[str, Any]]:
    return COMPILED.check_tags(list(tags), text_length=100, page_count=2)


def paths(*tags: Any) -> list[str]:
    with pytest.raises(TagErrors) as caught:
        check(*tags)
    return [path for path, _ in caught.value.errors]


def tag(field: str = "number", value: object = "x", **members: Any) -> dict[str, Any]:
    return {"field": field, "value": value, **members}


def list_missing(*tags: Any) -> list[str]:
    return COMPILED.list_missing_required_fields(check(*tags))


def test_a_bare_tag_gets_its_defaults() -> None:
    assert check(tag("total", "1,50 €", evidence=None, source=None)) == [
        {
            "field": "total",
            "value": {"amount": "1.50", "currency": "EUR"},
            "row": None,
            "confidence": None,
            "source": "human",
            "evidence": [],
        }
    ]


def test_evidence_has_all_its_members() -> None:
    evidence = [
        {"page": 2, "box": [0, 0.2, 1, 0.4]},
        {"start": 0, "end": 100, "text": "all of it"},
        {"text": "typed from the image"},
        {"page": 1},
    ]
    (checked,) = check(tag(evidence=evidence, confidence=1, source="model"))
    nothing = dict.fromkeys(("page", "box", "start", "end", "text"))
    assert checked["evidence"] == [
        {**nothing, "page": 2, "box": [0.0, 0.2, 1.0, 0.4]},
        {**nothing, "start": 0, "end": 100, "text": "all of it"},
        {**nothing, "text": "typed from the image"},
        {**nothing, "page": 1},
    ]
    assert checked["confidence"] == 1.0
    assert checked["source"] == "model"


@pytest.mark.parametrize(
    ("bad", "path"),
    [
        (None, ""),
        ("number", ""),
        ([], ""),
        (tag(id="1"), ".id"),
        (tag("nothing"), ".field"),
        (tag(["number"]), ".field"),  # type: ignore[arg-type]
        ({"value": "x"}, ".field"),
        (tag("items"), ".field"),
        (tag("items.nothing", row=0), ".field"),
        (tag("number.x"), ".field"),
        (tag(row=0), ".row"),
        (tag("items.description"), ".row"),
        (tag("items.description", row=-1), ".row"),
        (tag("items.description", row=10_000), ".row"),
        (tag("items.description", row=True), ".row"),
        (tag("items.description", row=1.5), ".row"),
        ({"field": "number"}, ".value"),
        (tag(value=None), ".value"),
        (tag(value=5), ".value"),
        (tag("total", "12"), ".value"),
        (tag("items.quantity", "many", row=0), ".value"),
        (tag(confidence=1.01), ".confidence"),
        (tag(confidence=-0.1), ".confidence"),
        (tag(confidence=float("nan")), ".confidence"),
        (tag(confidence=True), ".confidence"),
        (tag(confidence="1"), ".confidence"),
        (tag(source="robot"), ".source"),
        (tag(source=["human"]), ".source"),
        (tag("stamp", None), ".evidence"),
        (tag("stamp", None, evidence=[{"page": 1}]), ".evidence"),
        (tag("clause", "x"), ".evidence"),
        (tag("clause", "x", evidence=[{"page": 1, "box": BOX}]), ".evidence"),
        (tag("clause", None, evidence=[{"start": 0, "end": 1}]), ".value"),
    ],
)
def test_tags_that_do_not_fit(bad: Any, path: str) -> None:
    assert paths(tag("note"), bad) == [f"tags.1{path}"]


@pytest.mark.parametrize(
    ("evidence", "path"),
    [
        ({}, ""),
        ([5], ".0"),
        ([{}], ".0"),
        ([{"page": None}], ".0"),
        ([{"page": 1, "color": 1}], ".0.color"),
        ([{"page": 0}], ".0.page"),
        ([{"page": 3}], ".0.page"),
        ([{"page": True}], ".0.page"),
        ([{"page": "1"}], ".0.page"),
        ([{"box": BOX}], ".0.page"),
        ([{"page": 1}, {"page": 1, "box": [0.1, 0.2, 0.3]}], ".1.box"),
        ([{"page": 1, "box": [0.3, 0.2, 0.3, 0.4]}], ".0.box"),
        ([{"page": 1, "box": [0.1, 0.4, 0.3, 0.2]}], ".0.box"),
        ([{"page": 1, "box": [0.1, 0.2, 1.1, 0.4]}], ".0.box"),
        ([{"page": 1, "box": [-0.1, 0.2, 1, 0.4]}], ".0.box"),
        ([{"page": 1, "box": [0.1, 0.2, float("nan"), 0.4]}], ".0.box"),
        ([{"page": 1, "box": [False, 0.2, True, 0.4]}], ".0.box"),
        ([{"page": 1, "box": "0123"}], ".0.box"),
        ([{"start": 1}], ".0.end"),
        ([{"end": 1}], ".0.start"),
        ([{"start": 1, "end": 1}], ".0.end"),
        ([{"start": 2, "end": 1}], ".0.end"),
        ([{"start": -1, "end": 1}], ".0.start"),
        ([{"start": 100, "end": 101}], ".0.start"),
        ([{"start": 99, "end": 101}], ".0.end"),
        ([{"start": 0.5, "end": 1}], ".0.start"),
        ([{"start": 0, "end": 10**400}], ".0.end"),
        ([{"text": 5}], ".0.text"),
        ([{"text": "\x00"}], ".0.text"),
        ([{"text": "x" * 20_001}], ".0.text"),
        ([{"text": "x"}] * 101, ""),
    ],
)
def test_evidence_outside_the_document(evidence: Any, path: str) -> None:
    assert paths(tag(evidence=evidence)) == [f"tags.0.evidence{path}"]


def test_a_document_without_text_or_pages_takes_no_places() -> None:
    for piece in ({"start": 0, "end": 1}, {"page": 1}):
        with pytest.raises(TagErrors):
            COMPILED.check_tags([tag(evidence=[piece])], text_length=0, page_count=0)


def test_spans_and_regions() -> None:
    offsets = [{"start": 3, "end": 8, "text": " text"}]
    span, region, captioned = check(
        tag("clause", None, evidence=offsets),
        {"field": "stamp", "evidence": [{"page": 1, "box": BOX}]},
        tag("clause", "as shown", evidence=[{"text": "x"}, *offsets]),
    )
    assert span["value"] == " text"
    assert region["value"] is None
    assert captioned["value"] == "as shown"


def test_only_multiple_fields_take_several_tags() -> None:
    piece = [{"start": 0, "end": 1, "text": "x"}]
    assert paths(tag(), tag("note"), tag(), tag("note")) == ["tags.2.field"]
    assert len(check(*[tag("clause", "x", evidence=piece)] * 2)) == 2
    assert paths(*[tag("party", "x", evidence=piece)] * 2) == ["tags.1.field"]


def test_cells_of_different_rows_do_not_conflict() -> None:
    rows = [tag("items.description", "x", row=0), tag("items.description", "x", row=7)]
    codes = [tag("items.codes", "x", row=0)] * 2
    assert len(check(*rows, *codes)) == 4
    assert paths(*rows, tag("items.description", "y", row=7)) == ["tags.2.field"]


def test_every_bad_tag_is_reported_up_to_a_hundred() -> None:
    bad = tag("nothing")
    assert paths(bad, tag(), bad) == ["tags.0.field", "tags.2.field"]
    assert len(paths(*[bad] * 150)) == 100


@pytest.mark.parametrize("tags", [None, {}, "x", [tag("note")] * 5001])
def test_no_more_than_a_list_of_5000(tags: object) -> None:
    with pytest.raises(TagErrors) as caught:
        COMPILED.check_tags(tags, text_length=0, page_count=0)
    assert [path for path, _ in caught.value.errors] == ["tags"]
    assert len(check(*[tag("note")] * 5000)) == 5000


def test_what_is_missing_is_named_in_the_schemas_order() -> None:
    assert list_missing() == ["number", "total", "items"]
    assert list_missing(tag("total", "5 EUR"), tag(value=" ")) == ["number", "items"]
    full = [tag(), tag("total", "5 EUR"), tag("items.description", row=0)]
    assert list_missing(*full) == []
    assert list_missing(*full, tag("items.codes", row=1)) == ["items.description"]
    assert list_missing(*full, tag("items.description", "", row=1)) == ["items.description"]


def test_an_optional_table_may_be_empty_but_not_half_filled() -> None:
    columns = [{"key": "a", "type": "text", "required": True}, {"key": "b", "type": "text"}]
    fields = check_fields([{"key": "t", "type": "table", "columns": columns}])
    compiled = CompiledFields(fields)
    assert compiled.list_missing_required_fields([]) == []
    tags = compiled.check_tags([tag("t.b", row=3)], text_length=0, page_count=0)
    assert compiled.list_missing_required_fields(tags) == ["t.a"]
    region = check_fields([{"key": "r", "type": "region", "required": True}])
    marked = [{"field": "r", "evidence": [{"page": 1, "box": BOX}]}]
    tags = CompiledFields(region).check_tags(marked, text_length=0, page_count=1)
    assert CompiledFields(region).list_missing_required_fields(tags) == []


def test_whole_numbers_may_be_written_with_a_point() -> None:
    evidence = [{"page": 1.0, "start": 0.0, "end": 1.0}]
    checked = check(tag("items.description", row=1.0, evidence=evidence))[0]
    assert [type(checked["row"]), checked["row"]] == [int, 1]
    assert [type(checked["evidence"][0][name]) for name in ("page", "start", "end")] == [int] * 3


def test_tags_that_do_not_fit_are_left_out_and_take_no_place() -> None:
    kept = keep(tag("number", 7), tag("total", "x"), tag(), tag("number", "y"), tag("note"), 3)
    assert kept == check(tag(), tag("note"))
    assert keep(*[tag("note")] * 5003) == check(*[tag("note")] * 5000)


def test_tags_are_looked_at_once_each(monkeypatch: pytest.MonkeyPatch) -> None:
    slices: list[int] = []
    monkeypatch.setattr(SourceText, "get_slice", lambda _, start, end: slices.append(end) or "x")
    place = {"page": 1, "start": 0, "end": 1, "text": "x"}
    tags = [tag("note", "x", evidence=[place]) if number % 2 else tag("unknown")
            for number in range(4000)]  # fmt: skip
    assert len(keep(*tags)) == len(slices) == 2000


def keep(*tags: Any) -> list[dict[str, Any]]:
    source = SourceText(lambda: "x" * 100)
    return COMPILED.keep_valid_tags(tags, text_length=100, page_count=2, source=source)
