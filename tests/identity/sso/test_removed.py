"""A removed person can return by an invitation only, whichever identity they use."""

import pytest

from tests.factories import Org
from tests.factories.counts import run_sql
from tests.identity.sso.conftest import Browser, Configure, Person, person
from tests.identity.sso.test_sign_in import (
    _add_membership,
    _check_denied,
    _get_role,
    _get_user_id,
    _invite,
    _log_out_at_provider,
    _remove,
)


def _set_address_in_domain(org: Org, name: str, domain: str) -> Person:
    """Give a member an address of a proven domain; they have never used single sign-on."""
    who = person(domain, email=f"{name}@{domain}")
    set_email = "UPDATE users SET email = :email, email_key = :email WHERE id = :id"
    run_sql(org, set_email, email=who.email, id=org.users[name])
    return who


def test_another_identity_of_a_removed_person_is_refused(
    org: Org, browser: Browser, verified_domain: str
) -> None:
    who = person(verified_domain)
    _remove(org, _get_user_id(org, browser.token(org, who)))
    another = who.with_changes(sub=f"{who.claims['sub']}-2")
    _check_denied(_log_out_at_provider(browser).complete_sign_in(org, another), "removed")
    assert _get_role(org, who.email) is None


@pytest.mark.parametrize("by", ["admin", "labeler"])
def test_a_removed_member_without_an_identity_is_refused(
    org: Org, browser: Browser, verified_domain: str, by: str
) -> None:
    who = _set_address_in_domain(org, "labeler", verified_domain)
    _remove(org, str(org.users["labeler"]), by)
    _check_denied(browser.complete_sign_in(org, who), "invitation")
    assert _get_role(org, who.email) is None


def test_losing_a_group_does_not_undo_the_removal(
    org: Org, browser: Browser, configure: Configure
) -> None:
    configure(org, group_mapping=[{"group": "staff", "role": "viewer"}], require_group=True)
    who = person(groups="staff")
    _remove(org, _get_user_id(org, browser.token(org, who)))
    _check_denied(
        _log_out_at_provider(browser).complete_sign_in(org, who.with_changes(groups="none")),
        "groups",
    )
    _check_denied(_log_out_at_provider(browser).complete_sign_in(org, who), "removed")


def test_a_new_invitation_undoes_the_removal_for_every_identity(
    org: Org, browser: Browser, verified_domain: str
) -> None:
    who = person(verified_domain)
    _remove(org, _get_user_id(org, browser.token(org, who)))
    _invite(org, who.email, role="reviewer")
    another = who.with_changes(sub=f"{who.claims['sub']}-2")
    _log_out_at_provider(browser).token(org, another)
    assert _get_role(org, who.email) == "reviewer"
    _log_out_at_provider(browser).token(org, who)


def test_another_organization_still_accepts_them(
    org: Org, other_org: Org, browser: Browser, configure: Configure, verified_domain: str
) -> None:
    who = _set_address_in_domain(org, "labeler", verified_domain)
    _add_membership(other_org, who.email, "viewer")
    _remove(org, str(org.users["labeler"]))
    configure(other_org)
    answer = browser.complete_sign_in(other_org, who)
    assert answer.json["data"]["confirmation"] == "email"
