"""Limits in the OpenAPI components for requests and responses."""

from typing import Any

import pytest

from app.kit.api import components
from app.kit.api.fields import Int, Schema, Str


class EditSchema(Schema):
    """A body whose class name ends in `Schema`, like the name of its base class."""

    name = Str(max_length=5)


def _paths(name: str) -> dict[str, object]:
    body = {"content": {"application/json": {"schema": {"$ref": f"#/components/schemas/{name}"}}}}
    return {"/x": {"post": {"requestBody": body}}}


@pytest.fixture
def schemas() -> dict[str, object]:
    size = {"type": "integer", "minimum": 0, "maximum": 9}
    choice = {"type": ["string", "null"], "enum": ["a", None], "maxLength": 9, "description": "d"}
    member = {"type": "object", "properties": {"size": size}, "additionalProperties": False}
    list_of = {"type": "array", "maxItems": 4, "items": {"$ref": "#/components/schemas/Part"}}
    return {
        "Whole": {"type": "object", "properties": {"parts": list_of}},
        "Part": {"type": "object", "properties": {"maximum": dict(size), "choice": choice}},
        "Answer": {"type": "object", "properties": {"data": member}, "required": ["data"]},
    }


def test_answers_promise_no_limits_and_leave_room(schemas: dict[str, dict[str, object]]) -> None:
    components.finish_components(_paths("Whole"), schemas)
    data = {"type": "object", "properties": {"size": {"type": "integer"}}}
    properties = {"data": data}
    assert schemas["Answer"] == {"type": "object", "properties": properties, "required": ["data"]}


def test_bodies_keep_their_limits_at_every_depth(schemas: dict[str, dict[str, object]]) -> None:
    components.finish_components(_paths("Whole"), schemas)
    choice = {
        "description": "d",
        "anyOf": [{"type": "string", "enum": ["a"]}, {"type": "null"}],
    }
    size = {"type": "integer", "minimum": 0, "maximum": 9}
    assert schemas["Part"]["properties"] == {"maximum": size, "choice": choice}


def test_an_answer_takes_nothing_from_a_body_that_says_the_same() -> None:
    shared = {"type": "object", "additionalProperties": {"maxLength": 9}}
    schemas: dict[str, Any] = {
        name: {"type": "object", "properties": {"metadata": {**shared}}}
        for name in ("Whole", "Answer")
    }
    components.finish_components(_paths("Whole"), schemas)
    assert schemas["Whole"]["properties"]["metadata"] == shared
    assert schemas["Answer"]["properties"]["metadata"]["additionalProperties"] == {}


def test_a_member_may_be_called_like_a_limit(schemas: dict[str, dict[str, object]]) -> None:
    components.finish_components({}, schemas)
    properties = schemas["Part"]["properties"]
    assert isinstance(properties, dict)
    assert properties["maximum"] == {"type": "integer"}


def test_components_are_named_as_their_classes() -> None:
    assert components.build_plugin().schema_name_resolver is not None
    assert components.build_plugin().schema_name_resolver(EditSchema(many=True)) == "EditSchema"


def test_forms_and_query_strings_have_no_null() -> None:
    nullable_by_default = {"type": ["integer", "null"], "default": None, "maximum": 3}
    assert components.remove_null(nullable_by_default) == {"type": "integer", "maximum": 3}
    nullable_with_default = {"type": ["integer", "null"], "default": 2}
    assert components.remove_null(nullable_with_default) == {"type": "integer", "default": 2}
    assert components.remove_null({"type": "string"}) == {"type": "string"}
    assert Int(load_default=None).allow_none, "what makes null appear there at all"
