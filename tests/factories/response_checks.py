"""Check that responses match the served OpenAPI description.

This is stricter than the description, which lets a later version add members: a response has the
declared members and no others, its times are in UTC, and an error has a registered code.
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

from app.kit.api.blueprint import PREFIX
from app.kit.errors import STATUS_BY_CODE

_PARTIAL = (206, 304, 307)
_REDIRECT = 303
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?Z")


def _is_time(text: str) -> bool:
    if _TIME.fullmatch(text) is None:
        return False
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return True


@dataclass(frozen=True)
class Answer:
    """A response of any client; `path` has no query string."""

    method: str
    path: str
    status: int
    media_type: str
    body: bytes


class _Declared:
    """The declared responses of one operation."""

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
        formats={"date-time": _is_time},
    )


class Answers:
    """The declared responses of every operation of a description."""

    def __init__(self, description: Mapping[str, Any]) -> None:
        components = _forbid_other_members(deepcopy(description["components"]))
        self._error = _build_validator({"$ref": "#/components/schemas/ErrorResponse"}, components)
        self._paths = [
            (
                re.compile(re.sub(r"\\{\w+\\}", "[^/]+", re.escape(path))),
                {method.upper(): _Declared(op, components) for method, op in item.items()},
            )
            # Literal paths come before paths with parameters, as in the router.
            for path, item in sorted(description["paths"].items(), key=lambda p: p[0].count("{"))
        ]

    def check(self, answer: Answer) -> None:
        """Raise AssertionError unless the response is the declared one."""
        label = f"{answer.method} {answer.path} → {answer.status}"
        if answer.status >= 400:
            self._check_error(answer, label)
            return
        declared = self._find(answer)
        label = f"{declared.name}: {label}"
        if answer.status == _REDIRECT:
            assert answer.body == b"", f"{label} has a body"
            return
        if answer.status in _PARTIAL and declared.media_types - {"application/json"}:
            return
        assert answer.status == declared.success, f"{label} is not declared"
        if not declared.media_types:
            assert answer.body == b"", f"{label} has a body"
            return
        assert answer.media_type in declared.media_types, f"{label} as {answer.media_type}"
        if answer.media_type == "application/json":
            _parse_valid(declared.validator, answer.body, label)

    def check_response(self, response: httpx.Response) -> None:
        """Check the response that an HTTP client received."""
        media_type = response.headers.get("Content-Type", "").partition(";")[0]
        path, body = response.request.url.path, response.read()
        self.check(Answer(response.request.method, path, response.status_code, media_type, body))

    def _find(self, answer: Answer) -> _Declared:
        for pattern, methods in self._paths:
            if pattern.fullmatch(answer.path) and answer.method in methods:
                return methods[answer.method]
        raise AssertionError(f"{answer.method} {answer.path} succeeds and is not described")

    def _check_error(self, answer: Answer, label: str) -> None:
        assert answer.media_type == "application/json", f"{label} as {answer.media_type}"
        error = _parse_valid(self._error, answer.body, label)["error"]
        assert STATUS_BY_CODE.get(error["code"]) == answer.status, f"{label} as {error['code']}"


def _parse_valid(validator: Any, body: bytes, label: str) -> Any:
    value = json.loads(body)
    faults = [f"{f.instance_path}: {f.message}" for f in validator.iter_errors(value)]
    assert not faults, f"{label}: {faults[:5]}"
    return value


def _forbid_other_members(value: Any) -> Any:
    """Forbid undeclared members in all schemas that declare members, and return `value`."""
    if isinstance(value, list):
        for member in value:
            _forbid_other_members(member)
    elif isinstance(value, dict):
        if isinstance(value.get("properties"), dict) and value.get("type") == "object":
            value.setdefault("additionalProperties", False)
        for member in value.values():
            _forbid_other_members(member)
    return value


def declared(app: Flask) -> Answers:
    """Return the responses that `app` declares; built once for each application."""
    if "answers" not in app.extensions:
        api = app.extensions["flask-smorest"]["apis"][""]["ext_obj"]
        app.extensions["answers"] = Answers(api.spec.to_dict())
    answers: Answers = app.extensions["answers"]
    return answers


def check(app: Flask, response: TestResponse) -> None:
    """Raise AssertionError unless a test client's response is the declared one.

    The contents of files are not read, so that tests can check how they are streamed.
    """
    method, path = response.request.method, response.request.path
    if not path.startswith(PREFIX) or method in ("HEAD", "OPTIONS"):
        return
    is_file = response.mimetype != "application/json" and response.status_code != 204
    body = b"" if is_file else response.get_data()
    declared(app).check(Answer(method, path, response.status_code, response.mimetype, body))
