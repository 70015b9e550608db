"""The conversion of JSON Schema keywords to fields and warnings."""

from typing import Any

import pytest

from app.engines.schema_sources.json_schema.reader import read_json_schema
from app.engines.schema_sources.model import SchemaSourceError, SourceSchema

STRING = {"type": "string"}
LESS = "was left out: it is less than the lower limit"


def _read(properties: dict[str, Any], **root: Any) -> SourceSchema:
    return read_json_schema({"type": "object", "properties": properties, **root})


def _read_property(schema: Any, **root: Any) -> tuple[dict[str, Any], list[str]]:
    """Return the field for one property, and the warnings."""
    found = _read({"a": schema}, **root)
    assert len(found.fields) == 1
    return found.fields[0], [warning.message for warning in found.warnings]


@pytest.mark.parametrize(
    ("schema", "kind", "constraints"),
    [
        (STRING, "text", {}),
        ({"type": "string", "format": "date"}, "date", {}),
        ({"type": "string", "format": "date-time"}, "datetime", {}),
        ({"type": "string", "format": "time"}, "time", {}),
        ({"type": "string", "format": "email"}, "email", {}),
        ({"type": "string", "format": "uri"}, "url", {}),
        ({"type": "string", "format": "iban"}, "text", {"formats": ["iban"]}),
        ({"type": ["string", "null"]}, "text", {}),
        ({"type": "string", "nullable": True}, "text", {}),
        ({"type": "boolean"}, "boolean", {}),
        ({"enum": [True, False]}, "boolean", {}),
        ({"type": "integer", "format": "int64"}, "integer", {}),
        ({"type": ["integer", "number"]}, "number", {}),
        ({"type": "number", "minimum": 0.5, "maximum": 7}, "number", {"min": 0.5, "max": 7}),
        ({"type": "integer", "exclusiveMinimum": 0}, "integer", {"min": 1}),
        ({"type": "integer", "maximum": 5, "exclusiveMaximum": True}, "integer", {"max": 4}),
        ({"type": "integer", "minimum": 5, "exclusiveMinimum": False}, "integer", {"min": 5}),
        (
            {"minLength": 1, "maxLength": 5, "pattern": "^A"},
            "text",
            {"min_length": 1, "max_length": 5, "pattern": "^A"},
        ),
        ({"type": "string", "maxLength": 5.0}, "text", {"max_length": 5}),
        ({"anyOf": [{"type": "string", "format": "date"}, {"type": "null"}]}, "date", {}),
        ({"allOf": [{"type": "number"}, {"type": "integer"}]}, "integer", {}),
        ({"allOf": [{"minimum": 1}, {"minimum": 3}], "type": "number"}, "number", {"min": 3}),
        ({"oneOf": [{"type": "integer"}, {"type": "number"}]}, "number", {}),
    ],
)
def test_a_value_keeps_its_type_and_limits(
    schema: dict[str, Any], kind: str, constraints: dict[str, Any]
) -> None:
    field, warnings = _read_property(schema)
    assert (field["type"], field["constraints"]) == (kind, constraints)
    assert warnings == []


@pytest.mark.parametrize(
    ("schema", "kind", "part"),
    [
        ({}, "text", "allows any value"),
        (True, "text", "allows any value"),
        ({"type": ["string", "integer"]}, "text", "several types"),
        ({"anyOf": [STRING, {"type": "integer"}]}, "text", "no common type"),
        ({"type": "null"}, "text", "only allows null"),
        ({"type": "colour"}, "text", "colour is not known"),
        ({"type": "object"}, "text", "no named properties"),
        ({"type": "string", "pattern": "a(?=b)"}, "text", "pattern was left out"),
        ({"type": "string", "format": "hostname"}, "text", "format hostname is not enforced"),
        ({"type": "string", "maxLength": 10**9}, "text", "maximum length was left out"),
        ({"type": "string", "minLength": "x"}, "text", "minimum length was left out"),
        ({"type": "number", "minimum": 3, "maximum": 2}, "number", f"maximum {LESS}"),
        ({**STRING, "minLength": 3, "maxLength": 2}, "text", f"maximum length {LESS}"),
        (
            {"type": "integer", "maximum": "x"},
            "integer",
            "maximum was left out: it is not a number",
        ),
        ({"type": "number", "exclusiveMinimum": 3}, "number", "minimum itself was excluded"),
        ({"type": "integer", "multipleOf": 5}, "integer", "Not imported: multipleOf"),
        ({"type": "string", "default": "x"}, "text", "Not imported: default"),
        ({"type": "string", "not": {}, "if": {}}, "text", "Not imported: if, not"),
        ({"type": "string", "x-mine": 1}, "text", "Not imported: x-mine"),
        ({"type": "string", "options": {"hidden": True}}, "text", "Not imported: options"),
        ({"enum": [1, 2]}, "choice", "were converted to text"),
        ({"enum": ["a", {}]}, "choice", "not a plain value"),
        ({"enum": ["a", "x" * 201]}, "choice", "over 200 characters"),
        ({"enum": [{}]}, "text", "None of the options"),
        ({"enum": []}, "text", "None of the options"),
        ({"enum": [str(n) for n in range(1001)]}, "text", "more than 1,000 options"),
        ({"const": True}, "boolean", "single boolean value"),
        ({"enum": [None]}, "text", "None of the options"),
        ({"type": "integer", "format": ["x"]}, "integer", "Not imported: format"),
        ({"oneOf": [{"type": "integer", "format": {}}] * 2}, "integer", "Not imported: format"),
        ({"type": "string", "required": True}, "text", "Not imported: required"),
        ({"type": "string", "properties": {"a": {}}}, "text", "properties were left out"),
        ({"type": ["string", "array"], "items": {}}, "text", "items were left out"),
        (
            {"type": "array", "items": {}, "properties": {"a": {}}},
            "text",
            "properties were left out",
        ),
        ({"allOf": [STRING, {"type": "number"}]}, "text", "contradict"),
        ({"type": "array"}, "text", "allows any value"),
        ({"type": "array", "items": {"type": "array"}}, "text", "inside another list"),
        ({"type": "array", "items": [STRING]}, "text", "treated alike"),
        ({"type": "array", "items": STRING, "uniqueItems": True}, "text", "uniqueItems"),
        ({"type": "array", "items": STRING, "minItems": 2}, "text", "minItems"),
    ],
)
def test_unsupported_keywords_cause_a_warning(schema: Any, kind: str, part: str) -> None:
    field, warnings = _read_property(schema)
    assert field["type"] == kind
    assert any(part in warning for warning in warnings), warnings


@pytest.mark.parametrize(
    ("schema", "options"),
    [
        ({"enum": ["a", "b", None]}, [("a", "a"), ("b", "b")]),
        ({"const": "a"}, [("a", "a")]),
        (
            {"oneOf": [{"const": "a", "title": "First"}, {"const": "b"}]},
            [("a", "First"), ("b", "b")],
        ),
        ({"anyOf": [{"enum": ["a"]}, {"enum": ["b", "a"]}]}, [("a", "a"), ("b", "b")]),
        ({"allOf": [{"enum": ["a", "b"]}, {"enum": ["b", "c"]}]}, [("b", "b")]),
    ],
)
def test_constants_become_options(schema: dict[str, Any], options: list[tuple[str, str]]) -> None:
    field, warnings = _read_property(schema)
    assert field["type"] == "choice"
    assert [(option["value"], option["label"]) for option in field["options"]] == options
    assert warnings == []


def test_titles_descriptions_and_required_properties() -> None:
    properties = {
        "invoiceNo.": {**STRING, "description": "  Its number. "},
        "Größe": {"type": "number", "title": "Size\n in cm"},
        **dict.fromkeys(("due_date", "2nd", "👍"), STRING),
    }
    found = _read(properties, required=["invoiceNo.", "gone"], title="My  order")
    assert found.name == "My order"
    assert found.document_type == "my_order"
    assert [(f["key"], f["label"], f["required"]) for f in found.fields] == [
        ("invoice_no", "invoiceNo.", True),
        ("grosse", "Size in cm", False),
        ("due_date", "Due date", False),
        ("field_2nd", "2nd", False),
        ("field", "👍", False),
    ]
    assert found.fields[0]["description"] == "Its number."
    assert [w.message for w in found.warnings] == ["gone is required but not described."]


@pytest.mark.parametrize(
    ("schema", "required"),
    [
        ({"type": ["string", "null"]}, False),
        ({"anyOf": [STRING, {"type": "null"}]}, False),
        ({"anyOf": [STRING, {"type": "number"}, {"type": "null"}]}, False),
        ({"oneOf": [{"type": ["string", "null"]}, {"type": "number"}]}, False),
        ({"$ref": "#/$defs/optional"}, False),
        ({"type": "string", "nullable": True}, False),
        ({"enum": ["a", None]}, False),
        ({"type": ["array", "null"], "items": STRING}, False),
        ({"type": "array", "items": {"type": ["string", "null"]}}, True),
        ({"type": "string", "enum": ["a", None]}, True),
        ({"type": ["string", "null"], "enum": ["a"]}, True),
        (STRING, True),
        ({"enum": ["a"]}, True),
        ({}, True),
    ],
)
def test_properties_that_may_be_null_are_not_required(schema: Any, required: bool) -> None:
    optional = {"type": ["string", "null"]}
    field, _ = _read_property(schema, required=["a"], **{"$defs": {"optional": optional}})
    assert field["required"] is required


def test_members_of_an_object_that_may_be_null_are_not_required() -> None:
    street = {"type": "object", "required": ["street"], "properties": {"street": STRING}}
    for schema in ({**street, "type": ["object", "null"]}, {"anyOf": [street, {"type": "null"}]}):
        field, _ = _read_property(schema, required=["a"])
        assert (field["key"], field["required"]) == ("a_street", False)


def test_duplicate_keys_get_numbers() -> None:
    found = _read(dict.fromkeys(("a b", "a-b", "a_b", "a_b_2"), STRING))
    assert [field["key"] for field in found.fields] == ["a_b", "a_b_2", "a_b_3", "a_b_2_2"]
    assert [w.path for w in found.warnings] == [f"properties.{n}" for n in ("a-b", "a_b", "a_b_2")]


def test_nested_properties_are_required_only_if_their_parents_are() -> None:
    street = {"type": "string", "title": "Street"}
    inner = {"type": "object", "required": ["street"], "properties": {"street": street}}
    outer = {"type": "object", "required": ["home"], "properties": {"home": inner, "work": inner}}
    found = _read({"address": outer, "postal": outer}, required=["address"])
    assert [(f["key"], f["label"], f["required"]) for f in found.fields] == [
        ("address_home_street", "Address: Home: Street", True),
        ("address_work_street", "Address: Work: Street", False),
        ("postal_home_street", "Postal: Home: Street", False),
        ("postal_work_street", "Postal: Work: Street", False),
    ]
    assert {w.message for w in found.warnings} == {
        "The object's properties became separate fields, prefixed with the object's name."
    }


def test_lists_of_values_and_of_objects() -> None:
    row = {
        "type": "object",
        "description": "A position.",
        "required": ["price"],
        "properties": {
            "price": {"type": "number"},
            "tags": {"type": "array", "items": {"enum": ["x", "y"]}},
            "size": {"type": "object", "properties": {"width": {"type": "number"}}},
            "parts": {"type": "array", "items": {"properties": {"a": STRING}}},
        },
    }
    lists = {
        "days": {"type": "array", "items": {"type": "string", "format": "date"}},
        "lines": {"type": "array", "items": row, "minItems": 1},
    }
    found = _read(lists, required=["lines"])
    days, lines = found.fields
    assert (days["type"], days["multiple"], days["required"]) == ("date", True, False)
    assert (lines["type"], lines["required"]) == ("table", True)
    assert lines["description"] == "A position."
    assert [(c["key"], c["type"], c["multiple"], c["required"]) for c in lines["columns"]] == [
        ("price", "number", False, True),
        ("tags", "choice", True, False),
        ("size_width", "number", False, False),
    ]
    messages = {w.path: w.message for w in found.warnings}
    assert "another table" in messages["properties.lines.items.properties.parts"]
    assert "properties.lines" not in messages


def test_alternative_objects_are_combined() -> None:
    card = {"type": "object", "required": ["kind", "card"]}
    card["properties"] = {"kind": {"const": "card"}, "card": STRING}
    cash = {"type": "object", "required": ["kind"], "properties": {"kind": {"const": "card"}}}
    found = _read({"paid": {"oneOf": [card, cash]}}, required=["paid"])
    assert [(f["key"], f["required"]) for f in found.fields] == [
        ("paid_kind", True),
        ("paid_card", False),
    ]
    assert any("properties of all alternatives" in w.message for w in found.warnings)


@pytest.mark.parametrize(
    ("root", "key", "kind", "multiple"),
    [
        (STRING, "value", "text", False),
        ({"type": "array", "items": {"type": "integer"}}, "items", "integer", True),
        ({"type": "array", "items": {"properties": {"a": STRING}}}, "items", "table", False),
    ],
)
def test_a_root_that_is_not_an_object_becomes_one_field(
    root: dict[str, Any], key: str, kind: str, multiple: bool
) -> None:
    found = read_json_schema(root)
    (field,) = found.fields
    assert (field["key"], field["type"], field["multiple"]) == (key, kind, multiple)
    assert found.warnings[0].path == ""


@pytest.mark.parametrize(
    ("content", "path"),
    [
        ([], ""),
        (True, ""),
        ("[]", ""),
        ({}, ""),
        ({"type": "object"}, ""),
        ({"properties": {"a": False}}, ""),
        ({"properties": []}, "properties"),
        ({"properties": {"a": 1}}, "properties.a"),
        ({"allOf": {}}, "allOf"),
        ({"properties": {"a": {"anyOf": [{"enum": 5}, {"enum": 6}]}}}, "properties.a.anyOf.0.enum"),
        ({"anyOf": [1, 2]}, "anyOf.0"),
        ({"properties": {f"a{n}": {} for n in range(501)}}, "properties.a500"),
    ],
)
def test_invalid_schemas_are_rejected(content: Any, path: str) -> None:
    with pytest.raises(SchemaSourceError) as refused:
        read_json_schema(content)
    assert refused.value.path == path


def test_truncated_titles_cause_a_warning() -> None:
    long = {"title": "t" * 201, "properties": {"a": {"title": "a" * 5000, "type": "string"}}}
    found = read_json_schema(long)
    assert [warning.path for warning in found.warnings] == ["", "properties.a"]
    assert (len(found.name or ""), len(found.fields[0]["label"])) == (200, 200)
