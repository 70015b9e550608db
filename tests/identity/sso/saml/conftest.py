"""Fixtures with a real SAML provider, a provider that tests control, and browsers."""

import base64
import json
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from html import unescape
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
import requests
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
)
from lxml import etree
from werkzeug.test import TestResponse

from app.kit.ids import uuid7
from tests.factories import Org
from tests.factories.counts import run_sql
from tests.factories.saml import Forge, certificate, key, metadata
from tests.identity.sso.conftest import HOST, put, run_provider

_ACTION = re.compile(r'<form[^>]*action="([^"]*)"')
_INPUT = re.compile(r'<input[^>]*name="(\w+)"[^>]*value="([^"]*)"')
Form = dict[str, str]


@dataclass
class Provider:
    """A process with npm's samlp and @boxyhq/saml20; tests configure its services and users."""

    url: str
    session: requests.Session = field(default_factory=requests.Session)

    @property
    def metadata_url(self) -> str:
        return f"{self.url}/samlp/metadata"

    @property
    def other_metadata_url(self) -> str:
        return f"{self.url}/boxy/metadata"

    def register(self, org: Org, user: dict[str, Any], **options: Any) -> None:
        """Register the service by its metadata, and set the `user` who signs in."""
        path = f"/api/v1/auth/sso/{org.slug}/saml/metadata"
        root = etree.fromstring(org.app.test_client().get(path).data)
        acs = root.find("{*}SPSSODescriptor/{*}AssertionConsumerService").get("Location")
        service = {"audience": root.get("entityID"), "acs": acs, "user": user, "options": options}
        answer = self.session.put(f"{self.url}/services", json=service, timeout=60)
        assert answer.status_code == 204, answer.text

    def sign_in(self, url: str) -> Form:
        """Follow the service's redirect, and return the form that the browser must post."""
        answer = self.session.get(url, timeout=60)
        assert answer.status_code == 200, answer.text
        form = {name: unescape(value) for name, value in _INPUT.findall(answer.text)}
        action = _ACTION.search(answer.text)
        assert action is not None
        return {"action": unescape(action[1]), **form}


def private_pem(name: str) -> str:
    """Return a private key in the format that Node.js reads."""
    return key(name).private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()


@pytest.fixture(scope="session")
def provider(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Provider]:
    folder = tmp_path_factory.mktemp("saml")
    key_file, certificate_file = folder / "key.pem", folder / "certificate.pem"
    key_file.write_text(private_pem("rsa"))
    certificate_file.write_bytes(certificate("rsa").public_bytes(Encoding.PEM))
    with run_provider("saml.cjs", HOST, str(key_file), str(certificate_file)) as (_, stdout):
        started = json.loads(stdout.readline() or "{}")
        assert started, "the provider did not start"
        provider = Provider(started["url"])
        provider.session.trust_env = False
        yield provider


def person(**members: Any) -> dict[str, Any]:
    """Create a person at the provider."""
    name = f"p{uuid7().hex[-12:]}"
    user = {"id": name, "email": f"{name}@people.example", "name": "Pat Example", "groups": []}
    return {**user, **members}


def configure(org: Org, saml: dict[str, Any], **members: Any) -> TestResponse:
    """Configure SAML for an organization, and return the response; `saml` are the settings."""
    return put(org, {"kind": "saml", "saml": saml, **members})


def parse_request(url: str) -> tuple[etree._Element, str]:
    """Return the request in a redirect to a provider, and its RelayState."""
    query = {name: values[0] for name, values in parse_qs(urlsplit(url).query).items()}
    request = zlib.decompress(base64.b64decode(query["SAMLRequest"]), wbits=-15)
    return etree.fromstring(request), query["RelayState"]


@dataclass
class Forger:
    """A provider that tests control: its responses match a request, or almost match it."""

    org: Org
    subject: str = field(default_factory=lambda: f"p{uuid7().hex[-12:]}")

    def build_forge(self, url: str) -> tuple[Forge, str]:
        """Return a `Forge` for the request in `url`, and its RelayState."""
        root, relay_state = parse_request(url)
        forge = Forge(
            subject=self.subject,
            assertion_id=f"_{uuid7().hex}",
            audience=root.find("{*}Issuer").text,
            acs=root.get("AssertionConsumerServiceURL"),
            request=root.get("ID"),
            attributes={"email": [f"{self.subject}@people.example"], "cn": ["Pat Example"]},
        )
        return forge, relay_state

    def form(self, root: etree._Element, relay_state: str) -> Form:
        """Return the form fields with which a browser posts a response to the service."""
        answer = base64.b64encode(etree.tostring(root)).decode()
        return {"SAMLResponse": answer, "RelayState": relay_state}


@pytest.fixture
def forger(org: Org) -> Forger:
    """Return a provider that tests control, and configure `org` to trust it."""
    answer = configure(org, {"metadata_xml": metadata().decode()})
    assert answer.status_code == 200, answer.json
    return Forger(org)


TABLES = ("sso_assertions", "sso_codes", "sso_identities", "memberships")


def count_rows(org: Org) -> dict[str, int]:
    """Count an organization's rows in the tables that a sign-in writes."""
    sql = "SELECT count(*) AS n FROM {} WHERE organization_id = :org"
    return {table: run_sql(org, sql.format(table))[0].n for table in TABLES}
