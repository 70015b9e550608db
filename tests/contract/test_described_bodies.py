"""The description tells of bodies what the service holds them to, and what it takes beside."""

import re
from typing import Any

import jsonschema_rs
import pytest

from app.engines.fields.model import CONSTRAINTS, TYPES
from app.kit.api.declarations import Operation
from app.kit.api.fields import List
from tests.contract.conftest import OPERATIONS, find_component, find_operation, name_operation

_BODIES = {type(op.body).__name__: op.body for op in OPERATIONS if op.body is not None}
_LISTS = [
    (name, field.data_key or member, field)
    for name, body in _BODIES.items()
    for member, field in body.fields.items()
    if isinstance(field, List)
]
_OPTIONAL = [op for op in OPERATIONS if op.body_optional]
_SPARE = [op for op in OPERATIONS if op.revision and op.body is None]


@pytest.mark.parametrize(
    ("name", "member", "field"), _LISTS, ids=[f"{name}.{member}" for name, member, _ in _LISTS]
)
def test_a_list_says_how_long_it_may_be(
    name: str, member: str, field: List, description: dict[str, Any]
) -> None:
    property_schema = description["components"]["schemas"][name]["properties"][member]
    assert property_schema["maxItems"] == field.max_items


def test_a_document_says_what_its_name_and_its_metadata_may_be(
    description: dict[str, Any],
) -> None:
    schemas = description["components"]["schemas"]
    for body in ("CreateArtifact", "UpdateArtifact"):
        members = schemas[body]["properties"]
        assert (members["name"]["minLength"], members["name"]["maxLength"]) == (1, 255)
        assert members["metadata"]["maxProperties"] == 100
        assert "keys have 1 to 100 characters" in members["metadata"]["description"]
        assert members["metadata"]["additionalProperties"]["maxLength"] == 2000
    metadata_schema = schemas["Artifact"]["properties"]["metadata"]
    assert metadata_schema["additionalProperties"] == {"type": ["string", "number", "boolean"]}
    assert "maxProperties" not in metadata_schema


@pytest.mark.parametrize(
    ("members", "fits"),
    [
        ({"file": "x"}, True),
        ({"file": "x", "name": "a.txt"}, True),
        ({"text": "x", "name": "a.txt"}, True),
        ({"text": "x"}, False),
        ({"name": "a.txt"}, False),
        ({"file": "x", "text": "x"}, False),
        ({"file": "x", "text": "x", "name": "a.txt"}, False),
    ],
)
def test_a_form_has_a_file_or_a_text_with_a_name(
    members: dict[str, str], fits: bool, description: dict[str, Any]
) -> None:
    schema = find_component(description, "UploadArtifact")
    assert jsonschema_rs.Draft202012Validator(schema).is_valid(members) is fits


def test_a_month_to_close_is_described_as_it_is_checked(description: dict[str, Any]) -> None:
    pattern = description["components"]["schemas"]["ClosePeriod"]["properties"]["period"]["pattern"]
    assert re.search(pattern, "2026-10")
    assert not re.search(pattern, "0000-10")


def test_a_field_says_which_types_and_constraints_there_are(description: dict[str, Any]) -> None:
    for body in ("SchemaFieldBody", "TableColumnBody"):
        members = description["components"]["schemas"][body]["properties"]
        types = TYPES if body == "SchemaFieldBody" else set(TYPES) - {"table"}
        assert all(type_name in members["type"]["description"] for type_name in types)
        assert all(
            constraint in members["constraints"]["description"] for constraint in CONSTRAINTS
        )


def test_answers_promise_no_length(description: dict[str, Any]) -> None:
    schemas = description["components"]["schemas"]
    assert "maxItems" not in schemas["BulkResult"]["properties"]["outcomes"]
    box = schemas["DocumentPage"]["properties"]["words"]["items"]["properties"]["box"]
    assert (box["minItems"], box["maxItems"]) == (4, 4)


@pytest.mark.parametrize("op", _OPTIONAL, ids=name_operation)
def test_an_optional_body_is_described_as_such(op: Operation, description: dict[str, Any]) -> None:
    operation = find_operation(description, op)
    assert operation["requestBody"]["required"] is False
    assert "required" not in description["components"]["schemas"][type(op.body).__name__]


@pytest.mark.parametrize("op", _SPARE, ids=name_operation)
def test_a_revision_may_come_in_a_body_of_its_own(
    op: Operation, description: dict[str, Any]
) -> None:
    operation = find_operation(description, op)
    if op.method == "DELETE":  # where a body has no meaning to some clients
        assert "requestBody" not in operation
        return
    assert operation["requestBody"]["required"] is False
    reference = operation["requestBody"]["content"]["application/json"]["schema"]["$ref"]
    schema = description["components"]["schemas"][reference.rpartition("/")[2]]
    assert list(schema["properties"]) == ["revision"]
    assert "required" not in schema
