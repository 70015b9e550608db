"""Fixtures of registered users and their devices."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import text

from app.kit import db
from app.kit.ids import uuid7
from tests.factories.emails import SentEmail, list_emails_to
from tests.factories.orgs import Api, get_data

PASSWORD = "three rivers meet here"


def address() -> str:
    return f"person.{uuid7().hex}@test.example"


@dataclass
class Person:
    """A user with an account. `api` has the token that the registration returned."""

    app: Flask
    email: str
    api: Api
    work: Callable[[], None]

    def device(self, token: str | None = None) -> Api:
        return Api(self.app.test_client(), token, None)

    def log_in(self, password: str = PASSWORD, **kwargs: Any) -> Any:
        body = {"email": self.email, "password": password}
        return self.device().post("/auth/login", body, **kwargs)

    def sign_in(self, password: str = PASSWORD) -> Api:
        return self.device(get_data(self.log_in(password))["access_token"])

    def emails(self, to: str | None = None) -> list[SentEmail]:
        self.work()
        return list_emails_to(to or self.email)

    def sql(self, statement: str, **values: Any) -> Any:
        """Run a statement, commit, and return its result; `:e` is the address."""
        with self.app.app_context(), db.transaction() as session:
            return session.execute(text(statement), {"e": self.email, **values})

    def get_email(self, subject: str, to: str | None = None) -> SentEmail:
        """Return the newest email whose subject contains `subject`."""
        return [email for email in self.emails(to) if subject in email.subject][-1]

    def token(self, subject: str, to: str | None = None) -> str:
        """Return the token of the newest email whose subject contains `subject`."""
        return self.get_email(subject, to).token

    def request_reset_token(self) -> str:
        """Request a link for a new password, and return the token in the email."""
        get_data(self.device().post("/auth/password-reset/request", {"email": self.email}), 202)
        return self.token("Reset")

    def skip_link_interval(self) -> None:
        """Let half a minute pass since the last link."""
        self.sql(
            "UPDATE mailed_tokens SET created_at = now() - interval '31 seconds' WHERE email = :e"
        )


@pytest.fixture
def register(app: Flask, work: Callable[[], None]) -> Callable[..., Person]:
    def make(**members: Any) -> Person:
        body = {"email": address(), "password": PASSWORD, "name": "Nora Berg", **members}
        anonymous_client = Api(app.test_client(), None, None)
        token = get_data(anonymous_client.post("/auth/register", body), 201)["access_token"]
        return Person(app, body["email"], Api(app.test_client(), token, None), work)

    return make


@pytest.fixture
def person(register: Callable[..., Person]) -> Person:
    return register()


@pytest.fixture
def anonymous_client(app: Flask) -> Api:
    """Return a client without credentials."""
    return Api(app.test_client(), None, None)


def code(answer: Any) -> str:
    """Return the code of an error."""
    return str(answer.json["error"]["code"])
