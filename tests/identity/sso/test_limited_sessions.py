"""A session that single sign-on limited to one organization does not act on the whole account."""

from typing import Any

import pytest
from sqlalchemy import select

from app.identity.organizations.models import Membership
from app.identity.users.models import User
from app.kit import db, tenancy
from tests.factories import Org
from tests.factories.orgs import Api, get_data
from tests.identity.sso.conftest import Browser, build_sso_body, person, put
from tests.identity.sso.hostile import Hostile
from tests.identity.sso.test_sign_in import _add_membership, _check_denied
from tests.identity.sso.test_unproven_addresses import _link, _reset_password

CHANGES: dict[str, tuple[str, str, dict[str, Any]]] = {
    "the profile": ("patch", "/users/me", {"name": "Mallory"}),
    "the channels": (
        "patch",
        "/users/me/notification-preferences",
        {"mention": {"in_app": False, "email": False}},
    ),
    "the delivery preferences": (
        "put",
        "/notifications/delivery-preferences",
        {"email_frequency": "daily"},
    ),
}


class Limited:
    """A person who is signed in by a provider that the organization's administrator controls."""

    def __init__(self, org: Org, browser: Browser, provider: Hostile) -> None:
        assert put(org, build_sso_body(provider)).status_code == 200
        self.email = person().email
        provider.claims = {"sub": self.email, "email": self.email}
        self.org, self.browser, self.provider = org, browser, provider
        self.api = self.sign_in()

    def sign_in(self) -> Api:
        answer = self.browser.complete_sign_in_at(self.provider, self.org)
        login = self.browser.exchange(answer.json["data"]["code"]).json["data"]
        return Api(self.org.app.test_client(), login["access_token"], self.org.slug)

    def join(self, org: Org) -> None:
        """Make the person a member of `org`."""
        _add_membership(org, self.email, "viewer")

    def log_in(self) -> Api:
        body = {"email": self.email, "password": "three rivers meet here"}
        data = get_data(self.org.anonymous().post("/auth/login", json=body))
        return Api(self.org.app.test_client(), data["access_token"], None)


@pytest.fixture
def limited(org: Org, browser: Browser, hostile: Hostile) -> Limited:
    return Limited(org, browser, hostile)


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_member_of_other_organizations_cannot_change_the_account(
    limited: Limited, other_org: Org, change: tuple[str, str, dict[str, Any]]
) -> None:
    method, path, body = change
    read = "/notifications/delivery-preferences" if method == "put" else "/users/me"
    limited.join(other_org)
    before = limited.api.get(read).json["data"]
    answer = getattr(limited.api, method)(path, json=body)
    _check_denied(answer, "limited to one organization")
    assert limited.api.get(read).json["data"] == before


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_member_of_this_organization_only_can_change_the_account(
    limited: Limited, change: tuple[str, str, dict[str, Any]]
) -> None:
    method, path, body = change
    assert getattr(limited.api, method)(path, json=body).status_code == 200


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_session_with_a_password_can_change_the_account(
    limited: Limited, other_org: Org, change: tuple[str, str, dict[str, Any]]
) -> None:
    method, path, body = change
    limited.join(other_org)
    _reset_password(limited.org, other_org, limited.email, "")
    assert getattr(limited.log_in(), method)(path, json=body).status_code == 200


def test_revoke_all_ends_only_sessions_limited_to_the_same_organization(
    limited: Limited, other_org: Org
) -> None:
    _reset_password(limited.org, other_org, limited.email, "")
    whole = limited.log_in()
    # The identity was unlinked by the reset, so it is linked again.
    _link(limited.org, limited.email, limited.email, limited.provider.issuer)
    first, second = limited.sign_in(), limited.sign_in()
    answer = first.post("/auth/sessions/revoke-all")
    assert (answer.status_code, answer.json["data"]) == (200, {"revoked": 2})
    assert [api.get("/auth/session").status_code for api in (first, second)] == [401, 401]
    assert whole.get("/auth/session").status_code == 200
    third = limited.sign_in()
    assert whole.post("/auth/sessions/revoke-all").json["data"]["revoked"] == 3
    assert [api.get("/auth/session").status_code for api in (whole, third)] == [401, 401]


def test_a_limited_session_creates_no_organization(limited: Limited) -> None:
    answer = limited.api.post("/organizations", json={"name": "Mallory's"})
    _check_denied(answer, "limited to one organization")
    assert len(limited.api.get("/organizations").json["data"]) == 1
    with limited.org.app.app_context(), tenancy.across_organizations(reason="a test counts them"):
        joined = select(Membership).join(User, User.id == Membership.user_id)
        assert len(db.session().scalars(joined.where(User.email == limited.email)).all()) == 1
