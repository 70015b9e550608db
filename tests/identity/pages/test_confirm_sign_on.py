"""The page that confirms a single sign-on, in the browser in which it began."""

from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

import pytest
from authlib.oauth2.rfc7636 import create_s256_code_challenge

from tests.factories import Org
from tests.factories.counts import run_sql
from tests.factories.emails import list_emails_to
from tests.identity.pages.conftest import Visitor, link_of
from tests.identity.sso.conftest import *  # noqa: F403 - its fixtures
from tests.identity.sso.conftest import Browser, Configure, Person, count_identities, person

Work = Callable[[], None]


def _build_person(org: Org) -> Person:
    return person(email=org.email("labeler"))


def _request_confirmation(org: Org, browser: Browser, who: Person, work: Work, **start: Any) -> str:
    """Sign in at the provider, and return the link in the email to the member."""
    url = browser.start(org, **start)
    assert browser.follow_redirect(browser.sign_in(url, who)).status_code in (200, 303)
    work()
    return link_of(list_emails_to(who.email)[-1])


def test_the_browser_of_the_sign_in_confirms(
    org: Org, browser: Browser, configure: Configure, work: Work
) -> None:
    configure(org)
    who = _build_person(org)
    link = _request_confirmation(org, browser, who, work)
    assert urlsplit(link).path == "/confirm-sign-on"
    visitor = Visitor(browser.service)
    page = visitor.open(link)
    assert (page.status, page.heading) == (200, "Confirm your single sign-on")
    assert who.email in page.text
    assert "Test" in page.text
    assert count_identities(org) == 0, "GET changes nothing"
    done = visitor.send(page)
    assert (done.status, done.heading) == (200, "Your single sign-on is confirmed")
    assert count_identities(org) == 1
    used = visitor.open(link)
    assert (used.status, used.has_form) == (400, False)
    assert "Begin the sign-in again" in used.text
    # From now on no confirmation is needed.
    assert Browser(org.app).token(org, who)


def test_another_browser_does_not_use_the_code_up(
    org: Org, browser: Browser, other_browser: Browser, configure: Configure, work: Work
) -> None:
    configure(org)
    who = _build_person(org)
    link = _request_confirmation(org, browser, who, work)
    page = Visitor(browser.service).open(link)
    for wrong in (Visitor(other_browser.service), Visitor(org.app.test_client())):
        for shown in (wrong.open(link), wrong.send(page)):
            assert (shown.status, shown.has_form) == (400, False)
            assert shown.problems == [
                "Open this link in the browser that you began to sign in with."
            ]
            assert who.email not in shown.text
    assert count_identities(org) == 0
    assert Visitor(browser.service).send(page).status == 200


def test_a_sign_in_that_an_application_began(
    org: Org, browser: Browser, configure: Configure, work: Work
) -> None:
    """It keeps the proof that the exchange takes, so the code is left for it."""
    configure(org)
    who = _build_person(org)
    verifier = "v" * 43
    link = _request_confirmation(
        org, browser, who, work, code_challenge=create_s256_code_challenge(verifier)
    )
    visitor = Visitor(browser.service)
    page = visitor.open(link)
    assert (page.status, page.has_form) == (400, False)
    assert "An application began this sign-in" in page.problems[0]
    code = list_emails_to(who.email)[-1].token
    assert browser.exchange(code, code_verifier=verifier).status_code == 200


def test_an_expired_link_and_a_code_that_was_not_emailed(
    org: Org, browser: Browser, configure: Configure, work: Work
) -> None:
    configure(org)
    who = _build_person(org)
    link = _request_confirmation(org, browser, who, work)
    visitor = Visitor(browser.service)
    page = visitor.open(link)
    run_sql(org, "UPDATE sso_codes SET expires_at = now()")
    for shown in (visitor.open(link), visitor.send(page)):
        assert (shown.status, shown.has_form) == (400, False)
    newcomer = Browser(org.app)
    code = newcomer.complete_sign_in(org, person()).json["data"]["code"]
    assert code
    assert Visitor(newcomer.service).open(f"/confirm-sign-on?token={code}").status == 400
    assert newcomer.exchange(code).status_code == 200


def test_single_sign_on_was_turned_off_in_between(
    org: Org, browser: Browser, configure: Configure, work: Work
) -> None:
    configure(org)
    link = _request_confirmation(org, browser, _build_person(org), work)
    visitor = Visitor(browser.service)
    page = visitor.open(link)
    configure(org, enabled=False)
    refused = visitor.send(page)
    assert (refused.status, refused.has_form) == (403, False)
    assert "no longer available to you" in refused.problems[0]


@pytest.mark.parametrize("token", ["", "x", "%00", "a" * 5000])
def test_an_unknown_link(visitor: Visitor, token: str) -> None:
    page = visitor.open(f"/confirm-sign-on?token={token}")
    assert (page.status, page.has_form) == (400, False)
