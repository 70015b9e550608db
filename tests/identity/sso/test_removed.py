"""A removed person can return by an invitation only, whichever identity they use."""

import pytest
from sqlalchemy import text

from app.kit import db, tenancy
from tests.factories import Org
from tests.identity.sso.conftest import Browser, Configure, Person, mark_domains_verified, person
from tests.identity.sso.test_sign_in import _as, _denied, _fresh, _invite, _role


def _remove(org: Org, user_id: str, by: str = "admin") -> None:
    path = f"/organizations/{org.slug}/members/{user_id}"
    assert org.api(by).delete(path).status_code == 204


def _id_of(org: Org, token: str) -> str:
    found: str = _as(org, token).get("/auth/session").json["data"]["user"]["id"]
    return found


def _at_home(org: Org, name: str, domain: str) -> Person:
    """Give a member an address of a proven domain; they have never used single sign-on."""
    with org.app.app_context(), db.transaction() as session:
        session.execute(
            text("UPDATE users SET email = :e, email_key = :e WHERE id = :u"),
            {"e": f"{name}@{domain}", "u": org.users[name]},
        )
    return person(domain, email=f"{name}@{domain}")


@pytest.fixture
def at_home(org: Org, configure: Configure, domain: str) -> str:
    """Return the proven domain of an organization with single sign-on."""
    configure(org, email_domains=[domain])
    mark_domains_verified(org, domain)
    return domain


def test_another_identity_of_a_removed_person_is_refused(
    org: Org, browser: Browser, at_home: str
) -> None:
    who = person(at_home)
    _remove(org, _id_of(org, browser.token(org, who)))
    another = who.with_changes(sub=f"{who.claims['sub']}-2")
    _denied(_fresh(browser).complete_sign_in(org, another), "removed")
    assert _role(org, who.email) is None


@pytest.mark.parametrize("by", ["admin", "labeler"])
def test_a_removed_member_without_an_identity_is_refused(
    org: Org, browser: Browser, at_home: str, by: str
) -> None:
    who = _at_home(org, "labeler", at_home)
    _remove(org, str(org.users["labeler"]), by)
    _denied(browser.complete_sign_in(org, who), "invitation")
    assert _role(org, who.email) is None


def test_losing_a_group_does_not_undo_the_removal(
    org: Org, browser: Browser, configure: Configure
) -> None:
    configure(org, group_mapping=[{"group": "staff", "role": "viewer"}], require_group=True)
    who = person(groups="staff")
    _remove(org, _id_of(org, browser.token(org, who)))
    _denied(_fresh(browser).complete_sign_in(org, who.with_changes(groups="none")), "groups")
    _denied(_fresh(browser).complete_sign_in(org, who), "removed")


def test_a_new_invitation_undoes_the_removal_for_every_identity(
    org: Org, browser: Browser, at_home: str
) -> None:
    who = person(at_home)
    _remove(org, _id_of(org, browser.token(org, who)))
    _invite(org, who.email, role="reviewer")
    another = who.with_changes(sub=f"{who.claims['sub']}-2")
    _fresh(browser).token(org, another)
    assert _role(org, who.email) == "reviewer"
    _fresh(browser).token(org, who)


def test_another_organization_still_accepts_them(
    org: Org, other_org: Org, browser: Browser, configure: Configure, at_home: str
) -> None:
    who = _at_home(org, "labeler", at_home)
    with other_org.app.app_context(), tenancy.organization(other_org.id), db.transaction() as s:
        s.execute(
            text(
                "INSERT INTO memberships (organization_id, user_id, role, created_at)"
                " VALUES (:o, :u, 'viewer', now())"
            ),
            {"o": other_org.id, "u": org.users["labeler"]},
        )
    _remove(org, str(org.users["labeler"]))
    configure(other_org)
    answer = browser.complete_sign_in(other_org, who)
    assert answer.json["data"]["confirmation"] == "email"
