"""Whether an answer is what the served description says of its operation.

Stricter than the description, which lets a later version add members: an answer has the declared
members and no other, its times are in UTC, and an error has a code of the table.
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
from app.kit.errors import STATUS_OF

_SHORTENED = (206, 304)
_ELSEWHERE = 303
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
    """What came back, whichever client asked; `path` without the query string."""

    method: str
    path: str
    status: int
    media_type: str
    body: bytes


class _Declared:
    """One operation's answers."""

    def __init__(self, operation: Mapping[str, Any], components: dict[str, Any]) -> None:
        self.name: str = operation["operationId"]
        found = {int(s): r.get("content", {}) for s, r in operation["responses"].items()}
        self.success = next(status for status in found if status < 400)
        self.media_types = set(found[self.success])
        self._schema = found[self.success].get("application/json", {}).get("schema")
        self._components = components

    @cached_property
    def validator(self) -> Any:
        return _validator(self._schema, self._components)


def _validator(schema: Any, components: dict[str, Any]) -> Any:
    return jsonschema_rs.Draft202012Validator(
        {**schema, "components": components},
        validate_formats=True,
        formats={"date-time": _is_time},
    )


class Answers:
    """The declared answers of every operation of a description."""

    def __init__(self, description: Mapping[str, Any]) -> None:
        components = _closed(deepcopy(description["components"]))
        self._error = _validator({"$ref": "#/components/schemas/ErrorResponse"}, components)
        self._paths = [
            (
                re.compile(re.sub(r"\\{\w+\\}", "[^/]+", re.escape(path))),
                {method.upper(): _Declared(found, components) for method, found in item.items()},
            )
            # What is spelled out goes before what is a parameter, as the router has it.
            for path, item in sorted(description["paths"].items(), key=lambda p: p[0].count("{"))
        ]

    def check(self, answer: Answer) -> None:
        """Raise AssertionError when the answer is not the declared one."""
        told = f"{answer.method} {answer.path} → {answer.status}"
        if answer.status >= 400:
            self._check_error(answer, told)
            return
        declared = self._find(answer)
        told = f"{declared.name}: {told}"
        if answer.status == _ELSEWHERE:
            assert answer.body == b"", f"{told} has a body"
            return
        if answer.status in _SHORTENED and "application/json" not in declared.media_types:
            return
        assert answer.status == declared.success, f"{told} is not declared"
        if not declared.media_types:
            assert answer.body == b"", f"{told} has a body"
            return
        assert answer.media_type in declared.media_types, f"{told} as {answer.media_type}"
        if answer.media_type == "application/json":
            _hold(declared.validator, answer.body, told)

    def check_response(self, response: httpx.Response) -> None:
        """`check` for the answer that an HTTP client got."""
        media_type = response.headers.get("Content-Type", "").partition(";")[0]
        path, body = response.request.url.path, response.read()
        self.check(Answer(response.request.method, path, response.status_code, media_type, body))

    def _find(self, answer: Answer) -> _Declared:
        for pattern, methods in self._paths:
            if pattern.fullmatch(answer.path) and answer.method in methods:
                return methods[answer.method]
        raise AssertionError(f"{answer.method} {answer.path} succeeds and is not described")

    def _check_error(self, answer: Answer, told: str) -> None:
        assert answer.media_type == "application/json", f"{told} as {answer.media_type}"
        error = _hold(self._error, answer.body, told)["error"]
        assert STATUS_OF.get(error["code"]) == answer.status, f"{told} as {error['code']}"


def _hold(validator: Any, body: bytes, told: str) -> Any:
    value = json.loads(body)
    faults = [f"{f.instance_path}: {f.message}" for f in validator.iter_errors(value)]
    assert not faults, f"{told}: {faults[:5]}"
    return value


def _closed(value: Any) -> Any:
    """Every object with declared members has no others."""
    if isinstance(value, list):
        for member in value:
            _closed(member)
    elif isinstance(value, dict):
        if isinstance(value.get("properties"), dict) and value.get("type") == "object":
            value.setdefault("additionalProperties", False)
        for member in value.values():
            _closed(member)
    return value


def declared(app: Flask) -> Answers:
    """What `app` declares; made once for each application."""
    if "answers" not in app.extensions:
        api = app.extensions["flask-smorest"]["apis"][""]["ext_obj"]
        app.extensions["answers"] = Answers(api.spec.to_dict())
    found: Answers = app.extensions["answers"]
    return found


def check(app: Flask, response: TestResponse) -> None:
    """Raise AssertionError when the answer to a test client's request is not the declared one.

    The bytes of files stay unread, for tests of how they are streamed.
    """
    method, path = response.request.method, response.request.path
    if not path.startswith(PREFIX) or method in ("HEAD", "OPTIONS"):
        return
    is_file = response.mimetype != "application/json" and response.status_code != 204
    body = b"" if is_file else response.get_data()
    declared(app).check(Answer(method, path, response.status_code, response.mimetype, body))
