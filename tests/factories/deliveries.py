"""Check that deliveries match the section `webhooks` of the OpenAPI description."""

import json
from collections.abc import Mapping
from typing import Any

import jsonschema_rs


def check_delivery(description: Mapping[str, Any], headers: Mapping[str, str], body: bytes) -> None:
    """Raise AssertionError unless the headers and the body of a delivery are the described ones.

    This is stricter than the description: `data` has no members but the described ones.
    """
    value = json.loads(body)
    described = description["webhooks"][value["event"]]["post"]
    components = {"components": description["components"]}
    schema = described["requestBody"]["content"]["application/json"]["schema"]
    _check(schema | components, value, value["event"])
    reference = schema["$ref"].rpartition("/")[2]
    data = description["components"]["schemas"][reference]["properties"]["data"]
    assert set(value["data"]) == set(data["properties"])
    sent = {name.lower(): text for name, text in headers.items()}
    for header in described["parameters"]:
        assert header["name"].lower() in sent, header["name"]
        _check(header["schema"], sent[header["name"].lower()], header["name"])


def _check(schema: dict[str, Any], value: Any, what: str) -> None:
    validator = jsonschema_rs.Draft202012Validator(schema, validate_formats=True)
    faults = [f"{fault.instance_path}: {fault.message}" for fault in validator.iter_errors(value)]
    assert not faults, f"{what}: {faults[:5]}"
