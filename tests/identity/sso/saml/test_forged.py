"""Invalid responses over HTTP: replayed, wrapped, forged, and with attacks on parsers."""

import base64
import socket
from collections.abc import Callable
from functools import partial

import pytest
from authlib.oauth2.rfc7636 import create_s256_code_challenge
from lxml import etree
from werkzeug.test import TestResponse

from app.identity.sso import cookies
from tests.factories.errors import check_error
from tests.factories.orgs import get_data
from tests.factories.queueing import run_concurrently
from tests.factories.saml import Forge, assertion, copy_element, find
from tests.identity.sso.conftest import HOST, Browser
from tests.identity.sso.saml.conftest import Forger, Form, count_rows
from tests.identity.sso.saml.test_wrapping import EVERY, EVIL, Attack, _name


def get_error_message(answer: TestResponse) -> str:
    return str(check_error(answer, 401, "invalid_credentials")["message"])


def test_a_matching_response_is_accepted(forger: Forger, browser: Browser) -> None:
    before = count_rows(forger.org)
    forge, relay_state = forger.build_forge(browser.start(forger.org))
    get_data(browser.post_form(forger.org, forger.form(forge.make(), relay_state)))
    assert {k: v - before[k] for k, v in count_rows(forger.org).items()} == dict.fromkeys(before, 1)


def _for_both(forger: Forger, browser: Browser) -> list[Form]:
    """Return two unsigned responses with one assertion that confirms two requests."""
    first, first_state = forger.build_forge(browser.start(forger.org))
    second, second_state = forger.build_forge(browser.start(forger.org))

    def confirm_both(root: etree._Element) -> None:
        confirmation = find(root, "saml:SubjectConfirmation")
        again = copy_element(confirmation)
        again[0].set("InResponseTo", second.request)
        confirmation.addnext(again)

    root = first.make(confirm_both)
    forms = [forger.form(root, first_state)]
    root.set("InResponseTo", second.request)
    return [*forms, forger.form(root, second_state)]


def test_an_assertion_is_used_once(forger: Forger, browser: Browser) -> None:
    first, second = _for_both(forger, browser)
    assert browser.post_form(forger.org, first).status_code == 200
    before = count_rows(forger.org)
    assert "used before" in get_error_message(browser.post_form(forger.org, second))
    assert count_rows(forger.org) == before


def test_an_assertion_is_used_once_by_concurrent_requests(forger: Forger, browser: Browser) -> None:
    forms = _for_both(forger, browser)
    posts = [partial(browser.copy().post_form, forger.org, form) for form in forms]
    assert sorted(answer.status_code for answer in run_concurrently(*posts)) == [200, 401]


def test_a_refused_assertion_can_be_used_again(forger: Forger, browser: Browser) -> None:
    """An assertion is recorded only together with the result of the sign-in."""
    first, second = _for_both(forger, browser)
    first["RelayState"], second["RelayState"] = second["RelayState"], first["RelayState"]
    get_error_message(browser.post_form(forger.org, first))
    _, third = _for_both(forger, browser)
    assert browser.post_form(forger.org, third).status_code == 200


@pytest.mark.parametrize(("attack", "sign"), EVERY, ids=_name)
def test_wrapped_signatures_are_refused(
    attack: Attack, sign: tuple[str, ...], forger: Forger, browser: Browser
) -> None:
    before = count_rows(forger.org)
    forge, relay_state = forger.build_forge(browser.start(forger.org))
    root = attack(forge.with_changes(sign=sign).make(), "_evil")
    assert EVIL in etree.tostring(root).decode()
    get_error_message(browser.post_form(forger.org, forger.form(root, relay_state)))
    assert count_rows(forger.org) == before


def _unsigned(forge: Forge) -> etree._Element:
    return forge.with_changes(sign=()).make()


def _by_a_stranger(forge: Forge) -> etree._Element:
    return forge.with_changes(key_name="other").make()


def _changed(forge: Forge) -> etree._Element:
    root = forge.make()
    find(root, "saml:NameID").text = "owner"
    return root


def _more_groups(forge: Forge) -> etree._Element:
    root = forge.make()
    statement = find(assertion(root), "saml:AttributeStatement")
    statement.append(etree.fromstring(etree.tostring(statement[0])))
    statement[-1].set("Name", "groups")
    return root


@pytest.mark.parametrize("make", [_unsigned, _by_a_stranger, _changed, _more_groups])
def test_forgeries_are_refused(
    make: Callable[[Forge], etree._Element], forger: Forger, browser: Browser
) -> None:
    before = count_rows(forger.org)
    forge, relay_state = forger.build_forge(browser.start(forger.org))
    get_error_message(browser.post_form(forger.org, forger.form(make(forge), relay_state)))
    assert count_rows(forger.org) == before


def test_parsing_a_document_fetches_nothing(forger: Forger, browser: Browser) -> None:
    forge, relay_state = forger.build_forge(browser.start(forger.org))
    with socket.create_server((HOST, 0)) as server:
        server.settimeout(0.2)
        there = f"http://{HOST}:{server.getsockname()[1]}"
        for head in (
            f"<!DOCTYPE x SYSTEM '{there}/x.dtd'>",
            f"<!DOCTYPE x [<!ENTITY % a SYSTEM '{there}/'> %a;]>",
            f"<?xml-stylesheet href='{there}/x.xsl'?>",
        ):
            document = head.encode() + etree.tostring(forge.make())
            form = {"SAMLResponse": base64.b64encode(document).decode(), "RelayState": relay_state}
            assert browser.post_form(forger.org, form).status_code == 422
        with pytest.raises(TimeoutError):
            server.accept()


def test_a_comment_does_not_truncate_a_name(forger: Forger, browser: Browser) -> None:
    forge, relay_state = forger.build_forge(browser.start(forger.org))
    text = etree.tostring(forge.make()).decode()
    bent = text.replace(
        f">{forger.subject}<", f">{forger.subject[:-3]}<!---->{forger.subject[-3:]}<"
    )
    assert bent != text
    form = {"SAMLResponse": base64.b64encode(bent.encode()).decode(), "RelayState": relay_state}
    assert browser.post_form(forger.org, form).status_code == 422
    # The first request did not use the sign-in up, so the unmodified response is accepted.
    assert browser.post_form(forger.org, forger.form(forge.make(), relay_state)).status_code == 200


def test_the_cookie_is_sent_from_the_providers_site(
    forger: Forger, browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Over TLS, the cookie is marked so that browsers send it with a cross-site POST."""
    monkeypatch.setattr(cookies, "_is_secure", lambda: True)
    https = {"base_url": "https://localhost"}
    body = {"org_slug": forger.org.slug}
    started = browser.service.post("/api/v1/auth/sso/start", json=body, **https)
    cookie = started.headers["Set-Cookie"]
    assert cookie.startswith("__Host-sso=")
    assert {"Secure", "HttpOnly", "SameSite=None", "Path=/"} <= set(cookie.split("; "))
    forge, relay_state = forger.build_forge(started.json["data"]["redirect_url"])
    form = forger.form(forge.make(), relay_state)
    path = f"/api/v1/auth/sso/{forger.org.slug}/saml/acs"
    assert Browser(forger.org.app).service.post(path, data=form, **https).status_code == 400
    assert browser.service.post(path, data=form, **https).status_code == 200


def test_an_application_may_prove_itself_instead_of_the_browser(
    forger: Forger, browser: Browser, other_browser: Browser
) -> None:
    """With a challenge, the response may arrive in another browser.

    That browser cannot redeem the code.
    """
    verifier = "v" * 43
    url = browser.start(forger.org, code_challenge=create_s256_code_challenge(verifier))
    forge, relay_state = forger.build_forge(url)
    arrived = other_browser.post_form(forger.org, forger.form(forge.make(), relay_state))
    assert arrived.status_code == 200, arrived.json
    code = arrived.json["data"]["code"]
    assert browser.exchange(code, code_verifier=verifier).status_code == 200
