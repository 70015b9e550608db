"""Whoever makes a provider claim another person's address gets nothing that belongs to them."""

from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import select

from app.identity.control_plane import accounts
from app.identity.sso.models import Identity
from app.identity.users.models import User
from app.kit import db, tenancy
from tests.factories import Org, drain
from tests.factories.emails import list_emails_to
from tests.factories.orgs import Api, get_data
from tests.identity.sso.conftest import Browser, Configure, Person, build_sso_body, person, put
from tests.identity.sso.hostile import Hostile
from tests.identity.sso.test_sign_in import (
    _check_denied,
    _get_role,
    _get_user_id,
    _invite,
    _log_out_at_provider,
    _remove,
)

PASSWORD = "three rivers meet here"


def _newest_token(org: Org, email: str, subject: str) -> str:
    """Send the pending emails, and return the token in the last one with a subject."""
    drain(org.app)
    return [message.token for message in list_emails_to(email) if subject in message.subject][-1]


def _open_invitations(org: Org) -> list[str]:
    listed = org.api("admin").get(f"/organizations/{org.slug}/invitations?status=open")
    return [invitation["email"] for invitation in listed.json["data"]]


def test_an_unverified_address_does_not_accept_an_invitation(
    org: Org, browser: Browser, configure: Configure
) -> None:
    configure(org, default_role="viewer")
    team = org.api("owner").post("/teams", json={"name": "North"}).json["data"]["id"]
    who = person()
    _invite(org, who.email, role="admin", team_ids=[team])
    browser.token(org, who)
    assert _get_role(org, who.email) == "viewer"
    assert org.api("owner").get(f"/teams/{team}").json["data"]["member_count"] == 0
    assert _open_invitations(org) == [who.email]


def test_an_invitation_to_an_unverified_address_does_not_undo_a_removal(
    sso_org: Org, browser: Browser
) -> None:
    who = person()
    _remove(sso_org, _get_user_id(sso_org, browser.token(sso_org, who)))
    _invite(sso_org, who.email, role="reviewer")
    _check_denied(_log_out_at_provider(browser).complete_sign_in(sso_org, who), "emailed link")
    assert _get_role(sso_org, who.email) is None
    assert _open_invitations(sso_org) == [who.email]


def test_a_verified_address_accepts_an_invitation_in_an_unproven_domain(
    sso_org: Org, browser: Browser
) -> None:
    who = person()
    user_id = _get_user_id(sso_org, browser.token(sso_org, who))
    with sso_org.app.app_context(), db.transaction() as session:
        session.get_one(User, user_id).email_verified_at = db.utc_now()
    _remove(sso_org, user_id)
    _invite(sso_org, who.email, role="reviewer")
    _log_out_at_provider(browser).token(sso_org, who)
    assert _get_role(sso_org, who.email) == "reviewer"


def _reset_password(org: Org, _other_org: Org, email: str, _token: str) -> None:
    anonymous = org.anonymous()
    anonymous.post("/auth/password-reset/request", json={"email": email})
    body = {"token": _newest_token(org, email, "password"), "password": PASSWORD}
    get_data(anonymous.post("/auth/password-reset/confirm", json=body))


def _accept_invitation(org: Org, other_org: Org, email: str, token: str) -> None:
    _invite(other_org, email, role="viewer")
    path = f"/auth/invitations/{_newest_token(org, email, 'nvit')}/accept"
    get_data(Api(org.app.test_client(), token, None).post(path, json={}))


def _confirm_address(address: str) -> Callable[[Org, Org, str, str], None]:
    def confirm(org: Org, _other_org: Org, email: str, _token: str) -> None:
        target = address.format(email)
        with org.app.app_context(), db.transaction():
            accounts.set_password(email, PASSWORD)
        anonymous = org.anonymous()
        login = anonymous.post("/auth/login", json={"email": email, "password": PASSWORD})
        api = Api(org.app.test_client(), login.json["data"]["access_token"], None)
        body = {"email": target, "password": PASSWORD}
        assert api.post("/auth/email-change/request", json=body).status_code == 202
        sent = {"token": _newest_token(org, target, "onfirm")}
        get_data(anonymous.post("/auth/email-change/confirm", json=sent))

    return confirm


PROOFS: dict[str, Any] = {
    "a reset password": _reset_password,
    "an accepted invitation": _accept_invitation,
    "the confirmed address": _confirm_address("{}"),
    "a new address": _confirm_address("new.{}"),
}


def _list_identities(org: Org, email: str) -> list[str]:
    with org.app.app_context(), tenancy.across_organizations(reason="test"):
        statement = select(Identity.subject).join(User, User.id == Identity.user_id)
        return sorted(db.session().scalars(statement.where(User.email == email)))


def _link(org: Org, email: str, subject: str, issuer: str = "https://other.example") -> None:
    """Link another identity to the account with this address."""
    with org.transaction() as session:
        user = session.scalars(select(User).where(User.email == email)).one()
        session.add(
            Identity(user_id=user.id, issuer=issuer, subject=subject, email=email, anchor="")
        )


@pytest.mark.parametrize("proof", PROOFS.values(), ids=PROOFS)
def test_a_proof_of_the_address_unlinks_the_strangers_identities(
    org: Org, other_org: Org, browser: Browser, hostile: Hostile, proof: Any
) -> None:
    assert put(org, build_sso_body(hostile)).status_code == 200
    victim = person()
    hostile.claims = {"sub": "stranger", "email": victim.email}

    def sign_in() -> Any:
        answer = browser.complete_sign_in_at(hostile, org)
        assert answer.status_code in (200, 403), answer.json
        return answer

    login = browser.exchange(sign_in().json["data"]["code"]).json["data"]
    _link(other_org, victim.email, "stranger elsewhere")
    proof(org, other_org, victim.email, login["access_token"])

    with org.app.app_context():
        user = db.session().get_one(User, login["user"]["id"])
        email = user.email
        assert user.email_verified_at is not None
    assert _list_identities(org, email) == []
    if email == victim.email:
        assert sign_in().json["data"] == {
            "code": None,
            "expires_in": None,
            "confirmation": "email",
            "next": None,
        }
    else:
        another = browser.exchange(sign_in().json["data"]["code"]).json["data"]
        assert another["user"]["id"] != login["user"]["id"]


def test_a_proof_of_a_verified_address_keeps_identities(sso_org: Org, other_org: Org) -> None:
    who: Person = person(email=sso_org.email("labeler"))
    with sso_org.app.app_context(), db.transaction() as session:
        session.get_one(User, sso_org.users["labeler"]).email_verified_at = db.utc_now()
    _link(sso_org, who.email, "mine")
    _link(other_org, who.email, "mine elsewhere")
    _reset_password(sso_org, other_org, who.email, "")
    assert _list_identities(sso_org, who.email) == ["mine", "mine elsewhere"]


def test_a_confirmation_by_single_sign_on_unlinks_identities_everywhere(
    org: Org, other_org: Org, browser: Browser, hostile: Hostile
) -> None:
    """The confirmed identity is kept."""
    assert put(org, build_sso_body(hostile)).status_code == 200
    email = org.email("labeler")
    with org.app.app_context(), db.transaction() as session:
        session.get_one(User, org.users["labeler"]).email_verified_at = None
    _link(org, email, "stranger")
    _link(other_org, email, "stranger elsewhere")
    hostile.claims = {"sub": "holder", "email": email}
    answer = browser.complete_sign_in_at(hostile, org)
    assert answer.json["data"]["confirmation"] == "email"
    code = _newest_token(org, email, "")
    assert browser.exchange(code).status_code == 200
    assert _list_identities(org, email) == ["holder"]
