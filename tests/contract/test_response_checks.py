"""The check that every answer of the tests goes through sees what is wrong with one."""

import json
from dataclasses import replace
from typing import Any

import pytest
from flask import Flask

from tests.factories import Org
from tests.factories.answers import Answer, Answers, declared

PATH = "/api/v1/organizations"


@pytest.fixture
def answers(app: Flask) -> Answers:
    return declared(app)


@pytest.fixture
def page(org: Org) -> Answer:
    """A real answer."""
    body = org.api().get("/organizations").data
    return Answer("GET", PATH, 200, "application/json", body)


def _changed(answer: Answer, **members: Any) -> Answer:
    body = json.loads(answer.body)
    body["data"][0].update(members)
    return replace(answer, body=json.dumps(body).encode())


def _error(code: str, status: int, **members: Any) -> Answer:
    body = {"error": {"code": code, "message": "No.", **members}}
    return Answer("GET", PATH, status, "application/json", json.dumps(body).encode())


def test_declared_answers_pass(answers: Answers, page: Answer) -> None:
    answers.check(page)
    answers.check(_error("not_found", 404))
    answers.check(_error("unprocessable", 422, field="x", details={"errors": []}))
    answers.check(Answer("POST", "/api/v1/auth/logout", 204, "", b""))


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
    answers: Answers, page: Answer, members: dict[str, Any]
) -> None:
    with pytest.raises(AssertionError):
        answers.check(_changed(page, **members))


def test_other_statuses_types_and_paths_are_refused(answers: Answers, page: Answer) -> None:
    bare = replace(page, body=b'{"data": []}')
    for wrong in (
        replace(page, status=201),
        replace(page, status=304),
        replace(page, media_type="text/html"),
        replace(page, path="/api/v1/nowhere"),
        replace(page, method="PUT"),
        bare,
        Answer("POST", "/api/v1/auth/logout", 204, "", b"x"),
    ):
        with pytest.raises(AssertionError):
            answers.check(wrong)


@pytest.mark.parametrize(
    "error",
    [
        _error("not_found", 400),
        _error("made_up", 400),
        _error("conflict", 409, more=1),
        _error("conflict", 409, details=[]),
        replace(_error("not_found", 404), media_type="text/html"),
    ],
)
def test_other_errors_are_refused(answers: Answers, error: Answer) -> None:
    with pytest.raises(AssertionError):
        answers.check(error)


def test_what_is_spelled_out_goes_before_parameters(answers: Answers, org: Org) -> None:
    path = "/api/v1/webhooks/events"
    body = org.api().get(path).data
    answers.check(Answer("GET", path, 200, "application/json", body))
