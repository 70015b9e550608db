"""Nobody becomes an owner by single sign-on: owners confirm each identity by email."""

from collections.abc import Callable
from uuid import UUID

import pytest
from sqlalchemy import text

from app.kit import db
from tests.factories import Org
from tests.factories.emails import list_messages_to
from tests.factories.orgs import get_data
from tests.identity.sso.conftest import (
    Browser,
    Person,
    build_sso_body,
    person,
    put,
)
from tests.identity.sso.hostile import Hostile
from tests.identity.sso.test_sign_in import (
    _check_denied,
    _get_api,
    _get_mailed_code,
    _get_role,
    _get_user_id,
    _invite,
    _log_out_at_provider,
    _sign_in_with_confirmation,
)


def _set_role(org: Org, user_id: str, role: str) -> None:
    path = f"/organizations/{org.slug}/members/{user_id}"
    get_data(org.api("owner").patch(path, json={"role": role}))


def _promote_by_role(org: Org, user_id: str, _email: str) -> None:
    _set_role(org, user_id, "owner")


def _promote_by_transfer(org: Org, user_id: str, _email: str) -> None:
    path = f"/organizations/{org.slug}/transfer-ownership"
    get_data(org.api("owner").post(path, json={"user_id": user_id}))


def _promote_by_invitation(org: Org, user_id: str, email: str) -> None:
    assert org.api().delete(f"/organizations/{org.slug}/members/{user_id}").status_code == 204
    _invite(org, email, role="owner")
    token = _get_mailed_code(org, email)
    with org.app.app_context(), db.transaction() as session:
        # Set a password, as if the person had chosen one before.
        session.execute(
            text(
                "UPDATE users SET password_hash = (SELECT password_hash FROM users WHERE id = :o)"
                " WHERE id = :u"
            ),
            {"o": org.users["owner"], "u": UUID(user_id)},
        )
    answer = org.anonymous().post(
        f"/auth/invitations/{token}/accept", json={"password": "a-long-enough-password"}
    )
    assert answer.status_code == 200, answer.json


PROMOTIONS = (_promote_by_role, _promote_by_transfer, _promote_by_invitation)


def _link_viewer(org: Org, browser: Browser, verified_domain: str) -> tuple[Person, str]:
    """Link a viewer without confirmation, as their domain is proven; return person and token."""
    who = person(verified_domain)
    return who, browser.token(org, who)


@pytest.mark.parametrize("promote", PROMOTIONS, ids=lambda p: p.__name__)
def test_a_link_from_before_the_promotion_is_confirmed_first(
    org: Org, browser: Browser, verified_domain: str, promote: Callable[[Org, str, str], None]
) -> None:
    who, token = _link_viewer(org, browser, verified_domain)
    user_id = _get_user_id(org, token)
    promote(org, user_id, who.email)
    assert _get_role(org, who.email) == "owner"
    ended = _get_api(org, token).get("/auth/session")
    assert (ended.status_code, ended.json["error"]["code"]) == (401, "token_expired")
    confirmed = _sign_in_with_confirmation(org, _log_out_at_provider(browser), who)
    assert _get_api(org, confirmed).get("/schemas").status_code == 200
    _log_out_at_provider(browser).token(org, who)  # One confirmation is sufficient.


def test_each_promotion_requires_a_new_confirmation(
    org: Org, browser: Browser, verified_domain: str
) -> None:
    who, token = _link_viewer(org, browser, verified_domain)
    user_id = _get_user_id(org, token)
    _set_role(org, user_id, "owner")
    _sign_in_with_confirmation(org, _log_out_at_provider(browser), who)
    _set_role(org, user_id, "admin")
    browser.token(org, who)
    _set_role(org, user_id, "owner")
    _sign_in_with_confirmation(org, _log_out_at_provider(browser), who)


def test_a_code_from_before_the_promotion_opens_no_session(
    org: Org, browser: Browser, verified_domain: str
) -> None:
    who, token = _link_viewer(org, browser, verified_domain)
    user_id = _get_user_id(org, token)
    code = browser.complete_sign_in(org, who).json["data"]["code"]
    _set_role(org, user_id, "owner")
    _check_denied(browser.exchange(code), "Sign in again")


def test_an_emailed_code_from_before_the_promotion_is_invalid(
    sso_org: Org, browser: Browser
) -> None:
    who = person(email=sso_org.email("labeler"))
    assert browser.complete_sign_in(sso_org, who).json["data"]["confirmation"] == "email"
    _set_role(sso_org, str(sso_org.users["labeler"]), "owner")
    _check_denied(browser.exchange(_get_mailed_code(sso_org, who.email)), "Sign in again")


def test_a_confirmation_applies_to_the_provider_in_the_email(
    sso_org: Org, browser: Browser, hostile: Hostile
) -> None:
    """An administrator changes the provider after the email and before the confirmation."""
    who = person(email=sso_org.email("owner"))
    assert browser.complete_sign_in(sso_org, who).json["data"]["confirmation"] == "email"
    assert put(sso_org, build_sso_body(hostile)).status_code == 200
    _check_denied(browser.exchange(_get_mailed_code(sso_org, who.email)), "Sign in again")
    assert put(sso_org, build_sso_body(hostile)).status_code == 200
    hostile.claims = {"sub": "mallory", "email": who.email, "email_verified": True}
    answer = browser.complete_sign_in_at(hostile, sso_org)
    assert answer.json["data"]["confirmation"] == "email"


def test_a_password_session_continues_after_a_promotion(org: Org) -> None:
    _set_role(org, str(org.users["labeler"]), "owner")
    assert org.api("labeler").get("/auth/session").status_code == 200


def test_owners_of_older_releases_confirm_once(
    org: Org, browser: Browser, verified_domain: str
) -> None:
    who, token = _link_viewer(org, browser, verified_domain)
    user_id = _get_user_id(org, token)
    _set_role(org, user_id, "owner")
    with org.transaction() as session:
        session.execute(text("UPDATE memberships SET ownership_id = NULL"))
    _sign_in_with_confirmation(org, _log_out_at_provider(browser), who)
    browser.token(org, who)


@pytest.mark.usefixtures("rate_limits")
def test_repeated_sign_ins_send_one_email_and_its_link_stays_valid(
    org: Org, browser: Browser, hostile: Hostile
) -> None:
    assert put(org, build_sso_body(hostile)).status_code == 200
    email = org.email("owner")
    hostile.claims = {"sub": "olga", "email": email}
    answers = [browser.complete_sign_in_at(hostile, org).json for _ in range(3)]
    assert answers[0]["data"]["confirmation"] == "email"
    assert answers == answers[:1] * 3
    code = _get_mailed_code(org, email)
    assert len(list_messages_to(email)) == 1
    assert browser.exchange(code).status_code == 200
