"""Test what the API description declares for clients and code generators besides the paths."""

from collections.abc import Iterator
from typing import Any

import jsonschema_rs
import pytest

from app.delivery.webhooks.catalog import CATALOG, SUBSCRIBABLE
from app.engines.fields.model import TYPES
from app.kit.api.alternatives import AlternativesSchema
from app.kit.api.declarations import Operation
from tests.contract.conftest import OPERATIONS, find_component, find_operation, name_operation

WITH_REVISION = [op for op in OPERATIONS if op.revision]
REVISION_REQUIRED = [op for op in WITH_REVISION if op.revision == "required"]
CREATING = [op for op in OPERATIONS if op.supports_idempotency_key]
LISTS = [op for op in OPERATIONS if op.listing is not None]
ALTERNATIVES = [op for op in OPERATIONS if isinstance(op.body, AlternativesSchema)]


def _parameter(description: dict[str, Any], op: Operation, name: str) -> Any:
    parameters = find_operation(description, op)["parameters"]
    (parameter,) = (row["schema"] for row in parameters if row["name"] == name)
    return parameter


def _accepts(schema: Any, value: Any) -> bool:
    return bool(jsonschema_rs.Draft202012Validator(schema).is_valid(value))


def _schemas(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, list):
        for member in value:
            yield from _schemas(member)
    elif isinstance(value, dict):
        yield value
        for member in value.values():
            yield from _schemas(member)


def test_it_says_whom_to_ask(description: dict[str, Any]) -> None:
    contact = description["info"]["contact"]
    assert contact["name"]
    assert contact["url"].startswith("http")


@pytest.mark.parametrize("op", OPERATIONS, ids=name_operation)
def test_a_description_states_access_and_limits(op: Operation, description: dict[str, Any]) -> None:
    text = find_operation(description, op)["description"]
    access = {
        "public": "No credentials needed.",
        "user": "Available to every signed-in user.",
        "control-plane": "Requires the operator's token.",
    }
    assert access.get(op.access, f"Requires the role `{op.access}` or higher.") in text
    takes_keys = op.allows_api_keys or op.access in ("public", "control-plane")
    assert ("Not available to API keys." in text) is not takes_keys
    assert ("Rate limit:" in text) is (op.limit is not None)


@pytest.mark.parametrize("op", WITH_REVISION, ids=name_operation)
def test_if_match_has_a_pattern(op: Operation, description: dict[str, Any]) -> None:
    schema = _parameter(description, op, "If-Match")
    assert all(_accepts(schema, value) for value in ('"3"', 'W/"3"', "*"))
    assert not any(_accepts(schema, value) for value in ("", "x", '"x"', '"1234567890"', '"-1"'))


@pytest.mark.parametrize("op", CREATING, ids=name_operation)
def test_an_idempotency_key_has_a_length_and_a_pattern(
    op: Operation, description: dict[str, Any]
) -> None:
    schema = _parameter(description, op, "Idempotency-Key")
    assert all(_accepts(schema, value) for value in ("a", "a b", "x" * 255))
    assert not any(_accepts(schema, value) for value in ("", " a", "a ", "é", "x" * 256, "a\tb"))


@pytest.mark.parametrize("op", LISTS, ids=name_operation)
def test_a_cursor_has_a_length_and_a_pattern(op: Operation, description: dict[str, Any]) -> None:
    schema = _parameter(description, op, "cursor")
    assert schema["maxLength"] == 2000
    assert not any(_accepts(schema, value) for value in ("", "a b", "é", "a="))


@pytest.mark.parametrize("op", REVISION_REQUIRED, ids=name_operation)
def test_a_revision_is_required_where_it_is(op: Operation, description: dict[str, Any]) -> None:
    schema = description["components"]["schemas"][type(op.body).__name__]
    assert "revision" in schema["required"]


@pytest.mark.parametrize("op", ALTERNATIVES, ids=name_operation)
def test_either_or_is_described(op: Operation, description: dict[str, Any]) -> None:
    described = description["components"]["schemas"][type(op.body).__name__]["allOf"]
    groups = list(type(op.body).iterate_alternative_groups())  # type: ignore[union-attr]
    assert len(described) == len(groups)
    for ways, group in zip(groups, described, strict=True):
        both = {name: 1 for way in ways for name in way}
        for way in ways:
            alone = dict.fromkeys(way, 1)
            assert _accepts(group, alone)
            assert len(way) == 1 or not _accepts(group, {way[0]: 1})
        assert not _accepts(group, both)
        assert not _accepts(group, {})


def test_a_condition_is_a_leaf_or_a_group(description: dict[str, Any]) -> None:
    leaf = {"attribute": "metadata.lot", "operator": "equals", "value": 1}
    condition = find_component(description, "RoutingCondition")
    group = find_component(description, "RoutingConditions")
    for value in (leaf, {"all": [leaf]}, {"any": []}):
        assert _accepts(condition, value)
    for value in ({}, {**leaf, "all": []}, {"all": [], "any": []}, {"attribute": "name"}):
        assert not _accepts(condition, value)
    assert _accepts(group, {})
    assert _accepts(group, {"all": [leaf, {"any": [leaf]}]})
    assert not _accepts(group, {"all": [], "any": []})
    assert not _accepts(condition, {**leaf, "attribute": "nothing"})
    assert not _accepts(condition, {**leaf, "operator": "nothing"})


def test_the_form_comes_first_and_takes_a_file_or_a_text(description: dict[str, Any]) -> None:
    content = description["paths"]["/api/v1/artifacts"]["post"]["requestBody"]["content"]
    assert list(content) == ["multipart/form-data", "application/json"]
    form = find_component(description, "UploadArtifact")
    assert _accepts(form, {"file": "x"})
    assert _accepts(form, {"file": "x", "name": "a.txt"})
    assert _accepts(form, {"text": "x", "name": "a.txt"})
    for value in ({}, {"name": "a"}, {"text": "x"}, {"file": "x", "text": "x"}):
        assert not _accepts(form, value)


def test_types_of_fields_and_events_are_choices(description: dict[str, Any]) -> None:
    schemas = description["components"]["schemas"]
    for name in ("SchemaFieldBody", "SchemaField"):
        assert schemas[name]["properties"]["type"]["enum"] == list(TYPES)
    assert "table" not in schemas["TableColumnBody"]["properties"]["type"]["enum"]
    for name in ("CreateWebhook", "UpdateWebhook", "Webhook"):
        assert schemas[name]["properties"]["events"]["items"]["enum"] == list(SUBSCRIBABLE)
    for name in ("Delivery", "WebhookEvent"):
        assert schemas[name]["properties"]["event"]["enum"] == list(CATALOG)


def test_every_status_is_a_choice(description: dict[str, Any]) -> None:
    for name, schema in description["components"]["schemas"].items():
        status = schema.get("properties", {}).get("status", {})
        if status.get("type") == "string":
            assert status.get("enum"), name


def test_every_integer_has_a_format(description: dict[str, Any]) -> None:
    for schema in _schemas(description):
        kinds = schema.get("type")
        if kinds == "integer" or (isinstance(kinds, list) and "integer" in kinds):
            assert schema.get("format") in ("int32", "int64"), schema


def test_every_event_is_a_webhook_with_its_payload(description: dict[str, Any]) -> None:
    assert list(description["webhooks"]) == list(CATALOG)
    for event, item in description["webhooks"].items():
        content = item["post"]["requestBody"]["content"]["application/json"]
        schema = content["schema"] | {"components": description["components"]}
        assert _accepts(schema, CATALOG[event].sample)
        assert not _accepts(schema, {**CATALOG[event].sample, "event": "another"})
        assert not _accepts(schema, {**CATALOG[event].sample, "data": {}})
        names = {parameter["name"] for parameter in item["post"]["parameters"]}
        assert {"X-Service-Event", "X-Service-Signature", "webhook-signature"} <= names
