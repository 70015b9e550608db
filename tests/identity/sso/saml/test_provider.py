"""Signing in with a real SAML provider (npm's samlp), from the start to the access token."""

import base64
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from lxml import etree
from sqlalchemy import text
from werkzeug.test import TestResponse

from app.kit import db, tenancy
from tests.factories import Org
from tests.factories.errors import check_error
from tests.factories.orgs import Api, get_data
from tests.factories.queueing import run_concurrently
from tests.factories.saml import certificate, key
from tests.identity.sso.conftest import Browser
from tests.identity.sso.saml.conftest import (
    Form,
    Provider,
    configure,
    count_rows,
    parse_request,
    person,
    private_pem,
)

EMAIL = "urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress"
PERSISTENT = "urn:oasis:names:tc:SAML:2.0:nameid-format:persistent"


@pytest.fixture
def saml_org(org: Org, provider: Provider) -> Org:
    """Return an organization whose members sign in with the real provider."""
    get_data(configure(org, {"metadata_url": provider.metadata_url}, default_role="labeler"))
    return org


def get_form(
    provider: Provider, org: Org, url: str, user: dict[str, Any] | None = None, **options: Any
) -> Form:
    """Return the form with the provider's response to the request in `url`."""
    provider.register(org, user or person(), **options)
    return provider.sign_in(url)


@pytest.fixture
def form(provider: Provider, saml_org: Org, browser: Browser) -> Form:
    """Return the form with the provider's response to a sign-in of the browser."""
    return get_form(provider, saml_org, browser.start(saml_org))


def get_error_message(answer: TestResponse, status: int, code: str) -> str:
    return str(check_error(answer, status, code)["message"])


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"signResponse": True},
        {"signResponse": True, "signAssertion": False},
        {"signatureNamespacePrefix": "ds"},
        {"nameIdentifierFormat": EMAIL},
        {"lifetimeInSeconds": 60},
    ],
    ids=lambda options: "+".join(options) or "plain",
)
def test_a_new_person_signs_in(
    saml_org: Org, provider: Provider, browser: Browser, options: dict[str, Any]
) -> None:
    who = person()
    form = get_form(provider, saml_org, browser.start(saml_org), who, **options)
    assert form["action"].endswith(f"/api/v1/auth/sso/{saml_org.slug}/saml/acs")
    login = get_data(browser.exchange(get_data(browser.post_form(saml_org, form))["code"]))
    assert (login["user"]["email"], login["user"]["name"]) == (who["email"], "Pat Example")
    assert login["organizations"] == [{"slug": saml_org.slug, "name": "Test", "role": "labeler"}]
    api = Api(saml_org.app.test_client(), login["access_token"], saml_org.slug)
    assert api.get("/schemas").status_code == 200


def test_a_person_signs_in_with_another_provider_product(
    org: Org, provider: Provider, browser: Browser
) -> None:
    """This provider signs assertion and response, and asks for signed requests."""
    assert configure(org, {"metadata_url": provider.other_metadata_url}).status_code == 200
    who = person()
    form = get_form(provider, org, browser.start(org), who)
    root = etree.fromstring(base64.b64decode(form["SAMLResponse"]))
    assert len(root.findall(".//{*}Signature")) == 2
    login = browser.exchange(get_data(browser.post_form(org, form))["code"]).json["data"]
    assert (login["user"]["email"], login["user"]["name"]) == (who["email"], "Pat Example")


def test_the_second_time_it_is_the_same_person(
    saml_org: Org, provider: Provider, browser: Browser, other_browser: Browser
) -> None:
    who, ids = person(), set()
    for used_browser in (browser, other_browser):
        form = get_form(provider, saml_org, used_browser.start(saml_org), who)
        code = used_browser.post_form(saml_org, form).json["data"]["code"]
        ids.add(used_browser.exchange(code).json["data"]["user"]["id"])
    assert len(ids) == 1


def test_groups_give_roles(org: Org, provider: Provider, browser: Browser) -> None:
    mapping = [{"group": "chiefs", "role": "reviewer"}, {"group": "staff", "role": "labeler"}]
    settings = {"metadata_url": provider.metadata_url}
    assert configure(org, settings, group_mapping=mapping).status_code == 200
    form = get_form(provider, org, browser.start(org), person(groups=["staff", "chiefs"]))
    code = browser.post_form(org, form).json["data"]["code"]
    login = browser.exchange(code).json["data"]
    assert [organization["role"] for organization in login["organizations"]] == ["reviewer"]


def test_an_application_gets_the_code_by_redirect(
    saml_org: Org, provider: Provider, browser: Browser
) -> None:
    back = {"redirect_uri": "https://app.example/signed-in", "next": "/inbox"}
    form = get_form(provider, saml_org, browser.start(saml_org, **back))
    arrived = browser.post_form(saml_org, form)
    assert arrived.status_code == 303
    assert arrived.headers["Location"].startswith("https://app.example/signed-in?code=")
    # The same response again: the sign-in is used up, so there is no URL to redirect to.
    get_error_message(browser.post_form(saml_org, form), 400, "validation_error")


def test_the_content_of_the_request(org: Org, provider: Provider, browser: Browser) -> None:
    settings = {"metadata_url": provider.metadata_url, "name_id_format": PERSISTENT}
    saml_settings = configure(org, settings).json["data"]["saml"]
    assert saml_settings["metadata_url"] == provider.metadata_url
    request, relay_state = parse_request(browser.start(org))
    assert request.find("{*}Issuer").text == saml_settings["entity_id"]
    assert request.get("AssertionConsumerServiceURL") == saml_settings["acs_url"]
    assert request.find("{*}NameIDPolicy").get("Format") == PERSISTENT
    assert len(relay_state) <= 80
    form = get_form(provider, org, browser.start(org), nameIdentifierFormat=EMAIL)
    assert "format" in get_error_message(browser.post_form(org, form), 401, "invalid_credentials")


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "nothing-signed": ({"signAssertion": False}, "Signature"),
    "sha1": ({"signatureAlgorithm": "rsa-sha1"}, "signature algorithm"),
    "sha1-digest": ({"digestAlgorithm": "sha1"}, "digest algorithm"),
    "sha1-response": (
        {"signResponse": True, "signAssertion": False, "signatureAlgorithm": "rsa-sha1"},
        "signature algorithm",
    ),
    "audience": ({"audience": "https://other.example/metadata"}, "audience"),
    "recipient": ({"recipient": "https://other.example/acs"}, "no valid confirmation"),
    "destination": ({"destination": "https://other.example/acs"}, "destination"),
    "issuer": ({"issuer": "https://other.example/metadata"}, "issuer"),
    "other-request": ({"inResponseTo": "_other"}, "not a response to the request"),
    "expired": ({"lifetimeInSeconds": -120}, "no valid confirmation"),
    "transient": (
        {"nameIdentifierFormat": "urn:oasis:names:tc:SAML:2.0:nameid-format:transient"},
        "transient",
    ),
    "other-key": (
        {
            "key": private_pem("other"),
            "cert": certificate("other").public_bytes(Encoding.PEM).decode(),
        },
        "no configured key",
    ),
    "encrypted": (
        {
            "encryptionCert": certificate("other").public_bytes(Encoding.PEM).decode(),
            "encryptionPublicKey": key("other")
            .public_key()
            .public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
            .decode(),
        },
        "encrypted",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_invalid_responses_are_refused(
    name: str, saml_org: Org, provider: Provider, browser: Browser
) -> None:
    options, reason = REFUSED[name]
    before = count_rows(saml_org)
    form = get_form(provider, saml_org, browser.start(saml_org), **options)
    message = get_error_message(browser.post_form(saml_org, form), 401, "invalid_credentials")
    assert reason in message
    assert count_rows(saml_org) == before
    # The sign-in is used up, so an attacker has only one try.
    get_error_message(browser.post_form(saml_org, form), 400, "validation_error")


def test_an_error_is_returned_to_the_application(
    saml_org: Org, provider: Provider, browser: Browser
) -> None:
    url = browser.start(saml_org, redirect_uri="https://app.example/signed-in")
    form = get_form(provider, saml_org, url, signAssertion=False)
    arrived = browser.post_form(saml_org, form)
    assert arrived.status_code == 303
    assert "error=invalid_credentials" in arrived.headers["Location"]


def test_a_provider_that_refuses_the_sign_in(
    saml_org: Org, provider: Provider, browser: Browser
) -> None:
    declined = "urn:oasis:names:tc:SAML:2.0:status:Responder"
    form = get_form(provider, saml_org, browser.start(saml_org), samlStatusCode=declined)
    message = get_error_message(browser.post_form(saml_org, form), 403, "permission_denied")
    assert message.startswith("The identity provider refused the sign-in")


def test_a_response_is_bound_to_the_browser(
    saml_org: Org, form: Form, browser: Browser, other_browser: Browser
) -> None:
    """Login fixation: the victim's browser posts somebody else's response."""
    other_browser.start(saml_org)
    before = count_rows(saml_org)
    answer = other_browser.post_form(saml_org, form)
    get_error_message(answer, 400, "validation_error")
    assert answer.json["error"]["field"] == "RelayState"
    assert count_rows(saml_org) == before
    # The browser that began the sign-in can still use it.
    assert browser.post_form(saml_org, form).status_code == 200


def test_a_response_is_bound_to_its_request(
    saml_org: Org, provider: Provider, browser: Browser
) -> None:
    first = get_form(provider, saml_org, browser.start(saml_org))
    second = get_form(provider, saml_org, browser.start(saml_org))
    before = count_rows(saml_org)
    swapped = browser.post_form(saml_org, first, RelayState=second["RelayState"])
    assert "not a response to the request" in get_error_message(swapped, 401, "invalid_credentials")
    assert count_rows(saml_org) == before


@pytest.mark.parametrize("relay_state", [None, "", "x", "\u00e9" * 50, "a" * 43])
def test_unsolicited_responses(
    saml_org: Org, form: Form, browser: Browser, relay_state: str | None
) -> None:
    answer = browser.post_form(saml_org, form, RelayState=relay_state)
    get_error_message(answer, 400, "validation_error")
    assert answer.json["error"]["field"] == "RelayState"


def test_only_one_of_two_concurrent_posts_succeeds(
    saml_org: Org, form: Form, browser: Browser
) -> None:
    before = count_rows(saml_org)
    posts = [partial(browser.copy().post_form, saml_org, form) for _ in range(4)]
    answers = run_concurrently(*posts)
    assert sorted(answer.status_code for answer in answers) == [200, 400, 400, 400]
    assert {k: v - before[k] for k, v in count_rows(saml_org).items()} == dict.fromkeys(before, 1)


def test_a_response_for_another_organization(
    saml_org: Org, other_org: Org, provider: Provider, browser: Browser
) -> None:
    """Two organizations trust the same provider, but are separate audiences."""
    assert configure(other_org, {"metadata_url": provider.metadata_url}).status_code == 200
    before = count_rows(saml_org), count_rows(other_org)
    form = get_form(provider, saml_org, browser.start(saml_org))
    get_error_message(browser.post_form(other_org, form), 403, "permission_denied")
    # The other organization sent the request, and the first one gets the response.
    form = get_form(provider, saml_org, browser.start(saml_org))
    _, relay_state = parse_request(browser.start(other_org))
    message = get_error_message(
        browser.post_form(other_org, form, RelayState=relay_state), 401, "invalid_credentials"
    )
    assert "destination" in message
    assert (count_rows(saml_org), count_rows(other_org)) == before


def test_an_organization_without_saml_is_like_an_unknown_one(
    other_org: Org, saml_org: Org, form: Form, browser: Browser
) -> None:
    answers = []
    for slug in (other_org.slug, "no-such-organization", saml_org.slug):
        path = f"/api/v1/auth/sso/{slug}/saml/acs"
        members = {"SAMLResponse": form["SAMLResponse"], "RelayState": "unknown"}
        answers.append(browser.service.post(path, data=members))
    assert {answer.status_code for answer in answers} == {400}
    assert len({answer.data for answer in answers}) == 1


def test_a_configuration_change_ends_open_sign_ins(
    saml_org: Org, provider: Provider, browser: Browser
) -> None:
    form = get_form(provider, saml_org, browser.start(saml_org))
    settings = {"metadata_url": provider.metadata_url}
    assert configure(saml_org, settings, enabled=False).status_code == 200
    get_error_message(browser.post_form(saml_org, form), 403, "permission_denied")


@pytest.mark.parametrize(
    "response",
    [
        "",
        "no base64!",
        "AAAA",
        "\u00e9",
        base64.b64encode(b"<x/>").decode(),
        base64.b64encode(b"<!DOCTYPE x><x/>").decode(),
        base64.b64encode(b"<x>" * 1000).decode(),
    ],
)
def test_garbage_is_not_a_response(
    saml_org: Org, form: Form, browser: Browser, response: str
) -> None:
    answer = browser.post_form(saml_org, form, SAMLResponse=response)
    get_error_message(answer, 422, "unprocessable")
    assert answer.json["error"]["field"] == "SAMLResponse"
    # It was not a response, so the sign-in is still valid.
    assert browser.post_form(saml_org, form).status_code == 200


def test_large_responses_are_refused(saml_org: Org, browser: Browser) -> None:
    form = {"SAMLResponse": "A" * 300_000, "RelayState": "x"}
    get_error_message(browser.post_form(saml_org, form), 413, "payload_too_large")


def test_the_form_may_have_additional_members(saml_org: Org, form: Form, browser: Browser) -> None:
    lines = "\r\n".join(
        form["SAMLResponse"][i : i + 76] for i in range(0, len(form["SAMLResponse"]), 76)
    )
    get_data(browser.post_form(saml_org, form, SAMLResponse=lines, submit="Continue"))


def test_the_metadata_is_the_same_for_every_slug(org: Org, saml_org: Org) -> None:
    texts = set()
    for slug in (saml_org.slug, "no-such-organization"):
        answer = org.anonymous().get(f"/auth/sso/{slug}/saml/metadata")
        assert answer.status_code == 200
        assert answer.mimetype == "application/samlmetadata+xml"
        texts.add(answer.data.replace(slug.encode(), b"SLUG"))
    assert len(texts) == 1
    root = etree.fromstring(texts.pop())
    assert root.get("entityID").endswith("/api/v1/auth/sso/SLUG/saml/metadata")
    for slug in ("A", "a_b", "x" * 64, "%3Cx%3E", "%00"):
        assert org.anonymous().get(f"/auth/sso/{slug}/saml/metadata").status_code == 404


def test_accepted_assertions_are_recorded_and_deleted(
    saml_org: Org, provider: Provider, browser: Browser
) -> None:
    form = get_form(provider, saml_org, browser.start(saml_org), lifetimeInSeconds=300)
    assert browser.post_form(saml_org, form).status_code == 200
    with saml_org.app.app_context(), tenancy.organization(saml_org.id):
        kept = db.session().execute(
            text("SELECT expires_at - now() FROM sso_assertions WHERE organization_id = :id"),
            {"id": saml_org.id},
        )
        assert timedelta(minutes=4) < kept.scalar_one() <= timedelta(minutes=6)
