"""The list of formats, their options, and the way from tags to labels."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from app.engines.fields import CompiledFields, check_fields
from app.engines.formats import FORMATS, check_options
from app.engines.formats.labels import LabelBuilder, merge_fields
from app.engines.formats.model import TAG_SET_PARTS, FormatError
from tests.factories.properties import examples

FIELDS = check_fields(
    [
        {"key": "number", "type": "text"},
        {"key": "total", "type": "money"},
        {"key": "codes", "type": "text", "multiple": True},
        {
            "key": "items",
            "type": "table",
            "columns": [
                {"key": "name", "type": "text"},
                {"key": "codes", "type": "text", "multiple": True},
            ],
        },
    ]
)


@pytest.mark.parametrize("format_id", FORMATS)
def test_every_format_describes_itself(format_id: str) -> None:
    format_ = FORMATS[format_id]
    assert format_.id == format_id
    assert format_.name
    assert format_.description.endswith(".")
    assert "/" in format_.media_type
    assert format_.extension.isalnum()
    assert set(format_.keeps) <= set(TAG_SET_PARTS)
    assert "RE-1042" in format_.sample
    Draft202012Validator.check_schema(dict(format_.options_schema))
    defaults = check_options(format_id, None)
    assert set(defaults) == set(format_.options_schema["properties"])
    assert check_options(format_id, defaults) == defaults
    Draft202012Validator(format_.options_schema).validate(defaults)


def test_given_options_win_over_defaults() -> None:
    options = check_options("csv", {"delimiter": ";", "raw": True})
    assert (options["delimiter"], options["raw"], options["header"]) == (";", True, True)


def nested(depth: int) -> Any:
    value: Any = []
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("format_id", "options", "path"),
    [
        ("xls", {}, "format"),
        ("", None, "format"),
        ("csv", [], "options"),
        ("csv", "x", "options"),
        ("csv", {"delimeter": ";"}, "options.delimeter"),
        ("csv", {"\ud800": ";"}, "options.?"),
        ("jsonl", {"raw": True}, "options.raw"),
        ("csv", {"delimiter": "::"}, "options.delimiter"),
        ("csv", {"delimiter": None}, "options.delimiter"),
        ("csv", {"separator": ""}, "options.separator"),
        ("csv", {"separator": "x" * 11}, "options.separator"),
        ("csv", {"header": 1}, "options.header"),
        ("csv", {"rows": "none"}, "options.rows"),
        ("csv", {"rows": nested(900)}, "options.rows"),
    ],
)
def test_options_that_do_not_fit(format_id: str, options: object, path: str) -> None:
    with pytest.raises(FormatError) as caught:
        check_options(format_id, options)
    assert caught.value.path == path
    assert len(caught.value.message) < 200


@pytest.mark.parametrize(
    ("format_id", "options", "message"),
    [
        ("csv", {"delimiter": "::"}, r'must be one of ",", ";", "\t", "|"'),
        ("csv", {"separator": ""}, "must have a minimum length of 1"),
        ("csv", {"separator": "x" * 11}, "must have a maximum length of 10"),
        ("csv", {"header": 1}, "must be of type boolean"),
        ("coco", {"width": 1}, "must be at least 100"),
        ("coco", {"width": 9999}, "must be at most 4000"),
        ("docile", {"split": "A"}, "must match the pattern ^[a-z0-9][a-z0-9_-]*$"),
    ],
)
def test_an_invalid_option_is_described(
    format_id: str, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(FormatError) as caught:
        check_options(format_id, options)
    assert caught.value.message == message


def test_options_nested_beyond_the_stack_are_refused() -> None:
    with pytest.raises(FormatError):
        check_options("csv", {"rows": nested(50_000)})


@examples(200)
@given(
    options=st.dictionaries(
        st.sampled_from(["delimiter", "separator", "rows", "raw", "bom", "header"]) | st.text(),
        st.none() | st.booleans() | st.text() | st.integers() | st.lists(st.text()),
    )
)
def test_any_options_are_complete_or_refused(options: dict[str, Any]) -> None:
    try:
        checked = check_options("csv", options)
    except FormatError as refused:
        assert refused.path.startswith("options")  # noqa: PT017 - refusal is one of two outcomes
    else:
        assert check_options("csv", checked) == checked


def test_labels_from_tags() -> None:
    tags = [
        {"field": "items.name", "value": "second", "row": 7},
        {"field": "codes", "value": "a"},
        {"field": "items.codes", "value": "x", "row": 2},
        {"field": "total", "value": "5 EUR"},
        {"field": "codes", "value": "b"},
        {"field": "items.codes", "value": "y", "row": 2},
    ]
    checked = CompiledFields(FIELDS).check_tags(tags, text_length=0, page_count=0)
    labels = LabelBuilder(FIELDS).build(checked)
    assert labels == {
        "total": {"amount": "5.00", "currency": "EUR"},
        "codes": ["a", "b"],
        "items": [{"codes": ["x", "y"]}, {"name": "second"}],
    }
    assert list(labels) == ["total", "codes", "items"]
    assert LabelBuilder(FIELDS).build([]) == {}


def test_the_union_of_versions_is_led_by_the_newest() -> None:
    old = check_fields(
        [
            {"key": "gone", "type": "date"},
            {"key": "number", "type": "integer", "multiple": True},
            {
                "key": "items",
                "type": "table",
                "columns": [{"key": "name", "type": "text"}, {"key": "old", "type": "number"}],
            },
        ]
    )
    union = merge_fields([FIELDS, old])
    assert [field["key"] for field in union] == ["number", "total", "codes", "items", "gone"]
    assert (union[0]["type"], union[0]["multiple"]) == ("text", True)
    assert [column["key"] for column in union[3]["columns"]] == ["name", "codes", "old"]
    assert "has_plain_values" not in union[3]
    assert merge_fields([]) == []
    assert merge_fields([FIELDS]) == FIELDS
    assert FIELDS[0]["multiple"] is False


def test_a_table_that_was_a_plain_field_is_marked() -> None:
    text = check_fields([{"key": "items", "type": "text"}])
    assert merge_fields([FIELDS, FIELDS, text])[3]["has_plain_values"] is True
    assert merge_fields([text, FIELDS])[0] == {**text[0], "columns": []}
