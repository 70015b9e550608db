"""Check that responses match the served OpenAPI description.

The checks are stricter than the description, which lets a later version add properties. A response
must have exactly the declared properties, its timestamps must be in UTC, and an error must have a
registered code.
"""

import json
import re
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any

import httpx
import jsonschema_rs
from flask import Flask
from werkzeug.test import TestResponse

from app.kit.api.blueprint import API_PREFIX
from app.kit.errors import STATUS_BY_CODE

_UNCHECKED_STATUSES = (206, 304, 307)
_REDIRECT = 303
_TIMESTAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?Z")


def _is_timestamp(text: str) -> bool:
    if _TIMESTAMP.fullmatch(text) is None:
        return False
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return True


@dataclass(frozen=True)
class ReceivedResponse:
    """A response that any client received, with the request's method and path without a query."""

    method: str
    path: str
    status: int
    media_type: str
    body: bytes


class _Operation:
    """The declared responses of one operation.

    `success` is the status of a successful response, and `media_types` are its media types.
    """

    def __init__(self, operation: Mapping[str, Any], components: dict[str, Any]) -> None:
        self.name: str = operation["operationId"]
        contents = {int(s): r.get("content", {}) for s, r in operation["responses"].items()}
        self.success = next(status for status in contents if status < 400)
        self.media_types = set(contents[self.success])
        self._schema = contents[self.success].get("application/json", {}).get("schema")
        self._components = components

    @cached_property
    def validator(self) -> Any:
        return _build_validator(self._schema, self._components)


def _build_validator(schema: Any, components: dict[str, Any]) -> Any:
    return jsonschema_rs.Draft202012Validator(
        {**schema, "components": components},
        validate_formats=True,
        formats={"date-time": _is_timestamp},
    )


class ResponseChecker:
    """Checks responses against the declared responses of all operations in a description."""

    def __init__(self, description: Mapping[str, Any]) -> None:
        components = _forbid_other_properties(deepcopy(description["components"]))
        self._error_validator = _build_validator(
            {"$ref": "#/components/schemas/ErrorResponse"}, components
        )
        self._paths = [
            (
                re.compile(re.sub(r"\\{\w+\\}", "[^/]+", re.escape(path))),
                {method.upper(): _Operation(op, components) for method, op in item.items()},
            )
            # Literal paths come before paths with parameters, as in the router.
            for path, item in sorted(description["paths"].items(), key=lambda p: p[0].count("{"))
        ]

    def check(self, response: ReceivedResponse) -> None:
        """Raise AssertionError unless the response matches a declared response.

        For operations that return files, the statuses 206, 304 and 307 are not checked further.
        """
        label = f"{response.method} {response.path} → {response.status}"
        if response.status >= 400:
            self._check_error(response, label)
            return
        operation = self._find_operation(response)
        label = f"{operation.name}: {label}"
        if response.status == _REDIRECT:
            assert response.body == b"", f"{label} has a body"
            return
        if response.status in _UNCHECKED_STATUSES and operation.media_types - {"application/json"}:
            return
        assert response.status == operation.success, f"{label} is not declared"
        if not operation.media_types:
            assert response.body == b"", f"{label} has a body"
            return
        assert response.media_type in operation.media_types, f"{label} as {response.media_type}"
        if response.media_type == "application/json":
            _parse_valid(operation.validator, response.body, label)

    def check_httpx(self, response: httpx.Response) -> None:
        """Check a response that httpx received."""
        media_type = response.headers.get("Content-Type", "").partition(";")[0]
        path, body = response.request.url.path, response.read()
        self.check(
            ReceivedResponse(response.request.method, path, response.status_code, media_type, body)
        )

    def _find_operation(self, response: ReceivedResponse) -> _Operation:
        for pattern, methods in self._paths:
            if pattern.fullmatch(response.path) and response.method in methods:
                return methods[response.method]
        raise AssertionError(
            f"{response.method} {response.path} succeeded, but is not in the description"
        )

    def _check_error(self, response: ReceivedResponse, label: str) -> None:
        assert response.media_type == "application/json", f"{label} as {response.media_type}"
        error = _parse_valid(self._error_validator, response.body, label)["error"]
        assert STATUS_BY_CODE.get(error["code"]) == response.status, f"{label} as {error['code']}"


def _parse_valid(validator: Any, body: bytes, label: str) -> Any:
    value = json.loads(body)
    errors = [f"{error.instance_path}: {error.message}" for error in validator.iter_errors(value)]
    assert not errors, f"{label}: {errors[:5]}"
    return value


def _forbid_other_properties(value: Any) -> Any:
    """Forbid undeclared properties in all schemas with properties; change and return `value`."""
    if isinstance(value, list):
        for item in value:
            _forbid_other_properties(item)
    elif isinstance(value, dict):
        if isinstance(value.get("properties"), dict) and value.get("type") == "object":
            value.setdefault("additionalProperties", False)
        for item in value.values():
            _forbid_other_properties(item)
    return value


def get_checker(app: Flask) -> ResponseChecker:
    """Return the checker for the description of `app`. It is built once for each application."""
    if "response_checker" not in app.extensions:
        api = app.extensions["flask-smorest"]["apis"][""]["ext_obj"]
        app.extensions["response_checker"] = ResponseChecker(api.spec.to_dict())
    checker: ResponseChecker = app.extensions["response_checker"]
    return checker


def check(app: Flask, response: TestResponse) -> None:
    """Raise AssertionError unless a response of Flask's test client matches the description.

    Responses of HEAD and OPTIONS, and of paths outside the API, are not checked. The contents of
    files are not read, so that tests can check how they are streamed.
    """
    method, path = response.request.method, response.request.path
    if not path.startswith(API_PREFIX) or method in ("HEAD", "OPTIONS"):
        return
    is_file = response.mimetype != "application/json" and response.status_code != 204
    body = b"" if is_file else response.get_data()
    get_checker(app).check(
        ReceivedResponse(method, path, response.status_code, response.mimetype, body)
    )
