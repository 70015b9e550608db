"""Signing in with a real OpenID provider, from the start to the access token."""

from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from authlib.oauth2.rfc7636 import create_s256_code_challenge
from flask import Flask
from sqlalchemy import text
from werkzeug.test import TestResponse

from app.identity.sso.models import Code
from app.kit import db, tenancy
from tests.factories import Org
from tests.factories.counts import run_sql
from tests.factories.errors import check_error
from tests.factories.orgs import Api, get_data
from tests.factories.queueing import run_concurrently
from tests.identity.sso.conftest import (
    CALLBACK,
    SECRET,
    Browser,
    Configure,
    build_sso_body,
    parameters,
    person,
    put,
)
from tests.identity.sso.hostile import Hostile


@pytest.fixture
def callback_url(sso_org: Org, browser: Browser) -> str:
    """Configure the provider, and return the URL to which it redirects a person who signs in."""
    return browser.sign_in(browser.start(sso_org), person())


@pytest.fixture
def code(browser: Browser, callback_url: str) -> str:
    """Return the code that the browser can exchange for a session."""
    return str(browser.follow_redirect(callback_url).json["data"]["code"])


@pytest.mark.parametrize("client", ["basic", "post", "public", "elliptic"])
def test_a_new_person_signs_in(
    org: Org, browser: Browser, configure: Configure, client: str
) -> None:
    configure(org, client=client, default_role="labeler")
    who = person()
    callback_data = get_data(browser.complete_sign_in(org, who))
    assert (callback_data["confirmation"], callback_data["next"], callback_data["expires_in"]) == (
        None,
        None,
        60,
    )
    login = get_data(browser.exchange(callback_data["code"]))
    assert (login["user"]["email"], login["user"]["name"]) == (who.email, "Pat Example")
    assert login["organizations"] == [{"slug": org.slug, "name": "Test", "role": "labeler"}]
    api = Api(org.app.test_client(), login["access_token"], org.slug)
    assert api.get("/schemas").status_code == 200


def test_the_application_gets_the_code_by_redirect(sso_org: Org, browser: Browser) -> None:
    back = "https://app.example/signed-in?tab=1"
    url = browser.start(sso_org, redirect_uri=back, next="/documents?page=2")
    answer = browser.follow_redirect(browser.sign_in(url, person()))
    assert answer.status_code == 303
    location = answer.headers["Location"]
    assert location.startswith("https://app.example/signed-in?tab=1&code=")
    redirect_query = parameters(location)
    assert (redirect_query["next"], set(redirect_query)) == (
        "/documents?page=2",
        {"tab", "code", "next"},
    )
    assert browser.exchange(redirect_query["code"]).status_code == 200


def test_the_application_gets_errors_by_redirect(
    org: Org, browser: Browser, configure: Configure
) -> None:
    configure(org, email_domains=["elsewhere.example"])
    url = browser.start(org, redirect_uri="https://app.example/")
    answer = browser.follow_redirect(browser.sign_in(url, person()))
    redirect_query = parameters(answer.headers["Location"])
    assert (answer.status_code, redirect_query["error"]) == (303, "permission_denied")
    assert "domain" in redirect_query["error_description"]


def test_a_person_who_cancels_at_the_provider(sso_org: Org, browser: Browser) -> None:
    url = browser.start(sso_org)
    page = browser.provider.get(url, timeout=60)
    answer = browser.provider.get(f"{page.url}/abort", allow_redirects=False, timeout=60)
    answer = browser.provider.get(answer.headers["Location"], allow_redirects=False, timeout=60)
    refused = browser.follow_redirect(answer.headers["Location"])
    assert refused.status_code == 403, refused.json
    assert "access_denied" in refused.json["error"]["message"]


def test_an_application_with_a_challenge_needs_no_cookie(
    sso_org: Org, app: Flask, browser: Browser
) -> None:
    verifier = "v" * 43
    application, other = Browser(app), Browser(app)
    url = application.start(sso_org, code_challenge=create_s256_code_challenge(verifier))
    code = browser.follow_redirect(browser.sign_in(url, person())).json["data"]["code"]
    assert application.exchange(code, code_verifier=verifier).status_code == 200
    for code_verifier in (None, "w" * 43, "v", "é" * 50):
        url = application.start(sso_org, code_challenge=create_s256_code_challenge(verifier))
        code = browser.follow_redirect(browser.sign_in(url, person())).json["data"]["code"]
        assert other.exchange(code, code_verifier=code_verifier).status_code == 401


def _check_state_refused(answer: TestResponse) -> None:
    check_error(answer, 400, "validation_error", field="state")


def test_a_state_of_another_browser(
    org: Org, browser: Browser, other_browser: Browser, callback_url: str
) -> None:
    _check_state_refused(other_browser.follow_redirect(callback_url))
    other_browser.start(org)  # now it has its own cookie
    _check_state_refused(other_browser.follow_redirect(callback_url))
    assert browser.follow_redirect(callback_url).status_code == 200, "the right one still may"


def test_a_state_twice(browser: Browser, callback_url: str) -> None:
    assert browser.follow_redirect(callback_url).status_code == 200
    _check_state_refused(browser.follow_redirect(callback_url))


def test_head_does_not_use_up_a_state(org: Org, browser: Browser, hostile: Hostile) -> None:
    """A scanner that asks for a link before the browser follows it must not end the sign-in."""
    assert put(org, build_sso_body(hostile)).status_code == 200
    hostile.claims = {"sub": "new", "email": person().email}
    query = hostile.build_callback_query(browser.start(org))
    head = browser.service.head(CALLBACK, query_string=query)
    assert (head.status_code, head.data) == (200, b"")
    get_data(browser.send_callback(query))


def test_an_unknown_state(browser: Browser, callback_url: str) -> None:
    _check_state_refused(browser.follow_redirect(callback_url, state="made-up"))


def test_an_expired_state(org: Org, browser: Browser, callback_url: str) -> None:
    run_sql(org, "UPDATE sso_flows SET expires_at = now()")
    _check_state_refused(browser.follow_redirect(callback_url))


def test_a_state_is_used_up_by_a_failure(browser: Browser, callback_url: str) -> None:
    assert browser.follow_redirect(callback_url, iss="https://other.example").status_code == 401
    _check_state_refused(browser.follow_redirect(callback_url))


def test_a_code_of_the_provider_twice(org: Org, browser: Browser, callback_url: str) -> None:
    assert browser.follow_redirect(callback_url).status_code == 200
    again = browser.sign_in(browser.start(org), person())
    refused = browser.follow_redirect(again, code=parameters(callback_url)["code"])
    assert refused.status_code == 401, refused.json


def test_a_code_of_another_persons_sign_in(
    org: Org, browser: Browser, other_browser: Browser, callback_url: str
) -> None:
    """Code injection: the PKCE verifier is the victim's, the code is not."""
    stolen = parameters(other_browser.sign_in(other_browser.start(org), person()))["code"]
    refused = browser.follow_redirect(callback_url, code=stolen)
    assert refused.status_code == 401, refused.json


def test_pkce_is_required_throughout(sso_org: Org, browser: Browser) -> None:
    url = browser.start(sso_org)
    asked = parameters(url)
    assert (asked["code_challenge_method"], len(asked["code_challenge"])) == ("S256", 43)
    without = url.replace(f"&code_challenge={asked['code_challenge']}", "")
    assert without != url
    refused = browser.follow_redirect(browser.sign_in(without, person()))
    assert refused.status_code == 403, "the provider wants it"


def test_the_same_person_has_one_account(sso_org: Org, browser: Browser) -> None:
    who = person()
    first = browser.token(sso_org, who)
    browser.provider.cookies.clear()
    second = browser.token(
        sso_org, who.with_changes(name="Renamed", email="new.address@people.example")
    )
    mine = [
        Api(sso_org.app.test_client(), token, None).get("/auth/session").json["data"]
        for token in (first, second)
    ]
    assert mine[0]["user"] == mine[1]["user"]
    assert mine[1]["user"]["email"] == who.email


def test_a_code_opens_one_session(browser: Browser, code: str) -> None:
    assert browser.exchange(code).status_code == 200
    check_error(browser.exchange(code), 401, "invalid_credentials")


def test_only_one_of_two_concurrent_exchanges_succeeds(browser: Browser, code: str) -> None:
    answers = run_concurrently(*(partial(browser.copy().exchange, code) for _ in range(4)))
    assert sorted(answer.status_code for answer in answers) == [200, 401, 401, 401]


def test_a_code_of_another_browser(
    org: Org, browser: Browser, other_browser: Browser, code: str
) -> None:
    """Login forgery: a victim's application receives the attacker's code."""
    other_browser.start(org)
    assert other_browser.exchange(code).status_code == 401
    assert browser.exchange(code).status_code == 401, "it is used up"


def test_a_code_is_valid_for_one_minute(org: Org, browser: Browser, code: str) -> None:
    with org.transaction() as session:
        row = session.query(Code).one()
        assert row.expires_at - row.created_at <= timedelta(seconds=61)
        row.expires_at = db.utc_now()
    assert browser.exchange(code).status_code == 401


def test_secrets_are_not_stored_in_plain_text(sso_org: Org, browser: Browser) -> None:
    url = browser.start(sso_org)
    code = browser.follow_redirect(browser.sign_in(url, person())).json["data"]["code"]
    secrets = [code, parameters(url)["state"], browser.service.get_cookie("sso").value, SECRET]
    with sso_org.app.app_context(), tenancy.organization(sso_org.id):
        tables = ("sso_flows", "sso_codes", "sso_configurations")
        rows = [
            row
            for table in tables
            for row in db.session().scalars(text(f"SELECT t::text FROM {table} t"))
        ]
    assert len(rows) >= 3
    assert not [secret for secret in secrets for row in rows if secret in row]


def test_the_cookie_is_bound_to_the_browser(sso_org: Org, browser: Browser) -> None:
    answer = browser.post("/auth/sso/start", org_slug=sso_org.slug)
    cookie = answer.headers["Set-Cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Lax" in cookie
    assert "Path=/;" in cookie + ";"
    again = browser.post("/auth/sso/start", org_slug=sso_org.slug).headers["Set-Cookie"]
    assert again == cookie, "two tabs do not get in each other's way"


@pytest.mark.parametrize(
    ("body", "status", "field"),
    [
        ({}, 400, "email"),
        ({"email": "a@b.example", "org_slug": "x"}, 400, "email"),
        ({"org_slug": "there-is-none"}, 404, None),
        ({"email": "a@unproven.example"}, 404, None),
        ({"email": "no address"}, 404, None),
        ({"email": "a@"}, 404, None),
        ({"org_slug": ""}, 422, "org_slug"),
        ({"org_slug": 7}, 422, "org_slug"),
        ({"nonsense": 7}, 422, "nonsense"),
    ],
)
def test_a_start_without_single_sign_on(
    browser: Browser, body: dict[str, Any], status: int, field: str | None
) -> None:
    answer = browser.post("/auth/sso/start", **body)
    assert (answer.status_code, answer.json["error"].get("field")) == (status, field)


@pytest.mark.parametrize(
    "uri",
    [
        "https://evil.example/",
        "https://app.example.evil.example/",
        "https://app.example@evil.example/",
        "https://user@app.example/",
        "http://app.example/",
        "https://app.example:444/",
        "https://app.example\\@evil.example/",
        "//app.example/",
        "javascript:alert(1)//https://app.example",
        "https://app.example/#fragment",
        "https://app.example/a\u2028b",
        "https://[app.example/",
        "https://app.example:99999/",
    ],
)
def test_an_application_that_is_not_allowed(sso_org: Org, browser: Browser, uri: str) -> None:
    answer = browser.post("/auth/sso/start", org_slug=sso_org.slug, redirect_uri=uri)
    assert (answer.status_code, answer.json["error"]["field"]) == (400, "redirect_uri")


@pytest.mark.parametrize("challenge", ["short", "=" * 43])
def test_an_invalid_challenge(sso_org: Org, browser: Browser, challenge: str) -> None:
    answer = browser.post("/auth/sso/start", org_slug=sso_org.slug, code_challenge=challenge)
    assert (answer.status_code, answer.json["error"]["field"]) == (400, "code_challenge")


def test_additional_members_of_responses_are_ignored(browser: Browser, callback_url: str) -> None:
    get_data(browser.follow_redirect(callback_url, session_state="x", hd="people.example"))


def test_single_sign_on_that_was_turned_off_in_between(
    org: Org, browser: Browser, configure: Configure, callback_url: str
) -> None:
    configure(org, enabled=False)
    assert browser.follow_redirect(callback_url).status_code == 403
    answer = browser.post("/auth/sso/start", org_slug=org.slug)
    assert answer.status_code == 404
