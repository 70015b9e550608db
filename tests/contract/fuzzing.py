"""Generate requests of an operation: valid, invalid, and valid except for one part."""

import json
import re
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass, field
from functools import cached_property
from io import BytesIO
from typing import Any
from urllib.parse import quote

import jsonschema_rs
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from schemathesis import GenerationMode
from schemathesis.core import NotSet

from app.kit.api.declarations import Operation
from tests.contract.seeds import Seeds

NASTY: list[Any] = [
    *(None, True, [], {}, "", 0, -1, 1.5, 2**31, 2**63, 2**64, 1e308, -0.0, [None], [[]], {"": {}}),
    *("\x00", "a\x00b", "\ud800", "\ufffe", "\u202egpj.exe", "\u2028", "é" * 5000, " ", "\n"),
    *("../../etc/passwd", "'; DROP TABLE x; --", "%s%n", "{{7*7}}", "<script>", "\\", "$ref"),
    *("0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00", "2026-02-30", "1e400", "NaN"),
    *("00000000-0000-0000-0000-000000000000", "http://127.0.0.1:1/", "http://[::1/", "file:///x"),
    "x" * 100_000,
    json.loads("[" * 100 + "]" * 100),
]
_TEXTS = [value for value in NASTY if isinstance(value, str) and len(value) < 5000]
_FORM = "application/x-www-form-urlencoded"
_REVISIONS = [None, None, None, '"1"', '"2"', 'W/"2"', "*", "x", '"99999999999"']
IGNORED_HEADERS = dict.fromkeys(("Authorization", "X-API-Key", "X-Org-Slug"), "-")
"""Fixed values for headers that the client replaces, so that none are generated for them."""
_RANGES = ["bytes=0-4", "bytes=-3", "bytes=5-1", "bytes=9999999-", "bytes=0-1,3-4", "bytes=x", "0"]


def generate_examples(count: int) -> settings:
    """Return the settings of a test that sends `count` requests, the same ones in every run."""
    return settings(
        max_examples=count,
        derandomize=True,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.generate],
    )


@dataclass
class Request:
    """A request; `body` is JSON, a form, raw bytes, or None."""

    path: str
    query: dict[str, Any]
    headers: dict[str, str]
    body: Any = None
    media_type: str | None = None
    options: dict[str, Any] = field(init=False)

    def __post_init__(self) -> None:
        self.options = {"query_string": _encode_query(self.query)} if self.query else {}
        if self.media_type is None:
            return
        if self.media_type == "multipart/form-data" and isinstance(self.body, dict):
            self.options["data"] = dict(_iterate_parts(self.body))
            return
        if self.media_type == _FORM and isinstance(self.body, dict):
            self.body = _encode_query(self.body).encode()
        raw = self.body if isinstance(self.body, bytes) else json.dumps(self.body).encode()
        self.options |= {"data": raw, "content_type": self.media_type}


def _encode_query(query: dict[str, Any]) -> str:
    pairs = (
        f"{_quote(name)}={_quote(value)}"
        for name, values in query.items()
        for value in (values if isinstance(values, list) else [values])
    )
    return "&".join(pairs)


def _quote(value: Any) -> str:
    return quote(str(value).encode("utf-8", "surrogatepass"), safe="")


def _iterate_parts(form: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    for name, value in form.items():
        raw = getattr(value, "data", value)
        if isinstance(raw, bytes):
            yield name, (BytesIO(raw), "upload.bin")
        else:
            text = raw if isinstance(raw, str) else json.dumps(raw)
            yield name, text.encode("utf-8", "replace").decode()


def draw_ids(path: str, seeds: Seeds, data: st.DataObject) -> dict[str, str]:
    """Return ids of existing records for most parameters of a path. Others must be generated."""
    known = {name: seeds.find_ids(path, name) for name in re.findall(r"{(\w+)}", path)}
    return {
        name: str(data.draw(st.sampled_from(ids)))
        for name, ids in known.items()
        if ids and data.draw(st.integers(0, 5)) < 5
    }


def fill_path(path: str, parameters: dict[str, Any]) -> str:
    """Insert values into a path. schemathesis has quoted them already."""
    return re.sub(r"{(\w+)}", lambda match: str(parameters.get(match[1], "-")) or "-", path)


class Requests:
    """Generates valid and invalid requests of the operation `op`."""

    def __init__(self, op: Operation, description: Any, seeds: Seeds) -> None:
        self.op = op
        self.seeds = seeds
        operation = description[f"/api/v1{op.path}"][op.method]
        self._operation = operation
        self._headers_set = IGNORED_HEADERS | ({"If-Match": "-"} if op.revision else {})
        headers = [parameter.name for parameter in operation.headers]
        self._can_negate = bool(operation.query) or "Idempotency-Key" in headers
        self._components = description.raw_schema["components"]

    @cached_property
    def _body(self) -> Any:
        content = self._operation.definition.raw.get("requestBody", {}).get("content", {})
        schema = content.get("application/json", {}).get("schema", {})
        return jsonschema_rs.Draft202012Validator({**schema, "components": self._components})

    def matches_schema(self, request: Request) -> bool:
        """Return whether a JSON body matches the description."""
        if request.media_type != "application/json":
            return True
        body = request.body
        if self.op.revision == "required" and isinstance(body, dict):
            body = {"revision": 1, **body}  # If-Match is accepted instead.
        try:
            return not isinstance(body, bytes) and bool(self._body.is_valid(body))
        except UnicodeEncodeError:  # a lone surrogate
            return False

    def with_current_revision(self, request: Request, answer: Any) -> Request | None:
        """Return the request with the current revision, if it was refused as outdated."""
        error = answer.json["error"] if answer.status_code == 409 else {}
        if error.get("code") != "stale_precondition":
            return None
        revision = error["details"]["current_revision"]
        body = request.body
        if isinstance(body, dict) and "revision" in body:
            body = {**body, "revision": revision}
        headers = {**request.headers, "If-Match": f'"{revision}"'}
        return Request(request.path, request.query, headers, body, request.media_type)

    def draw(self, data: st.DataObject) -> Request:
        # Generating parts that are then replaced would take most of the time.
        ids = draw_ids(self.op.path, self.seeds, data)
        known = self.seeds.bodies.get(self.op.name)
        if known and data.draw(st.integers(0, 3)) < 3:
            body: Any = self._mutate(data, known)
            media_type = _FORM if self.op.is_form else "application/json"
            case = data.draw(self._cases(ids, body={}, media_type=media_type))
        else:
            case = data.draw(self._cases(ids))
            body = None if isinstance(case.body, NotSet) else case.body
            media_type = case.media_type if self.op.body is not None else None
        query = self._query(data, dict(case.query or {}))
        headers = self._headers(data, case.headers or {})
        path = fill_path(self.op.path, case.path_parameters or {})
        return Request(path, query, headers, body, media_type)

    def _cases(self, ids: dict[str, str], **body: Any) -> st.SearchStrategy[Any]:
        """Return a strategy for the parts of a request except ids and, if given, the body."""
        generates_path = self.op.path.count("{") > len(ids)
        generates_body = self.op.body is not None and not body
        modes = [GenerationMode.POSITIVE]
        if self._can_negate or generates_path or generates_body:
            modes.append(GenerationMode.NEGATIVE)
        parts = {"path_parameters": ids, "headers": self._headers_set, **body}
        return st.one_of(*(self._operation.as_strategy(mode, **parts) for mode in modes))

    def _query(self, data: st.DataObject, query: dict[str, Any]) -> dict[str, Any]:
        if "cursor" in query and data.draw(st.integers(0, 4)) < 4:
            del query["cursor"]  # An invalid cursor would hide all other errors.
        if self.op.query is not None and data.draw(st.integers(0, 2)) == 2:
            name = data.draw(st.sampled_from(sorted(self.op.query.load_fields)))
            query[name] = data.draw(st.sampled_from(_TEXTS))
        return query

    def _headers(self, data: st.DataObject, generated: Any) -> dict[str, str]:
        headers = {}
        key = generated.get("Idempotency-Key")
        if key is not None and str(key).isascii() and str(key).isprintable():
            headers["Idempotency-Key"] = str(key)
        if self.op.revision:
            revision = data.draw(st.sampled_from(_REVISIONS))
            headers |= {} if revision is None else {"If-Match": revision}
        if self.op.method == "GET" and data.draw(st.integers(0, 3)) == 3:
            headers["Range"] = data.draw(st.sampled_from(_RANGES))
        return headers

    def _mutate(self, data: st.DataObject, known: list[dict[str, Any]]) -> dict[str, Any]:
        """Return a body that the API accepts, possibly with one invalid part."""
        body = deepcopy(data.draw(st.sampled_from(known)))
        if "text" in body:
            # The same content is accepted only once.
            body["text"] += f" {data.draw(st.integers(0, 10**6))}"
        places = list(_iterate_places(body))
        if places and data.draw(st.integers(0, 3)) > 0:
            container, key = data.draw(st.sampled_from(places))
            container[key] = data.draw(st.sampled_from(NASTY))
        return body


def _iterate_places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield every (object, member) and (list, index) of a JSON value."""
    keys: Any = value if isinstance(value, dict) else range(len(value))
    for key in keys:
        yield value, key
        if isinstance(value[key], dict | list):
            yield from _iterate_places(value[key])
