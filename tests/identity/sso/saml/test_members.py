"""Owners and removed members who sign in by SAML, whose provider an administrator chooses."""

from dataclasses import replace

from werkzeug.test import TestResponse

from app.kit.ids import uuid7
from tests.factories.orgs import get_data
from tests.factories.saml import metadata
from tests.identity.sso.conftest import Browser
from tests.identity.sso.saml.conftest import Forger, configure
from tests.identity.sso.saml.test_interrupted import build_form, get_code
from tests.identity.sso.test_sign_in import _check_denied, _get_mailed_code, _get_role


def _sign_in(forger: Forger, browser: Browser) -> TestResponse:
    return browser.post_form(forger.org, build_form(forger, browser))


def _link(forger: Forger, browser: Browser) -> str:
    """Sign in as somebody new, who becomes a viewer. Return the path of the membership."""
    user_id = get_data(browser.exchange(get_code(forger, browser)))["user"]["id"]
    return f"/organizations/{forger.org.slug}/members/{user_id}"


def _email(forger: Forger) -> str:
    return f"{forger.subject}@people.example"


def test_a_link_from_before_the_promotion_is_confirmed_first(
    forger: Forger, browser: Browser
) -> None:
    path = _link(forger, browser)
    get_data(forger.org.api("owner").patch(path, json={"role": "owner"}))
    data = get_data(_sign_in(forger, browser))
    assert (data["code"], data["confirmation"]) == (None, "email")
    get_data(browser.exchange(_get_mailed_code(forger.org, _email(forger))))
    assert _sign_in(forger, browser).json["data"]["code"] is not None


def test_a_removed_member_is_refused_with_another_name_identifier_too(
    forger: Forger, browser: Browser
) -> None:
    path = _link(forger, browser)
    assert forger.org.api("admin").delete(path).status_code == 204
    _check_denied(_sign_in(forger, browser), "removed")
    forge, relay_state = forger.build_forge(browser.start(forger.org))
    other = replace(forge, subject=f"{forger.subject}-2", assertion_id=f"_{uuid7().hex}")
    _check_denied(browser.post_form(forger.org, forger.form(other.make(), relay_state)), "invit")
    assert _get_role(forger.org, _email(forger)) is None


def test_a_link_to_the_groups_changes_no_role(forger: Forger, browser: Browser) -> None:
    """Microsoft Entra ID sends a link instead of more than 150 groups."""

    def sign_in(**attributes: list[str]) -> TestResponse:
        forge, relay_state = forger.build_forge(browser.start(forger.org))
        root = replace(forge, attributes={**forge.attributes, **attributes}).make()
        return browser.post_form(forger.org, forger.form(root, relay_state))

    mapping = [{"group": "staff", "role": "reviewer"}]
    saml = {"metadata_xml": metadata().decode()}
    assert configure(forger.org, saml, group_mapping=mapping).status_code == 200
    assert sign_in(groups=["staff"]).status_code == 200
    link = {"http://schemas.microsoft.com/claims/groups.link": ["https://graph.example/x"]}
    _check_denied(sign_in(**link), "did not send your groups")
    assert _get_role(forger.org, _email(forger)) == "reviewer"
