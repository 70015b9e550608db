"""Check that deliveries match the section `webhooks` of the OpenAPI description."""

import json
from collections.abc import Mapping
from typing import Any

import jsonschema_rs


def check_delivery(description: Mapping[str, Any], headers: Mapping[str, str], body: bytes) -> None:
    """Raise AssertionError unless the headers and the body of a delivery match the description.

    This is stricter than the description: `data` must have exactly the described properties.
    """
    value = json.loads(body)
    operation = description["webhooks"][value["event"]]["post"]
    components = {"components": description["components"]}
    schema = operation["requestBody"]["content"]["application/json"]["schema"]
    _check(schema | components, value, value["event"])
    reference = schema["$ref"].rpartition("/")[2]
    data = description["components"]["schemas"][reference]["properties"]["data"]
    assert set(value["data"]) == set(data["properties"])
    sent_headers = {name.lower(): text for name, text in headers.items()}
    for header in operation["parameters"]:
        assert header["name"].lower() in sent_headers, header["name"]
        _check(header["schema"], sent_headers[header["name"].lower()], header["name"])


def _check(schema: dict[str, Any], value: Any, label: str) -> None:
    validator = jsonschema_rs.Draft202012Validator(schema, validate_formats=True)
    errors = [f"{error.instance_path}: {error.message}" for error in validator.iter_errors(value)]
    assert not errors, f"{label}: {errors[:5]}"
