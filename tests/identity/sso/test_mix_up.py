"""Mix-up attacks: a response of one organization's provider for a sign-in in another one."""

from collections.abc import Iterator

import pytest
from authlib.oauth2.rfc7636 import create_s256_code_challenge
from flask import Flask

from tests.factories import Org
from tests.identity.sso.conftest import (
    CALLBACK,
    Browser,
    build_sso_body,
    parameters,
    person,
    put,
)
from tests.identity.sso.hostile import Hostile, serve
from tests.identity.sso.test_sign_in import _check_denied

VERIFIER = "v" * 43
SILENT = {"authorization_response_iss_parameter_supported": None}
"""The metadata of a provider that does not identify itself in its responses (RFC 9207)."""


@pytest.fixture
def honest(org: Org) -> Iterator[Hostile]:
    """Run and configure the provider of the attacked organization; it keeps to the protocol."""
    provider = Hostile(metadata=dict(SILENT))
    with serve(provider):
        assert put(org, build_sso_body(provider)).status_code == 200
        yield provider


@pytest.fixture
def mallory(other_org: Org, hostile: Hostile) -> Hostile:
    """Return the provider of Mallory, an administrator of the other organization."""
    hostile.metadata = dict(SILENT)
    assert put(other_org, build_sso_body(hostile)).status_code == 200
    return hostile


def _build_callback_query(provider: Hostile, url: str, code: str) -> dict[str, str]:
    """Return the provider's response; it does not identify the provider."""
    return {
        name: value
        for name, value in provider.build_callback_query(url, code).items()
        if name != "iss"
    }


def _replace_state(url: str, other_url: str) -> str:
    return url.replace(parameters(url)["state"], parameters(other_url)["state"])


@pytest.mark.parametrize("is_old_uri", [False, True], ids=["own redirect URI", "old redirect URI"])
def test_a_mix_up_sends_the_victims_code_to_nobody(
    org: Org, other_org: Org, app: Flask, honest: Hostile, mallory: Hostile, is_old_uri: bool
) -> None:
    victims_address = f"victim.{org.slug}@people.example"
    honest.claims = {"sub": "victim", "email": victims_address}
    mallorys, victims = Browser(app), Browser(app)
    url = mallorys.start(org)
    challenge = create_s256_code_challenge(VERIFIER)
    other_url = Browser(app).start(other_org, code_challenge=challenge)
    sent_by_mallory = _replace_state(url, other_url)
    back = _build_callback_query(honest, sent_by_mallory, "the-code-of-the-victim")
    if is_old_uri:
        # The provider still accepts the redirect URI that all organizations shared.
        del back["org"]
    refused = victims.send_callback(back)
    stolen_codes = [form["code"] for form in mallory.forms]
    for code in stolen_codes:
        answer = mallorys.send_callback({**back, "state": parameters(url)["state"], "code": code})
        login = mallorys.exchange(answer.json["data"]["code"])
        assert login.json["data"]["user"]["email"] != victims_address, "Mallory is the victim"
    assert stolen_codes == []
    _check_denied(
        refused, "does not name the organization" if is_old_uri else "another organization"
    )


def test_a_refused_mix_up_leaves_the_other_sign_in_valid(
    org: Org, other_org: Org, browser: Browser, honest: Hostile, mallory: Hostile
) -> None:
    url, other_url = browser.start(org), browser.start(other_org)
    back = _build_callback_query(honest, url, "the-code")
    mixed_up = {**back, "state": parameters(other_url)["state"]}
    _check_denied(browser.send_callback(mixed_up), "another organization")
    assert browser.send_callback(mixed_up).status_code == 400, "the state is used up"
    assert browser.send_callback(back).status_code == 200
    assert mallory.forms == []


@pytest.mark.parametrize("slug", [None, "", "another", "{}x", "{}%20", "{}\x00"])
def test_a_response_with_another_organization_exchanges_no_code(
    org: Org, browser: Browser, honest: Hostile, slug: str | None
) -> None:
    back = {**_build_callback_query(honest, browser.start(org), "the-code"), "org": org.slug}
    if slug is None:
        del back["org"]
    else:
        back["org"] = slug.format(org.slug)
    answer = browser.send_callback(back)
    assert answer.status_code == (422 if slug and "\x00" in slug else 403), answer.json
    assert honest.forms == []


def test_the_application_gets_the_error_by_redirect(
    org: Org, browser: Browser, honest: Hostile
) -> None:
    url = browser.start(org, redirect_uri="https://app.example/")
    query = {**_build_callback_query(honest, url, "the-code"), "org": "another"}
    answer = browser.send_callback(query)
    redirect_query = parameters(answer.headers["Location"])
    assert (answer.status_code, redirect_query["error"]) == (303, "permission_denied")
    assert "code" not in redirect_query


def test_both_requests_send_the_redirect_uri_of_the_organization(
    org: Org, browser: Browser, honest: Hostile
) -> None:
    configuration = org.api("admin").get(f"/organizations/{org.slug}/sso").json["data"]
    url = browser.start(org)
    redirect_uri = configuration["oidc"]["redirect_uri"]
    assert redirect_uri.endswith(f"{CALLBACK}?org={org.slug}")
    assert parameters(url)["redirect_uri"] == redirect_uri
    answer = browser.send_callback(_build_callback_query(honest, url, "the-code"))
    assert answer.status_code == 200, answer.json
    assert [form["redirect_uri"] for form in honest.forms] == [redirect_uri]


def test_a_real_provider_keeps_the_organization_in_the_redirect_uri(
    sso_org: Org, browser: Browser
) -> None:
    answered = browser.sign_in(browser.start(sso_org), person())
    assert parameters(answered)["org"] == sso_org.slug
    assert browser.follow_redirect(answered).status_code == 200
