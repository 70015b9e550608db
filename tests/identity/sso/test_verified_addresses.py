"""An account is linked without an email only if `email_verified` is exactly true."""

from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import select
from werkzeug.test import TestResponse

from app.identity.users.models import User
from app.kit import db
from tests.factories import Org, drain
from tests.factories.emails import list_messages_to
from tests.factories.orgs import Api, get_data
from tests.identity.sso.conftest import Browser, build_sso_body, mark_domains_verified, put
from tests.identity.sso.hostile import Hostile
from tests.identity.sso.test_sign_in import _check_denied, _get_mailed_code, _get_role, _rename

ABSENT = object()
NOT_TRUE = [ABSENT, "true", "True", 1, False, "false", "yes", ["true"], {}]
SignInAs = Callable[..., TestResponse]


@pytest.fixture
def sign_in_as(org: Org, browser: Browser, hostile: Hostile, domain: str) -> SignInAs:
    """Sign in as `email` in a proven domain; `verified` is the provider's claim about it."""
    assert put(org, build_sso_body(hostile, email_domains=[domain])).status_code == 200
    mark_domains_verified(org, domain)

    def act(email: str, verified: Any, **claims: Any) -> TestResponse:
        hostile.claims = {"sub": f"s-{email}", "email": email, **claims}
        if verified is not ABSENT:
            hostile.claims["email_verified"] = verified
        return browser.complete_sign_in_at(hostile, org)

    return act


def _account(org: Org, other_org: Org, kind: str, domain: str) -> str:
    """Give an account an address of the domain: a member's, or one from another organization."""
    email = f"{kind}@{domain}"
    owner_of_account = org if kind == "member" else other_org
    _rename(owner_of_account, owner_of_account.users["labeler"], email)
    return email


@pytest.mark.parametrize("verified", NOT_TRUE, ids=lambda v: "absent" if v is ABSENT else repr(v))
@pytest.mark.parametrize("kind", ["member", "elsewhere"])
def test_any_value_but_true_requires_confirmation_by_email(
    org: Org, other_org: Org, sign_in_as: SignInAs, domain: str, kind: str, verified: Any
) -> None:
    data = get_data(sign_in_as(_account(org, other_org, kind, domain), verified))
    assert (data["code"], data["confirmation"]) == (None, "email")


@pytest.mark.parametrize("kind", ["member", "elsewhere"])
def test_true_links_at_once(
    org: Org, other_org: Org, sign_in_as: SignInAs, domain: str, kind: str
) -> None:
    answer = sign_in_as(_account(org, other_org, kind, domain), True)
    assert answer.json["data"]["code"] is not None


def test_the_email_goes_to_the_account_and_links_it(
    org: Org, other_org: Org, browser: Browser, sign_in_as: SignInAs, domain: str
) -> None:
    email = _account(org, other_org, "elsewhere", domain)
    sign_in_as(email, ABSENT)
    assert _get_role(org, email) is None
    assert browser.exchange(_get_mailed_code(org, email)).status_code == 200
    assert _get_role(org, email) == "viewer"
    assert sign_in_as(email, ABSENT).json["data"]["code"] is not None, "the identity is linked now"


def test_a_new_account_is_unverified_unless_the_claim_is_true(
    org: Org, sign_in_as: SignInAs, domain: str
) -> None:
    for number, verified in enumerate((ABSENT, "true", True)):
        assert sign_in_as(f"new{number}@{domain}", verified).json["data"]["code"] is not None
    _check_denied(sign_in_as(f"new3@{domain}", False), "not verified")
    with org.app.app_context():
        rows = db.session().execute(
            select(User.email, User.email_verified_at.is_not(None)).where(
                User.email.like(f"new%@{domain}")
            )
        )
        assert {row[0].partition("@")[0]: row[1] for row in rows} == {
            "new0": False,
            "new1": False,
            "new2": True,
        }


def test_the_claim_of_one_address_does_not_verify_another(
    org: Org, other_org: Org, hostile: Hostile, sign_in_as: SignInAs, domain: str
) -> None:
    """The ID token has one address; the userinfo endpoint says that another one is verified."""
    email = _account(org, other_org, "member", domain)
    mine = {"email": "mallory@hostile.example", "email_verified": True, "name": "Mallory"}
    hostile.userinfo = {"sub": f"s-{email}", **mine}
    answer = sign_in_as(email, ABSENT, name=None)
    assert answer.json["data"]["confirmation"] == "email"
    hostile.userinfo["email"] = email
    assert sign_in_as(email, ABSENT, name=None).json["data"]["code"] is not None


def test_a_confirmation_removes_a_strangers_access(
    org: Org, browser: Browser, sign_in_as: SignInAs, domain: str
) -> None:
    """A stranger registered the address, or signed in first with an identity that claimed it."""
    email = f"boss@{domain}"
    squatter = Api(org.app.test_client(), None, None)
    body = {"email": email, "password": "the squatter chose this", "name": "Pat"}
    assert squatter.post("/auth/register", json=body).status_code == 201
    drain(org.app)
    before = len(list_messages_to(email))
    assert sign_in_as(email, ABSENT).json["data"]["confirmation"] == "email"
    drain(org.app)
    assert len(list_messages_to(email)) == before + 1
    assert browser.exchange(_get_mailed_code(org, email)).status_code == 200
    login = {name: body[name] for name in ("email", "password")}
    assert squatter.post("/auth/login", json=login).status_code == 401


def test_an_identity_from_before_the_address_was_proven_is_unlinked(
    sign_in_as: SignInAs, domain: str
) -> None:
    email = f"boss@{domain}"
    assert sign_in_as(email, ABSENT, sub="stranger").json["data"]["code"] is not None
    assert sign_in_as(email, True, sub="boss").json["data"]["code"] is not None
    again = sign_in_as(email, ABSENT, sub="stranger")
    assert again.json["data"]["confirmation"] == "email"
