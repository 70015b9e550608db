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
from tests.factories.emails import list_emails_to
from tests.factories.errors import check_error
from tests.factories.orgs import PASSWORD, Api, get_data
from tests.identity.sso.conftest import Browser, Configure, Zone, mark_domains_verified, person


@pytest.fixture
def org_with_domain(org: Org, domain: str) -> Org:
    """Return the organization with its members' addresses in its own domain."""
    with org.app.app_context(), db.transaction() as session:
        for name, user_id in org.users.items():
            session.get_one(User, user_id).email = f"{name}@{domain}"
    return org


def _login(org: Org, email: str, password: str = PASSWORD) -> TestResponse:
    api = Api(org.app.test_client(), None, None)
    return api.post("/auth/login", json={"email": email, "password": password})


def _check_password_disabled(answer: TestResponse) -> None:
    check_error(answer, 403, "permission_denied", details={"single_sign_on": True})


def _enforce(org: Org, configure: Configure, domain: str) -> None:
    configure(org, email_domains=[domain], enforced=True)
    mark_domains_verified(org, domain)


@pytest.fixture
def enforced_org(org_with_domain: Org, configure: Configure, domain: str) -> Org:
    """Return the organization with its proven domain, for which passwords are turned off."""
    _enforce(org_with_domain, configure, domain)
    return org_with_domain


def test_only_owners_can_sign_in_by_password(
    org_with_domain: Org, configure: Configure, domain: str
) -> None:
    assert _login(org_with_domain, f"viewer@{domain}").status_code == 200
    _enforce(org_with_domain, configure, domain)
    for name in ("viewer", "labeler", "reviewer", "admin"):
        _check_password_disabled(_login(org_with_domain, f"{name}@{domain}"))
    assert _login(org_with_domain, f"owner@{domain}").status_code == 200


def test_responses_do_not_reveal_accounts(enforced_org: Org, domain: str) -> None:
    answers = [
        _login(enforced_org, f"{name}@{domain}", "a-wrong-password")
        for name in ("owner", "viewer", "nobody", "OWNER")
    ]
    answers.append(_login(enforced_org, f"viewer@{domain}"))
    for answer in answers:
        _check_password_disabled(answer)
    assert len({answer.data for answer in answers}) == 1


def test_other_domains_can_still_use_passwords(enforced_org: Org, other_org: Org) -> None:
    assert _login(other_org, other_org.email("viewer")).status_code == 200
    wrong = _login(other_org, other_org.email("viewer"), "a-wrong-password")
    check_error(wrong, 401, "invalid_credentials")


def test_nothing_is_enforced_before_the_domain_is_proven(
    org_with_domain: Org, configure: Configure, domain: str
) -> None:
    configure(org_with_domain, email_domains=[domain], enforced=True)
    assert _login(org_with_domain, f"viewer@{domain}").status_code == 200


@pytest.mark.parametrize("change", [{"enabled": False}, {"enforced": False}])
def test_passwords_work_again_when_enforcement_ends(
    enforced_org: Org, configure: Configure, domain: str, change: dict[str, Any]
) -> None:
    members = {"email_domains": [domain], "enforced": True, **change}
    configure(enforced_org, role="owner", **members)
    assert _login(enforced_org, f"viewer@{domain}").status_code == 200


def _is_token_valid(org: Org, token: str) -> bool:
    answer = Api(org.app.test_client(), token, org.slug).get("/schemas")
    if answer.status_code != 200:
        check_error(answer, 401, "token_expired")
    return answer.status_code == 200


def test_sessions_by_password_end_when_it_is_switched_on(
    org_with_domain: Org, browser: Browser, configure: Configure, domain: str
) -> None:
    configure(org_with_domain, email_domains=[domain])
    mark_domains_verified(org_with_domain, domain)
    by_provider = browser.token(org_with_domain, person(domain))
    tokens = {name: org_with_domain.tokens[name] for name in org_with_domain.users}
    configure(org_with_domain, email_domains=[domain], enforced=True)
    works = {name: _is_token_valid(org_with_domain, token) for name, token in tokens.items()}
    assert works == {
        "owner": True,
        "admin": False,
        "reviewer": False,
        "labeler": False,
        "viewer": False,
    }
    assert _is_token_valid(org_with_domain, by_provider)


def test_sessions_by_password_end_when_the_domain_is_proven(
    org_with_domain: Org, configure: Configure, zone: Zone, domain: str
) -> None:
    listed_domain = configure(org_with_domain, email_domains=[domain], enforced=True)["domains"][0]
    assert _is_token_valid(org_with_domain, org_with_domain.tokens["viewer"])
    zone.put(listed_domain["record"])
    configure(org_with_domain, email_domains=[domain], enforced=True)
    assert not _is_token_valid(org_with_domain, org_with_domain.tokens["viewer"])
    assert _is_token_valid(org_with_domain, org_with_domain.tokens["owner"])


def test_a_login_beside_the_enforcement_opens_no_session(
    org_with_domain: Org, configure: Configure, domain: str, run_while_locked: Any
) -> None:
    """The login checks the password before passwords are disabled, and commits afterwards."""
    configure(org_with_domain, email_domains=[domain], enforced=True)
    assert org_with_domain.api("viewer").post("/auth/logout").status_code == 204
    started = run_while_locked(
        auth, "open_session", lambda: mark_domains_verified(org_with_domain, domain)
    )
    answer = _login(org_with_domain, f"viewer@{domain}")
    started[0].result(60)
    assert not _is_token_valid(org_with_domain, get_data(answer)["access_token"])


@pytest.mark.parametrize("role", ["viewer", None])
def test_sessions_by_password_end_with_the_ownership(
    enforced_org: Org,
    work: Callable[[], None],
    role: str | None,
) -> None:
    enforced_org.add_user("second", "owner")
    token = enforced_org.tokens["owner"]
    assert _is_token_valid(enforced_org, token)
    path = f"/organizations/{enforced_org.slug}/members/{enforced_org.users['owner']}"
    second = enforced_org.api("second")
    answer = second.patch(path, json={"role": role}) if role else second.delete(path)
    assert answer.status_code in (200, 204), answer.json
    work()
    answer = Api(enforced_org.app.test_client(), token, None).get("/users/me")
    check_error(answer, 401, "token_expired")


def test_an_admin_who_enforces_can_sign_in_with_the_provider(
    enforced_org: Org, browser: Browser, domain: str
) -> None:
    token = browser.token(enforced_org, person(email=f"admin@{domain}"))
    shown = Api(enforced_org.app.test_client(), token, enforced_org.slug).get(
        f"/organizations/{enforced_org.slug}/sso"
    )
    assert shown.json["data"]["enforced"] is True


def test_no_password_reset_link_is_emailed(
    enforced_org: Org, domain: str, work: Callable[[], None]
) -> None:
    anonymous = Api(enforced_org.app.test_client(), None, None)
    answers = [
        anonymous.post("/auth/password-reset/request", json={"email": f"{name}@{domain}"})
        for name in ("viewer", "owner", "nobody")
    ]
    assert [answer.status_code for answer in answers] == [202] * 3
    assert len({answer.data for answer in answers}) == 1
    work()
    assert list_emails_to(f"viewer@{domain}") == []
    assert len(list_emails_to(f"owner@{domain}")) == 1


def test_an_earlier_reset_link_is_invalid(
    app: Flask, org_with_domain: Org, configure: Configure, domain: str, work: Callable[[], None]
) -> None:
    anonymous = Api(app.test_client(), None, None)
    anonymous.post("/auth/password-reset/request", json={"email": f"viewer@{domain}"})
    work()
    token = list_emails_to(f"viewer@{domain}")[-1].token
    _enforce(org_with_domain, configure, domain)
    body = {"token": token, "password": "another-long-password"}
    _check_password_disabled(anonymous.post("/auth/password-reset/confirm", json=body))


def test_nobody_registers_with_a_password(
    enforced_org: Org, domain: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = replace(container.settings(), registration="open")
    monkeypatch.setattr(container.current(), "settings", settings)
    body = {"email": f"new@{domain}", "password": "a-long-password-x", "name": "New"}
    anonymous = Api(enforced_org.app.test_client(), None, None)
    for email in (f"new@{domain}", f"viewer@{domain}", f"New@{domain.upper()}"):
        _check_password_disabled(anonymous.post("/auth/register", json={**body, "email": email}))


def test_a_password_cannot_be_changed_while_enforced(
    enforced_org: Org, browser: Browser, domain: str
) -> None:
    token = browser.token(enforced_org, person(email=f"viewer@{domain}"))
    body = {"current_password": PASSWORD, "new_password": "another-long-password"}
    change = Api(enforced_org.app.test_client(), token, None)
    _check_password_disabled(change.post("/auth/password/change", json=body))


def test_an_address_cannot_be_changed_by_password_while_enforced(
    org_with_domain: Org,
    browser: Browser,
    configure: Configure,
    domain: str,
    work: Callable[[], None],
) -> None:
    """Otherwise a member could change to an address that allows passwords.

    They would keep the membership.
    """
    path = "/auth/email-change/request"
    request = {"email": f"away-{domain}@elsewhere.example", "password": PASSWORD}
    early = {**request, "email": f"early-{domain}@elsewhere.example"}
    assert org_with_domain.api("viewer").post(path, early).status_code == 202
    work()
    mailed = {"token": list_emails_to(early["email"])[-1].token}
    _enforce(org_with_domain, configure, domain)
    token = browser.token(org_with_domain, person(email=f"labeler@{domain}"))
    signed_in = Api(org_with_domain.app.test_client(), token, None)
    _check_password_disabled(signed_in.post(path, request))
    _check_password_disabled(signed_in.post("/auth/email-change/confirm", mailed))
    work()
    assert list_emails_to(request["email"]) == []
    assert org_with_domain.email("viewer") == f"viewer@{domain}"
    # An owner may still sign in by password.
    assert org_with_domain.api("owner").post(path, request).status_code == 202
