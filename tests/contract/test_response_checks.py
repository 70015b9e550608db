"""Test the checker for all responses in tests: it must notice every deviation."""

import json
from dataclasses import replace
from typing import Any

import pytest
from flask import Flask

from tests.factories import Org
from tests.factories.response_checks import ReceivedResponse, ResponseChecker, get_checker

PATH = "/api/v1/organizations"


@pytest.fixture
def checker(app: Flask) -> ResponseChecker:
    return get_checker(app)


@pytest.fixture
def page(org: Org) -> ReceivedResponse:
    """A real response."""
    body = org.api().get("/organizations").data
    return ReceivedResponse("GET", PATH, 200, "application/json", body)


def _change_member(response: ReceivedResponse, **members: Any) -> ReceivedResponse:
    body = json.loads(response.body)
    body["data"][0].update(members)
    return replace(response, body=json.dumps(body).encode())


def _build_error(code: str, status: int, **members: Any) -> ReceivedResponse:
    body = {"error": {"code": code, "message": "No.", **members}}
    return ReceivedResponse("GET", PATH, status, "application/json", json.dumps(body).encode())


def test_declared_answers_pass(checker: ResponseChecker, page: ReceivedResponse) -> None:
    checker.check(page)
    checker.check(_build_error("not_found", 404))
    checker.check(_build_error("unprocessable", 422, field="x", details={"errors": []}))
    checker.check(ReceivedResponse("POST", "/api/v1/auth/logout", 204, "", b""))


@pytest.mark.parametrize(
    "members",
    [
        {"more": 1},
        {"name": None},
        {"revision": "1"},
        {"id": "no-uuid"},
        {"created_at": "2026-01-31T09:30:00"},
        {"created_at": "2026-01-31T09:30:00+01:00"},
        {"created_at": "2026-02-31T09:30:00Z"},
    ],
)
def test_other_members_and_types_are_refused(
    checker: ResponseChecker, page: ReceivedResponse, members: dict[str, Any]
) -> None:
    with pytest.raises(AssertionError):
        checker.check(_change_member(page, **members))


def test_other_statuses_types_and_paths_are_refused(
    checker: ResponseChecker, page: ReceivedResponse
) -> None:
    bare = replace(page, body=b'{"data": []}')
    for wrong in (
        replace(page, status=201),
        replace(page, status=304),
        replace(page, media_type="text/html"),
        replace(page, path="/api/v1/nowhere"),
        replace(page, method="PUT"),
        bare,
        ReceivedResponse("POST", "/api/v1/auth/logout", 204, "", b"x"),
    ):
        with pytest.raises(AssertionError):
            checker.check(wrong)


@pytest.mark.parametrize(
    "error",
    [
        _build_error("not_found", 400),
        _build_error("made_up", 400),
        _build_error("conflict", 409, more=1),
        _build_error("conflict", 409, details=[]),
        replace(_build_error("not_found", 404), media_type="text/html"),
    ],
)
def test_other_errors_are_refused(checker: ResponseChecker, error: ReceivedResponse) -> None:
    with pytest.raises(AssertionError):
        checker.check(error)


def test_what_is_spelled_out_goes_before_parameters(checker: ResponseChecker, org: Org) -> None:
    path = "/api/v1/webhooks/events"
    body = org.api().get(path).data
    checker.check(ReceivedResponse("GET", path, 200, "application/json", body))
