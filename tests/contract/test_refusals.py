"""Generated over every operation: who is let in, and what a body may not be."""

import re
from typing import Any

import pytest
from flask import Flask
from marshmallow import fields

from app.kit.api.declarations import Operation
from app.kit.ids import uuid7
from app.kit.permissions import Role
from tests.contract.conftest import OPERATIONS, build_path, name_operation
from tests.factories import Org, make_org, operator
from tests.factories.errors import check_error
from tests.factories.orgs import Api

PROTECTED = [op for op in OPERATIONS if op.access != "public"]
SCOPED = [op for op in OPERATIONS if op.in_organization]
WITH_IDS = [op for op in SCOPED if re.search(r"{\w+_id}", op.path) and not op.text_ids]
WITH_BODY = [op for op in OPERATIONS if op.body is not None and not op.is_form]
NEEDING_BODY = [op for op in WITH_BODY if not op.body_optional]
WITHOUT_BODY = [op for op in OPERATIONS if op.body is None]
NOT_NEEDING_BODY = [op for op in OPERATIONS if op.body is None or op.body_optional]
WITH_FORM = [op for op in OPERATIONS if op.is_form]
WITH_QUERY = [op for op in OPERATIONS if op.query is not None]
LISTS = [op for op in OPERATIONS if op.listing is not None]
NAMED_BY_HEADER = [op for op in SCOPED if "{org_slug}" not in op.path]
NAMING = [op for op in WITH_BODY if op.body is not None and "name" in op.body.load_fields]


def _path(op: Operation, org: Org, record: str | None = None) -> str:
    return build_path(op, org.slug, record)


def _get_caller(op: Operation, org: Org) -> Api:
    """Who may."""
    return operator(org.app) if op.access == "control-plane" else org.api("owner")


def _send(api: Api, op: Operation, path: str, json: Any = None, **kwargs: Any) -> Any:
    if op.body is not None and json is None and not op.is_form:
        json = {}
    if json is not None:
        kwargs["json"] = json
    return api.request(op.method, path, **kwargs)


def _send_raw(op: Operation, org: Org, body: bytes, media_type: str) -> Any:
    headers = {"Content-Type": media_type}
    return _get_caller(op, org).request(op.method, _path(op, org), data=body, headers=headers)


@pytest.fixture(scope="module")
def org(app: Flask) -> Org:
    """Create an organization for requests that are refused, and therefore leave it as it is."""
    return make_org(app)


@pytest.fixture(scope="module")
def other_org(app: Flask) -> Org:
    return make_org(app)


@pytest.fixture
def own_org(app: Flask, op: Operation, org: Org) -> Org:
    """Create an organization for requests that may succeed, unless they only read."""
    return org if op.method == "GET" else make_org(app)


@pytest.mark.parametrize("op", PROTECTED, ids=name_operation)
def test_anonymous_is_refused(op: Operation, org: Org) -> None:
    answer = _send(org.anonymous(), op, _path(op, org))
    check_error(answer, 401, "invalid_credentials")
    assert answer.headers["WWW-Authenticate"] == "Bearer"


@pytest.mark.parametrize("op", SCOPED, ids=name_operation)
def test_every_lower_role_is_refused_with_the_required_role(op: Operation, own_org: Org) -> None:
    for role in Role:
        answer = _send(own_org.api(role.name), op, _path(op, own_org))
        if role < Role[op.access]:
            details = {"required": op.access, "actual": role.name}
            check_error(answer, 403, "insufficient_role", details=details)
        else:
            assert answer.status_code not in (401, 403, 500), answer.json


@pytest.mark.parametrize("op", SCOPED, ids=name_operation)
def test_strangers_and_unknown_organizations_answer_the_same(
    op: Operation, org: Org, other_org: Org
) -> None:
    path = _path(op, org)
    foreign = _send(other_org.api("owner", slug=org.slug), op, path)
    unknown_path = path.replace(org.slug, "no-such-organization")
    unknown = _send(other_org.api("owner", slug="no-such-organization"), op, unknown_path)
    assert foreign.status_code == unknown.status_code == 403
    assert foreign.json["error"]["code"] == "permission_denied"
    assert foreign.data == unknown.data


@pytest.mark.parametrize("op", NAMED_BY_HEADER, ids=name_operation)
def test_the_organization_must_be_named(op: Operation, org: Org) -> None:
    api = org.api("owner")
    api.slug = None
    answer = _send(api, op, _path(op, org))
    assert answer.status_code == 422
    assert answer.json["error"]["field"] == "X-Org-Slug"


@pytest.mark.parametrize("op", WITH_IDS, ids=name_operation)
@pytest.mark.parametrize("record", ["nope", "0", "..", "%00", "a" * 300])
def test_what_is_no_uuid_is_not_found(op: Operation, record: str, org: Org) -> None:
    answer = _send(org.api("owner"), op, _path(op, org, record), json=_build_body(op))
    check_error(answer, 404, "not_found")


@pytest.mark.parametrize("op", WITH_BODY, ids=name_operation)
def test_unknown_members_are_named(op: Operation, org: Org) -> None:
    answer = _send(_get_caller(op, org), op, _path(op, org), json={"no_such_member": 1})
    error = check_error(answer, 422, "unprocessable")
    assert "no_such_member" in [e["field"] for e in error["details"]["errors"]]


@pytest.mark.parametrize("op", WITH_BODY, ids=name_operation)
def test_wrong_types_are_named(op: Operation, org: Org) -> None:
    assert op.body is not None
    for name, field in op.body.load_fields.items():
        if isinstance(field, fields.Raw):  # any JSON, or nearly
            continue
        wrong: Any = 1 if isinstance(field, fields.String | fields.UUID | fields.DateTime) else "x"
        answer = _send(
            _get_caller(op, org), op, _path(op, org), json={field.data_key or name: wrong}
        )
        assert answer.status_code == 422, (name, answer.json)
        culprits = [e["field"] for e in answer.json["error"]["details"]["errors"]]
        assert any(c.split(".")[0] == (field.data_key or name) for c in culprits)


@pytest.mark.parametrize("op", NAMING, ids=name_operation)
def test_names_that_nobody_can_see_are_refused(op: Operation, org: Org) -> None:
    answer = _send(_get_caller(op, org), op, _path(op, org), json={"name": "\u200b"})
    assert answer.status_code == 422
    assert "name" in [e["field"] for e in answer.json["error"]["details"]["errors"]]


@pytest.mark.parametrize("op", NEEDING_BODY, ids=name_operation)
def test_a_missing_body_is_refused(op: Operation, org: Org) -> None:
    check_error(_send_raw(op, org, b"", "application/json"), 422, "unprocessable")


@pytest.mark.parametrize("op", WITH_BODY, ids=name_operation)
@pytest.mark.parametrize("raw", [b"{", b"[]", b"null", b'"x"', b"\xff", b'{"a": NaN}'])
def test_bodies_that_are_no_object_are_refused(op: Operation, raw: bytes, org: Org) -> None:
    answer = _send_raw(op, org, raw, "application/json")
    check_error(answer, 422, "unprocessable")


@pytest.mark.parametrize("op", WITH_BODY, ids=name_operation)
def test_another_media_type_is_refused(op: Operation, org: Org) -> None:
    answer = _send_raw(op, org, b"a=b", "text/plain")
    uploads = [] if op.upload is None else ["multipart/form-data"]
    details = {"supported": ["application/json", *uploads]}
    check_error(answer, 415, "unsupported_media_type", details=details)


@pytest.mark.parametrize("op", WITHOUT_BODY, ids=name_operation)
def test_members_that_nobody_asked_for_are_named(op: Operation, org: Org) -> None:
    api, path = _get_caller(op, org), _path(op, org)
    if op.query is not None:  # What it cannot do without is looked at first.
        needed = {
            name: uuid7() if isinstance(field, fields.UUID) else "x"
            for name, field in op.query.load_fields.items()
            if field.required
        }
        path = f"{path}?{'&'.join(f'{name}={value}' for name, value in needed.items())}"
    for member, value in (("no_such_member", 1), ("revision", "3")):
        answer = api.request(op.method, path, json={member: value})
        assert (answer.status_code, answer.json["error"]["field"]) == (422, member)
    json_headers = {"Content-Type": "application/json"}
    for raw in (b"{", b"[1]", b"\xff"):
        answer = api.request(op.method, path, data=raw, headers=json_headers)
        assert (answer.status_code, answer.json["error"]["field"]) == (422, "body")
    answer = api.request(op.method, path, data=b"a=b", headers={"Content-Type": "text/plain"})
    assert answer.status_code == 415


@pytest.mark.parametrize("op", NOT_NEEDING_BODY, ids=name_operation)
def test_where_no_body_is_needed_an_empty_one_does(op: Operation, own_org: Org) -> None:
    answers = set()
    for body in ({}, {"json": {}}, {"data": b"", "headers": {"Content-Type": "text/plain"}}):
        answer = _get_caller(op, own_org).request(
            op.method, _path(op, own_org, str(own_org.id)), **body
        )
        answers.add((answer.status_code, None if answer.status_code < 400 else str(answer.json)))
        if op.method == "POST" and answer.status_code < 400:
            return  # Done once, it need not be possible again.
    assert len(answers) == 1, answers


@pytest.mark.parametrize("op", WITH_FORM, ids=name_operation)
@pytest.mark.parametrize("raw", [b"", b"{}", b"=", b"%00=%00", b"a=1&a=2", b"\xff", b"a=%ff"])
def test_forms_that_do_not_fit_are_refused(op: Operation, raw: bytes, org: Org) -> None:
    answer = _send_raw(op, org, raw, "application/x-www-form-urlencoded")
    check_error(answer, 422, "unprocessable")


@pytest.mark.parametrize("op", WITH_FORM, ids=name_operation)
def test_a_form_is_no_json(op: Operation, org: Org) -> None:
    answer = _get_caller(op, org).request(op.method, _path(op, org), json={})
    assert answer.status_code == 415


@pytest.mark.parametrize("op", WITH_QUERY, ids=name_operation)
def test_unknown_and_garbled_parameters_are_refused(op: Operation, org: Org) -> None:
    queries = ["no_such_parameter=1", "cursor=x&cursor=y", "page_size=0", "page_size=1001", "%00=1"]
    for query in queries:
        if ("cursor" in query or "page" in query) and op.listing is None:
            continue
        answer = _send(_get_caller(op, org), op, f"{_path(op, org)}?{query}")
        assert answer.status_code == 422, (query, answer.json)


@pytest.mark.parametrize("op", LISTS, ids=name_operation)
def test_forged_cursors_are_refused(op: Operation, org: Org) -> None:
    if WITH_IDS.count(op):
        return
    for cursor in ("x", "AAAA", "é", "a" * 1999):
        answer = _send(_get_caller(op, org), op, f"{_path(op, org)}?cursor={cursor}")
        assert answer.status_code == 422
        assert answer.json["error"]["field"] == "cursor"


def _build_body(op: Operation) -> Any:
    """Any body: a path that names nothing is answered before a body could matter, or after."""
    return {} if op.body is not None else None
