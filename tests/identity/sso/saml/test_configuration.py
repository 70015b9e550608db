"""SAML metadata in the configuration: sent or fetched, and checked again every hour."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest

from app.identity.sso.fetching import MAX_RESPONSE_BYTES
from tests.factories import Org
from tests.factories.orgs import get_data
from tests.factories.saml import certificate, metadata
from tests.factories.servers import serve_http
from tests.identity.sso.conftest import HOST, Browser, run_check
from tests.identity.sso.saml.conftest import Forger, configure

EMAIL = "urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress"


@dataclass
class Site:
    """A web site with one document."""

    url: str = ""
    status: int = 200
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    asked: int = 0


@pytest.fixture
def site() -> Iterator[Site]:
    new_site = Site(body=metadata())

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            new_site.asked += 1
            self.send_response(new_site.status)
            for name, value in new_site.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(new_site.body)))
            self.end_headers()
            self.wfile.write(new_site.body)

        def log_message(self, *_: Any) -> None:
            pass

    with serve_http(Handler, HOST) as port:
        new_site.url = f"http://{HOST}:{port}/metadata"
        yield new_site


def get_error_message(answer: Any, field_name: str) -> str:
    assert answer.status_code == 400, answer.json
    error = answer.json["error"]
    assert (error["code"], error["field"]) == ("validation_error", field_name)
    return str(error["message"])


def test_the_configuration_is_returned(org: Org) -> None:
    text = metadata().decode()
    get_data(configure(org, {"metadata_xml": text, "name_id_format": EMAIL}))
    shown = org.api("admin").get(f"/organizations/{org.slug}/sso").json["data"]
    assert shown["kind"] == "saml"
    assert shown["oidc"] is None
    saml = shown["saml"]
    assert saml["entity_id"].endswith(f"/api/v1/auth/sso/{org.slug}/saml/metadata")
    assert saml["acs_url"].endswith(f"/api/v1/auth/sso/{org.slug}/saml/acs")
    assert (saml["metadata_xml"], saml["metadata_url"]) == (text, None)
    assert saml["name_id_format"] == EMAIL


@pytest.mark.parametrize(
    ("saml", "member"),
    [
        ({}, "metadata_url"),
        ({"metadata_url": "https://idp.example/", "metadata_xml": "<x/>"}, "metadata_url"),
        ({"metadata_xml": "<x/>"}, "metadata_xml"),
        ({"metadata_xml": "hello"}, "metadata_xml"),
        ({"metadata_xml": "<!DOCTYPE x><x/>"}, "metadata_xml"),
        ({"metadata_xml": "<x>" * 100_000}, "metadata_xml"),
        ({"metadata_xml": metadata(certificate("small")).decode()}, "metadata_xml"),
        ({"metadata_url": "http://127.0.0.1:1/"}, "metadata_url"),
        ({"metadata_url": "http://169.254.169.254/latest/meta-data"}, "metadata_url"),
        ({"metadata_url": "file:///etc/passwd"}, "metadata_url"),
        ({"metadata_url": "hello"}, "metadata_url"),
        (
            {
                "metadata_xml": metadata().decode(),
                "name_id_format": "urn:oasis:names:tc:SAML:2.0:nameid-format:transient",
            },
            "name_id_format",
        ),
    ],
)
def test_the_invalid_member_is_named(org: Org, saml: dict[str, Any], member: str) -> None:
    get_error_message(configure(org, saml), f"saml.{member}")
    assert org.api("admin").get(f"/organizations/{org.slug}/sso").status_code == 404


@pytest.mark.parametrize(
    ("members", "reason"),
    [
        ({"status": 404}, "status 404"),
        ({"status": 302, "headers": {"Location": "http://127.0.0.1:1/"}}, "status 302"),
        ({"body": b" " * (MAX_RESPONSE_BYTES + 1)}, "too large"),
        ({"body": b"{}"}, "cannot be used"),
        ({"body": b""}, "cannot be used"),
    ],
)
def test_fetched_metadata_is_limited(
    org: Org, site: Site, members: dict[str, Any], reason: str
) -> None:
    for name, value in members.items():
        setattr(site, name, value)
    assert reason in get_error_message(
        configure(org, {"metadata_url": site.url}), "saml.metadata_url"
    )
    assert site.asked == 1


def _sign_in_with_key(org: Org, browser: Browser, key_name: str) -> int:
    forger = Forger(org)
    forge, relay_state = forger.build_forge(browser.start(org))
    root = forge.with_changes(key_name=key_name).make()
    return browser.post_form(org, forger.form(root, relay_state)).status_code


def test_keys_are_fetched_again(org: Org, site: Site, browser: Browser) -> None:
    assert configure(org, {"metadata_url": site.url}).status_code == 200
    assert [_sign_in_with_key(org, browser, key) for key in ("rsa", "other")] == [200, 401]
    site.body = metadata(certificate("rsa"), certificate("other"))
    run_check(org)
    assert [_sign_in_with_key(org, browser, key) for key in ("rsa", "other")] == [200, 200]
    site.body = metadata(certificate("other"))
    run_check(org)
    assert [_sign_in_with_key(org, browser, key) for key in ("rsa", "other")] == [401, 200]


@pytest.mark.parametrize(
    "members",
    [
        {"status": 500},
        {"body": b"<html/>"},
        {"body": metadata(certificate("other"), issuer="https://other.example/metadata")},
    ],
    ids=["down", "garbage", "another-provider"],
)
def test_a_failing_or_different_provider_changes_nothing(
    org: Org, site: Site, browser: Browser, members: dict[str, Any]
) -> None:
    assert configure(org, {"metadata_url": site.url}).status_code == 200
    for name, value in members.items():
        setattr(site, name, value)
    run_check(org)
    assert [_sign_in_with_key(org, browser, key) for key in ("rsa", "other")] == [200, 401]


def test_keys_of_another_organization_are_not_trusted(
    org: Org, other_org: Org, browser: Browser
) -> None:
    """Two organizations configured providers of the same name; each trusts only its own keys."""
    for organization, key in ((org, "rsa"), (other_org, "other")):
        text = metadata(certificate(key)).decode()
        assert configure(organization, {"metadata_xml": text}).status_code == 200
    assert [_sign_in_with_key(org, browser, key) for key in ("rsa", "other")] == [200, 401]
    assert [_sign_in_with_key(other_org, browser, key) for key in ("rsa", "other")] == [401, 200]
