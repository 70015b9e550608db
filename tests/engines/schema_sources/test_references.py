"""References in a JSON Schema are followed only inside the document, and never in cycles."""

from typing import Any

import pytest

from app.engines.schema_sources.json_schema.nodes import MAX_TRAIL
from app.engines.schema_sources.json_schema.reader import read_json_schema
from app.engines.schema_sources.model import SchemaSourceError

DATE = {"type": "string", "format": "date", "title": "Day", "description": "From there."}


def _read_types(content: dict[str, Any]) -> dict[str, str]:
    return {field["key"]: field["type"] for field in read_json_schema(content).fields}


@pytest.mark.parametrize(
    ("ref", "where"),
    [
        ("#/$defs/day", {"$defs": {"day": DATE}}),
        ("#/definitions/day", {"definitions": {"day": DATE}}),
        ("#/definitions/a~1b~0c%20d", {"definitions": {"a/b~c d": DATE}}),
        ("#/x/1", {"x": [{}, DATE]}),
        ("#day", {"$defs": {"d": {**DATE, "$anchor": "day"}}}),
        ("#day", {"definitions": {"d": {**DATE, "id": "#day"}}}),
        (
            "https://x.example/s.json#/$defs/d",
            {"$id": "https://x.example/s.json", "$defs": {"d": DATE}},
        ),
        ("s.json#/$defs/d", {"$id": "https://x.example/s.json", "$defs": {"d": DATE}}),
        (
            "day.json",
            {"$id": "https://x.example/s.json", "$defs": {"d": {"$id": "day.json", **DATE}}},
        ),
        ("day.json", {"$defs": {"d": {"$id": "day.json", **DATE}}}),
        ("#/properties/b", {}),
    ],
)
def test_locations_in_the_document_are_found(ref: str, where: dict[str, Any]) -> None:
    content = {"properties": {"a": {"$ref": ref}, "b": DATE}, **where}
    assert _read_types(content) == {"a": "date", "b": "date"}


def test_keywords_beside_a_reference_also_apply() -> None:
    beside = {"$ref": "#/$defs/day", "title": "Due", "minLength": 1}
    found = read_json_schema({"properties": {"a": beside}, "$defs": {"day": DATE}})
    (field,) = found.fields
    assert (field["label"], field["description"], field["type"]) == ("Due", "From there.", "date")


@pytest.mark.parametrize(
    "ref",
    [
        "http://x.example/s.json",
        "https://x.example/s.json#/a",
        "file:///etc/passwd",
        "other.json",
        "//x.example/",
        "http://[",
        "#/nowhere",
        "#/properties/a/0",
        "#nowhere",
        "#" + "/a" * 600,
        7,
    ],
)
def test_other_locations_are_rejected(ref: object, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a connection was opened")

    monkeypatch.setattr("socket.socket", refuse)
    with pytest.raises(SchemaSourceError) as refused:
        read_json_schema({"properties": {"a": {"$ref": ref}}})
    assert refused.value.path == "properties.a.$ref"


@pytest.mark.parametrize(
    "tree",
    [
        {"$ref": "#"},
        {"$ref": "#/$defs/tree"},
        {"type": "array", "items": {"$ref": "#/$defs/tree"}},
        {"allOf": [{"$ref": "#/$defs/tree"}]},
        {"anyOf": [{"$ref": "#/$defs/tree"}, {"type": "null"}]},
        {"$dynamicRef": "#tree"},
        {"$recursiveRef": "#"},
    ],
)
def test_circular_schemas_end(tree: dict[str, Any]) -> None:
    node = {"$anchor": "tree", "properties": {"name": {"type": "string"}, "more": tree}}
    content = {"properties": {"top": {"$ref": "#/$defs/tree"}}, "$defs": {"tree": node}}
    found = read_json_schema(content)
    assert "top_name" in [field["key"] for field in found.fields]
    assert any("contains this reference" in warning.message for warning in found.warnings)


def test_a_cycle_of_references_alone_is_left_out() -> None:
    content = {
        "properties": {"a": {"$ref": "#/$defs/x"}, "b": {"type": "string"}},
        "$defs": {"x": {"$ref": "#/$defs/y"}, "y": {"$ref": "#/$defs/x"}},
    }
    assert _read_types(content) == {"b": "text"}


def test_the_same_definition_may_be_used_twice() -> None:
    address = {"properties": {"street": {"type": "string"}}}
    content = {
        "properties": {"home": {"$ref": "#/$defs/a"}, "work": {"$ref": "#/$defs/a"}},
        "$defs": {"a": address},
    }
    assert _read_types(content) == {"home_street": "text", "work_street": "text"}


def _chain(length: int, link: Any) -> dict[str, Any]:
    definitions = {f"d{n}": link(f"#/$defs/d{n + 1}") for n in range(length)}
    return {
        "properties": {"a": {"$ref": "#/$defs/d0"}},
        "$defs": {**definitions, f"d{length}": DATE},
    }


def test_chains_of_references_have_a_maximum_length() -> None:
    assert _read_types(_chain(MAX_TRAIL - 1, lambda ref: {"$ref": ref})) == {"a": "date"}
    with pytest.raises(SchemaSourceError, match="references"):
        _read_types(_chain(MAX_TRAIL, lambda ref: {"$ref": ref}))


@pytest.mark.parametrize(
    "link",
    [
        lambda ref: {"allOf": [{"$ref": ref}] * 10},
        lambda ref: {"anyOf": [{"$ref": ref}] * 10},
        lambda ref: {"properties": {f"p{n}": {"$ref": ref} for n in range(10)}},
    ],
)
def test_references_that_multiply_are_rejected(link: Any) -> None:
    with pytest.raises(SchemaSourceError, match=r"too large|exceeds the limit"):
        _read_types(_chain(12, link))


@pytest.mark.parametrize(
    "large",
    [
        {"enum": ["a" * 100_000]},
        {"x": dict.fromkeys(map(str, range(20_000)), 1)},
        {f"x{n}": 1 for n in range(20_000)},
        {"properties": {"a" * 100_000: True}},
        {"const": 1, "title": "a " * 50_000},
        {"properties": {"x": {}}, "required": ["a" * 100_000]},
    ],
)
def test_many_references_to_a_large_schema_are_rejected(large: dict[str, Any]) -> None:
    content = {
        "$defs": {"large": large},
        "properties": {"a": {"oneOf": [{"$ref": "#/$defs/large"}] * 5000}},
    }
    with pytest.raises(SchemaSourceError, match="too large"):
        read_json_schema(content)
    once = {**content, "properties": {"a": {"$ref": "#/$defs/large"}}}
    assert len(read_json_schema(once).fields) == 1


def test_many_references_to_small_definitions_are_accepted() -> None:
    day = {**DATE, "description": "a" * 1000}
    content = {
        "$defs": {f"d{n}": day for n in range(500)},
        "properties": {f"p{n}": {"$ref": f"#/$defs/d{n}"} for n in range(150)},
        "allOf": [{"$ref": "#/allOf/1"}, {"required": ["p1"]}] * 200,
    }
    assert len(read_json_schema(content).fields) == 150


def test_duplicate_options_are_compared_once() -> None:
    options = [{"enum": [1, 2] * 5000}, *({"enum": [2, 1]} for _ in range(5000))]
    (field,) = read_json_schema({"properties": {"a": {"allOf": options}}}).fields
    assert [option["value"] for option in field["options"]] == ["1", "2"]


def test_nested_objects_have_a_maximum_depth() -> None:
    found = read_json_schema(_chain(60, lambda ref: {"properties": {"x": {"$ref": ref}, "y": {}}}))
    assert 10 < len(found.fields) < 20
    assert any("nested too deeply" in warning.message for warning in found.warnings)
