"""Create organizations with a user for each role, and clients that send requests as these users."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from functools import cache
from typing import Any
from uuid import UUID

from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import insert, orm
from werkzeug.test import TestResponse

from app.identity.auth.models import Session
from app.identity.organizations.models import Membership, Organization
from app.identity.users import addresses
from app.identity.users.models import User
from app.kit import container, db, secrets, tenancy, tokens
from app.kit.ids import uuid7
from app.kit.permissions import Role
from tests.factories import response_checks

PREFIX = "/api/v1"
_DAY = timedelta(days=1)
PASSWORD = "a-long-enough-password"


@cache
def _password_hash() -> str:
    return secrets.hash_password(PASSWORD)


@dataclass
class Api:
    """A client, optionally with a bearer token or an API key, and with an organization's slug.

    Every response is checked against the OpenAPI description (`tests.factories.response_checks`).
    """

    client: FlaskClient
    token: str | None
    slug: str | None
    key: str | None = None

    def headers(self) -> dict[str, str]:
        headers = {}
        if self.key:
            headers["X-API-Key"] = self.key
        if self.token:
            headers["Authorization"] = f"Bearer {self.token}"
        if self.slug:
            headers["X-Org-Slug"] = self.slug
        return headers

    def request(self, method: str, path: str, **kwargs: Any) -> TestResponse:
        headers = {**self.headers(), **kwargs.pop("headers", {})}
        url = path if path.startswith(("/api", "/health", "/openapi")) else PREFIX + path
        response = self.client.open(url, method=method, headers=headers, **kwargs)
        response_checks.check(self.client.application, response)
        return response

    def get(self, path: str, **kwargs: Any) -> TestResponse:
        return self.request("GET", path, **kwargs)

    def post(self, path: str, json: Any = None, **kwargs: Any) -> TestResponse:
        return self.request("POST", path, **({"json": json} if json is not None else {}), **kwargs)

    def put(self, path: str, json: Any = None, **kwargs: Any) -> TestResponse:
        return self.request("PUT", path, json=json, **kwargs)

    def patch(self, path: str, json: Any = None, **kwargs: Any) -> TestResponse:
        return self.request("PATCH", path, json=json, **kwargs)

    def delete(self, path: str, **kwargs: Any) -> TestResponse:
        return self.request("DELETE", path, **kwargs)


def get_data(response: TestResponse, status: int = 200) -> Any:
    """Assert that a response has this status, and return its data."""
    assert response.status_code == status, response.json
    return response.json["data"]


class Tokens(dict[str, str]):
    """Access tokens by user name. A token is issued when a test first reads it."""

    def __init__(self, app: Flask) -> None:
        super().__init__()
        self._app = app
        self._sessions: dict[str, tuple[UUID, str, UUID]] = {}

    def add(self, name: str, user_id: UUID, email: str, session_id: UUID) -> None:
        self.pop(name, None)
        self._sessions[name] = (user_id, email, session_id)

    def __missing__(self, name: str) -> str:
        user_id, email, session_id = self._sessions[name]
        with self._app.app_context():
            self[name] = tokens.issue(user_id, email=email, session_id=session_id, token_version=1)
        return self[name]


@dataclass
class Org:
    """An organization in a test, with the ids and access tokens of its users by name.

    Users that `make_org` creates are named after their role.
    """

    app: Flask
    id: UUID
    slug: str
    users: dict[str, UUID] = field(default_factory=dict)
    tokens: Tokens = field(init=False)

    def __post_init__(self) -> None:
        self.tokens = Tokens(self.app)

    def api(self, name: str = "owner", *, slug: str | None = None) -> Api:
        """Return a new client that sends requests as a user. Each thread needs its own client."""
        return Api(self.app.test_client(), self.tokens[name], slug or self.slug)

    def email(self, name: str) -> str:
        """Return the email address of a user."""
        with self.app.app_context():
            user = db.session().get(User, self.users[name])
            assert user is not None
            return user.email

    @contextmanager
    def transaction(self) -> Iterator[orm.Session]:
        """Run the block in a transaction of the organization. Yields the database session."""
        with self.app.app_context(), tenancy.organization(self.id), db.transaction() as session:
            yield session

    def anonymous(self) -> Api:
        """Return a client without credentials."""
        return Api(self.app.test_client(), None, self.slug)

    def key(
        self, role: str, *, maker: str = "owner", slug: str | None = None, **properties: Any
    ) -> Api:
        """Return a client with a new API key that has `role` and was created by the user `maker`.

        The client does not send the header X-Org-Slug.
        """
        body = {"name": f"A {role} key", "role": role, **properties}
        response = self.api(maker).post(f"/organizations/{self.slug}/api-keys", body)
        return Api(self.app.test_client(), None, None, get_data(response, 201)["key"])

    def add_user(self, name: str, role: str) -> UUID:
        """Create a user who is a member with `role`, and return the user's id.

        `api` and `users` refer to the user by `name`.
        """
        return self.add_users({name: role})[name]

    def add_users(self, roles: dict[str, str]) -> dict[str, UUID]:
        """Create users who are members; `roles` maps names to roles. Returns the ids by name."""
        with self.transaction():
            self._insert_users(roles)
        return {name: self.users[name] for name in roles}

    def _insert_users(self, roles: dict[str, str]) -> None:
        """Insert users, memberships and sessions in bulk, because thousands of tests need them."""
        now = db.utc_now()
        users = [_build_user(name) for name in roles]
        sessions = [
            {"id": uuid7(), "user_id": user["id"], "expires_at": now + _DAY} for user in users
        ]
        # The times differ, so that the order in which the members joined is defined.
        memberships = [
            {
                "organization_id": self.id,
                "user_id": user["id"],
                "role": role,
                "created_at": now + timedelta(milliseconds=n - len(roles)),
            }
            for n, (user, role) in enumerate(zip(users, roles.values(), strict=True))
        ]
        for model, rows in (User, users), (Membership, memberships), (Session, sessions):
            db.session().execute(insert(model.__table__), rows)
        for name, user, session in zip(roles, users, sessions, strict=True):
            self.users[name] = user["id"]
            self.tokens.add(name, user["id"], user["email"], session["id"])


def _build_user(name: str) -> dict[str, Any]:
    email = f"{name}.{uuid7().hex}@test.example"
    return {
        "id": uuid7(),
        "email": email,
        "email_key": addresses.get_mailbox_key(email),
        "name": name.title(),
        "password_hash": _password_hash(),
        "email_verified_at": db.utc_now(),
    }


@contextmanager
def transaction_across_organizations(app: Flask) -> Iterator[orm.Session]:
    """Run the block in a transaction of all organizations. Yields the database session."""
    everything = tenancy.across_organizations(reason="a test works on all organizations")
    with app.app_context(), everything, db.transaction() as session:
        yield session


def operator(app: Flask) -> Api:
    """Return a client with the token of the control plane, as the operator has."""
    return Api(app.test_client(), container.settings().control_plane_token, None)


def make_org(app: Flask, **columns: Any) -> Org:
    """Create an organization with a user for each role, named after the role.

    `columns` are values for columns of `organizations`.
    """
    org = Org(app, uuid7(), f"org-{uuid7().hex[-20:]}")
    with org.transaction() as session:
        values = {"id": org.id, "slug": org.slug, "name": "Test", **columns}
        session.execute(insert(Organization.__table__), values)
        org._insert_users({role.name: role.name for role in Role})
    return org
