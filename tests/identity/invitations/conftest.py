"""Fixtures that send, read and accept invitations."""

from collections.abc import Callable
from typing import Any

import pytest

from app.kit.ids import uuid7
from tests.factories import Org
from tests.factories.counts import run_sql
from tests.factories.emails import SentEmail, list_emails_to
from tests.factories.orgs import Api, get_data
from tests.identity.auth.conftest import PASSWORD, code


def address() -> str:
    return f"guest.{uuid7().hex}@test.example"


class Workspace:
    """The invitations of an organization, for the inviter and the invited."""

    def __init__(self, org: Org, work: Callable[[], None]) -> None:
        self.org = org
        self.work = work
        self.path = f"/organizations/{org.slug}/invitations"

    def invite(self, email: str, role: str = "labeler", *, by: str = "admin", **body: Any) -> Any:
        return self.org.api(by).post(self.path, json={"email": email, "role": role, **body})

    def emails(self, email: str) -> list[SentEmail]:
        self.work()
        return list_emails_to(email)

    def token(self, email: str) -> str:
        return self.emails(email)[-1].token

    def invite_and_get_token(self, email: str, role: str = "labeler", **body: Any) -> str:
        """Invite an address, and return the token in the email."""
        get_data(self.invite(email, role, **body), 201)
        return self.token(email)

    def guest(self, token: str | None = None) -> Api:
        return Api(self.org.app.test_client(), token, None)

    def get_preview(self, token: str) -> Any:
        return self.guest().get(f"/auth/invitations/{token}")

    def accept(self, token: str, *, bearer: str | None = None, **body: Any) -> Any:
        return self.guest(bearer).post(f"/auth/invitations/{token}/accept", json=body)

    def join(self, token: str, **kwargs: Any) -> Any:
        """Accept an invitation with a new account."""
        return self.accept(token, name="Nora Berg", password=PASSWORD, **kwargs)

    def roles(self) -> dict[str, str]:
        answer = self.org.api().get(f"/organizations/{self.org.slug}/members")
        return {m["user"]["email"]: m["role"] for m in answer.json["data"]}

    def sql(self, statement: str) -> None:
        """Run a statement in the organization; `:org` is its id."""
        run_sql(self.org, statement)


def check_ended(answer: Any, state: str) -> None:
    """Check that an invitation was refused because it has ended in this state."""
    assert (answer.status_code, code(answer)) == (409, "conflict")
    assert answer.json["error"]["details"] == {"state": state}


@pytest.fixture
def workspace(org: Org, work: Callable[[], None]) -> Workspace:
    return Workspace(org, work)
