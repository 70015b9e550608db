"""Making an account."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import text

from app.identity.users import queries
from app.kit import container, db
from tests.factories.errors import check_error
from tests.factories.orgs import Api, get_data
from tests.identity.auth.conftest import PASSWORD, Person, address

BODY = {"password": PASSWORD, "name": "Nora Berg"}


def test_registering_answers_the_login_response(anonymous_client: Api) -> None:
    email = address()
    data = get_data(anonymous_client.post("/auth/register", {**BODY, "email": email.upper()}), 201)
    assert data["user"]["email"] == email
    assert data["user"]["name"] == "Nora Berg"
    assert data["organizations"] == []
    assert data["expires_in"] == 8 * 3600
    me = Api(anonymous_client.client, data["access_token"], None).get("/users/me").json["data"]
    assert me["id"] == data["user"]["id"]
    assert me["email_verified"] is False


def test_a_named_organization_is_made_and_owned(anonymous_client: Api) -> None:
    body = {**BODY, "email": address(), "organization_name": "Berg & Töchter"}
    (made,) = anonymous_client.post("/auth/register", body).json["data"]["organizations"]
    assert made["name"] == "Berg & Töchter"
    assert made["role"] == "owner"
    assert made["slug"].startswith("berg")


def test_the_address_is_confirmed_by_a_mailed_link(person: Person) -> None:
    (message,) = person.emails()
    assert message.subject == "Confirm your email address"
    assert "Nora Berg" in message.text
    answer = person.device().post("/auth/email-change/confirm", {"token": message.token})
    assert answer.json["data"] == {"email": person.email, "email_verified": True}
    # Proof of the present address changes nothing that a token vouches for.
    assert person.api.get("/users/me").json["data"]["email_verified"] is True
    again = person.device().post("/auth/email-change/confirm", {"token": message.token})
    assert again.status_code == 400


@pytest.mark.parametrize(
    "spell", [str.upper, lambda email: email.replace("e", "\u0435"), lambda email: f" {email}"]
)
def test_one_mailbox_has_one_account(person: Person, anonymous_client: Api, spell: Any) -> None:
    answer = anonymous_client.post("/auth/register", {**BODY, "email": spell(person.email)})
    assert answer.status_code == 409
    assert answer.json["error"]["field"] == "email"


def test_of_two_at_once_one_is_made(app: Flask) -> None:
    email = address()

    def register_with(spelling: str) -> int:
        api = Api(app.test_client(), None, None)
        return api.post("/auth/register", {**BODY, "email": spelling}).status_code

    with ThreadPoolExecutor(2) as pool:
        statuses = sorted(pool.map(register_with, [email, email.replace("o", "\u043e")]))
    assert statuses == [201, 409]


@pytest.mark.parametrize(
    "password",
    [
        "short-one",
        "password123!",
        "qwertyuiop",
        "aaaaaaaaaaaa",
        "passwordpassword",
        "0123456789",
        "noraberg1984",
        "BergNora!!!!",
        "test-example-2031",
    ],
)
def test_guessable_passwords_are_refused(anonymous_client: Api, password: str) -> None:
    answer = anonymous_client.post(
        "/auth/register", {**BODY, "email": address(), "password": password}
    )
    check_error(answer, 400, "validation_error", field="password")


@pytest.mark.parametrize(
    "members",
    [
        {"name": "Nora\r\nBcc: everybody@test.example"},
        {"name": "Nora\x00"},
        {"name": "\ud800"},
        {"name": " "},
        {"name": "n" * 201},
        {"password": "p" * 1025},
        {"password": "three rivers\x00"},
        {"password": "three rivers \udfff"},
        {"password": 1234567890},
        {"email": ["a@test.example"]},
        {"email": "a" * 321},
        {"organization_name": "Berg\nBcc: all"},
        {"token_version": 7},
        {"email_verified": True},
    ],
)
def test_hostile_members_are_unprocessable(app: Flask, anonymous_client: Api, members: Any) -> None:
    import json  # noqa: PLC0415 - lone surrogates need escapes, which Flask's client would refuse

    raw = json.dumps({**BODY, "email": address(), **members})
    answer = anonymous_client.post("/auth/register", data=raw, content_type="application/json")
    check_error(answer, 422, "unprocessable")


def test_a_password_of_a_megabyte_is_refused_before_it_is_hashed(anonymous_client: Api) -> None:
    for path in ("/auth/register", "/auth/login"):
        body = {"email": address(), "password": "x" * 1_000_000}
        assert anonymous_client.post(path, body).status_code == 413


def test_an_address_that_is_none_is_refused(anonymous_client: Api) -> None:
    answer = anonymous_client.post("/auth/register", {**BODY, "email": "nora@@test.example"})
    check_error(answer, 400, "validation_error", field="email")


def test_the_longest_password_works(register: Any) -> None:
    password = "river \U0001f30a" * 146
    person = register(password=password)
    assert person.log_in(password).status_code == 200
    assert person.log_in(password[:-1]).status_code == 401


def test_by_invitation_only_strangers_are_refused(
    anonymous_client: Api, monkeypatch: pytest.MonkeyPatch, person: Person
) -> None:
    closed = replace(container.settings(), registration="invite")
    monkeypatch.setattr(container.current(), "settings", closed)
    known = anonymous_client.post("/auth/register", {**BODY, "email": person.email})
    unknown = anonymous_client.post("/auth/register", {**BODY, "email": address()})
    assert known.status_code == unknown.status_code == 403
    assert known.json == unknown.json


def test_the_first_of_all_may_register_even_then(
    anonymous_client: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed = replace(container.settings(), registration="invite")
    monkeypatch.setattr(container.current(), "settings", closed)
    # Other tests have accounts in this database; only the question is answered for them.
    monkeypatch.setattr(queries, "lock_first_registration", lambda: True)
    assert anonymous_client.post("/auth/register", {**BODY, "email": address()}).status_code == 201


def test_nobody_yet_sees_who_is_there(app: Flask, person: Person) -> None:
    with app.app_context():
        assert queries.lock_first_registration() is False
        # A temporary table hides the real one until the transaction ends.
        empty = "CREATE TEMPORARY TABLE users (LIKE public.users) ON COMMIT DROP"
        db.session().execute(text(empty))
        assert queries.lock_first_registration() is True
        db.session().rollback()
