"""Passwords turned off for proven domains: who can still sign in, and what is revealed."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from flask import Flask
from werkzeug.test import TestResponse

from app.identity.auth import service as auth
from app.identity.users.models import User
from app.kit import container, db
from tests.factories import Org
from tests.factories.emails import list_messages_to
from tests.factories.orgs import PASSWORD, Api
from tests.identity.sso.conftest import Browser, Configure, Zone, mark_domains_verified, person


@pytest.fixture
def at_home(org: Org, domain: str) -> Org:
    """Return the organization with its members' addresses in its own domain."""
    with org.app.app_context(), db.transaction() as session:
        for name, user_id in org.users.items():
            session.get_one(User, user_id).email = f"{name}@{domain}"
    return org


def _login(org: Org, email: str, password: str = PASSWORD) -> TestResponse:
    api = Api(org.app.test_client(), None, None)
    return api.post("/auth/login", json={"email": email, "password": password})


def _off(answer: TestResponse) -> None:
    assert answer.status_code == 403, answer.json
    error = answer.json["error"]
    assert (error["code"], error["details"]) == ("permission_denied", {"single_sign_on": True})


def _enforce(org: Org, configure: Configure, domain: str) -> None:
    configure(org, email_domains=[domain], enforced=True)
    mark_domains_verified(org, domain)


def test_only_owners_can_sign_in_by_password(
    at_home: Org, configure: Configure, domain: str
) -> None:
    assert _login(at_home, f"viewer@{domain}").status_code == 200
    _enforce(at_home, configure, domain)
    for name in ("viewer", "labeler", "reviewer", "admin"):
        _off(_login(at_home, f"{name}@{domain}"))
    assert _login(at_home, f"owner@{domain}").status_code == 200


def test_responses_do_not_reveal_accounts(at_home: Org, configure: Configure, domain: str) -> None:
    _enforce(at_home, configure, domain)
    answers = [
        _login(at_home, f"{name}@{domain}", "a-wrong-password")
        for name in ("owner", "viewer", "nobody", "OWNER")
    ]
    answers.append(_login(at_home, f"viewer@{domain}"))
    for answer in answers:
        _off(answer)
    assert len({answer.data for answer in answers}) == 1


def test_other_domains_can_still_use_passwords(
    at_home: Org, other_org: Org, configure: Configure, domain: str
) -> None:
    _enforce(at_home, configure, domain)
    assert _login(other_org, other_org.email("viewer")).status_code == 200
    wrong = _login(other_org, other_org.email("viewer"), "a-wrong-password")
    assert (wrong.status_code, wrong.json["error"]["code"]) == (401, "invalid_credentials")


def test_nothing_is_enforced_before_the_domain_is_proven(
    at_home: Org, configure: Configure, domain: str
) -> None:
    configure(at_home, email_domains=[domain], enforced=True)
    assert _login(at_home, f"viewer@{domain}").status_code == 200


@pytest.mark.parametrize("change", [{"enabled": False}, {"enforced": False}])
def test_passwords_work_again_when_enforcement_ends(
    at_home: Org, configure: Configure, domain: str, change: dict[str, Any]
) -> None:
    _enforce(at_home, configure, domain)
    members = {"email_domains": [domain], "enforced": True, **change}
    configure(at_home, role="owner", **members)
    assert _login(at_home, f"viewer@{domain}").status_code == 200


def _works(org: Org, token: str) -> bool:
    answer = Api(org.app.test_client(), token, org.slug).get("/schemas")
    assert answer.status_code in (200, 401)
    if answer.status_code == 401:
        assert answer.json["error"]["code"] == "token_expired"
    return answer.status_code == 200


def test_sessions_by_password_end_when_it_is_switched_on(
    at_home: Org, browser: Browser, configure: Configure, domain: str
) -> None:
    configure(at_home, email_domains=[domain])
    mark_domains_verified(at_home, domain)
    by_provider = browser.token(at_home, person(domain))
    tokens = {name: at_home.tokens[name] for name in at_home.users}
    configure(at_home, email_domains=[domain], enforced=True)
    works = {name: _works(at_home, token) for name, token in tokens.items()}
    assert works == {
        "owner": True,
        "admin": False,
        "reviewer": False,
        "labeler": False,
        "viewer": False,
    }
    assert _works(at_home, by_provider)


def test_sessions_by_password_end_when_the_domain_is_proven(
    at_home: Org, configure: Configure, zone: Zone, domain: str
) -> None:
    listed_domain = configure(at_home, email_domains=[domain], enforced=True)["domains"][0]
    assert _works(at_home, at_home.tokens["viewer"])
    zone.put(listed_domain["record"])
    configure(at_home, email_domains=[domain], enforced=True)
    assert not _works(at_home, at_home.tokens["viewer"])
    assert _works(at_home, at_home.tokens["owner"])


def test_a_login_beside_the_enforcement_opens_no_session(
    at_home: Org, configure: Configure, domain: str, run_while_locked: Any
) -> None:
    """The login checks the password before passwords are disabled, and commits afterwards."""
    configure(at_home, email_domains=[domain], enforced=True)
    assert at_home.api("viewer").post("/auth/logout").status_code == 204
    started = run_while_locked(auth, "open_session", lambda: mark_domains_verified(at_home, domain))
    answer = _login(at_home, f"viewer@{domain}")
    started[0].result(60)
    assert answer.status_code == 200, answer.json
    assert not _works(at_home, answer.json["data"]["access_token"])


@pytest.mark.parametrize("role", ["viewer", None])
def test_sessions_by_password_end_with_the_ownership(
    at_home: Org, configure: Configure, domain: str, work: Callable[[], None], role: str | None
) -> None:
    at_home.add_user("second", "owner")
    _enforce(at_home, configure, domain)
    token = at_home.tokens["owner"]
    assert _works(at_home, token)
    path = f"/organizations/{at_home.slug}/members/{at_home.users['owner']}"
    second = at_home.api("second")
    answer = second.patch(path, json={"role": role}) if role else second.delete(path)
    assert answer.status_code in (200, 204), answer.json
    work()
    answer = Api(at_home.app.test_client(), token, None).get("/users/me")
    assert (answer.status_code, answer.json["error"]["code"]) == (401, "token_expired")


def test_an_admin_who_enforces_can_sign_in_with_the_provider(
    at_home: Org, browser: Browser, configure: Configure, domain: str
) -> None:
    _enforce(at_home, configure, domain)
    token = browser.token(at_home, person(email=f"admin@{domain}"))
    shown = Api(at_home.app.test_client(), token, at_home.slug).get(
        f"/organizations/{at_home.slug}/sso"
    )
    assert shown.json["data"]["enforced"] is True


def test_no_password_reset_link_is_emailed(
    at_home: Org, configure: Configure, domain: str, work: Callable[[], None]
) -> None:
    _enforce(at_home, configure, domain)
    anonymous = Api(at_home.app.test_client(), None, None)
    answers = [
        anonymous.post("/auth/password-reset/request", json={"email": f"{name}@{domain}"})
        for name in ("viewer", "owner", "nobody")
    ]
    assert [answer.status_code for answer in answers] == [202] * 3
    assert len({answer.data for answer in answers}) == 1
    work()
    assert list_messages_to(f"viewer@{domain}") == []
    assert len(list_messages_to(f"owner@{domain}")) == 1


def test_an_earlier_reset_link_is_invalid(
    app: Flask, at_home: Org, configure: Configure, domain: str, work: Callable[[], None]
) -> None:
    anonymous = Api(app.test_client(), None, None)
    anonymous.post("/auth/password-reset/request", json={"email": f"viewer@{domain}"})
    work()
    plain = list_messages_to(f"viewer@{domain}")[-1].get_body(("plain",))
    assert plain is not None
    token = plain.get_content().split("token=")[1].split("&")[0]
    _enforce(at_home, configure, domain)
    body = {"token": token, "password": "another-long-password"}
    _off(anonymous.post("/auth/password-reset/confirm", json=body))


def test_nobody_registers_with_a_password(
    at_home: Org, configure: Configure, domain: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = replace(container.settings(), registration="open")
    monkeypatch.setattr(container.current(), "settings", settings)
    _enforce(at_home, configure, domain)
    body = {"email": f"new@{domain}", "password": "a-long-password-x", "name": "New"}
    anonymous = Api(at_home.app.test_client(), None, None)
    for email in (f"new@{domain}", f"viewer@{domain}", f"New@{domain.upper()}"):
        _off(anonymous.post("/auth/register", json={**body, "email": email}))


def test_a_password_cannot_be_changed_while_enforced(
    at_home: Org, browser: Browser, configure: Configure, domain: str
) -> None:
    _enforce(at_home, configure, domain)
    token = browser.token(at_home, person(email=f"viewer@{domain}"))
    body = {"current_password": PASSWORD, "new_password": "another-long-password"}
    change = Api(at_home.app.test_client(), token, None)
    _off(change.post("/auth/password/change", json=body))


def test_an_address_cannot_be_changed_by_password_while_enforced(
    at_home: Org, browser: Browser, configure: Configure, domain: str, work: Callable[[], None]
) -> None:
    """Otherwise a member could change to an address that allows passwords.

    They would keep the membership.
    """
    asked = {"email": f"away-{domain}@elsewhere.example", "password": PASSWORD}
    early = {**asked, "email": f"early-{domain}@elsewhere.example"}
    assert at_home.api("viewer").post("/auth/email-change/request", early).status_code == 202
    work()
    plain = list_messages_to(early["email"])[-1].get_body(("plain",))
    assert plain is not None
    mailed = {"token": plain.get_content().split("token=")[1].split("&")[0]}
    _enforce(at_home, configure, domain)
    token = browser.token(at_home, person(email=f"labeler@{domain}"))
    signed_in = Api(at_home.app.test_client(), token, None)
    _off(signed_in.post("/auth/email-change/request", asked))
    _off(signed_in.post("/auth/email-change/confirm", mailed))
    work()
    assert list_messages_to(asked["email"]) == []
    assert at_home.email("viewer") == f"viewer@{domain}"
    # An owner may still sign in by password.
    assert at_home.api("owner").post("/auth/email-change/request", asked).status_code == 202
