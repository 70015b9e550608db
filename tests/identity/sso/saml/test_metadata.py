"""Parsing providers' metadata, and validating ours against the schemas of the standard."""

import base64
import zlib
from datetime import UTC, datetime
from urllib.parse import parse_qs, urlsplit

import pytest
from cryptography.hazmat.primitives.serialization import Encoding
from lxml import etree
from saml2.xml.schema import XMLSchemaError, validate

from app.identity.sso.saml import metadata, request
from app.identity.sso.saml.metadata import ProviderMetadata
from app.identity.sso.saml.xml import InvalidDocument
from tests.factories.saml import ACS, AUDIENCE, ISSUER, SSO_URL, certificate, encode_certificate
from tests.factories.saml import metadata as written

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)


def parse(document: bytes, **options: bool) -> ProviderMetadata:
    return metadata.parse(document, now=NOW, **options)


def get_refusal(document: bytes) -> str:
    with pytest.raises(InvalidDocument) as caught:
        parse(document)
    return str(caught.value)


def test_metadata_is_parsed() -> None:
    provider_metadata = parse(written(certificate("rsa"), certificate("ec")))
    assert (provider_metadata.entity_id, provider_metadata.sso_url) == (ISSUER, SSO_URL)
    expected = [certificate(name).public_bytes(Encoding.DER) for name in ("rsa", "ec")]
    loaded = metadata.load_certificates(provider_metadata.certificates)
    assert [
        loaded_certificate.public_bytes(Encoding.DER) for loaded_certificate in loaded
    ] == expected


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (' use="signing"', ""),
        ("<md:KeyDescriptor", "<!-- a comment --><md:KeyDescriptor"),
        ("<md:IDPSSODescriptor", '<md:IDPSSODescriptor validUntil="2026-11-21T12:00:01Z"'),
        ("SAML:2.0:protocol", "SAML:1.1:protocol urn:oasis:names:tc:SAML:2.0:protocol"),
        ("</ds:X509Certificate>", "\n</ds:X509Certificate>"),
    ],
)
def test_variants_of_metadata_are_parsed(old: str, new: str) -> None:
    text = written().decode()
    assert old in text
    assert parse(text.replace(old, new).encode()).entity_id == ISSUER


def test_one_provider_among_several_entities() -> None:
    descriptor = written().decode()
    service = '<md:EntityDescriptor entityID="https://sp.example"><md:SPSSODescriptor/></md:EntityDescriptor>'
    opening = '<md:EntitiesDescriptor xmlns:md="urn:oasis:names:tc:SAML:2.0:metadata">'
    closing = "</md:EntitiesDescriptor>"
    assert parse(f"{opening}{service}{descriptor}{closing}".encode()).entity_id == ISSUER
    assert "2 SAML 2.0" in get_refusal(f"{opening}{descriptor}{descriptor}{closing}".encode())
    assert "0 SAML 2.0" in get_refusal(f"{opening}{service}{closing}".encode())


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        (f'entityID="{ISSUER}"', "", "entityID"),
        (f'entityID="{ISSUER}"', f'entityID="{"x" * 1025}"', "entityID"),
        (f'entityID="{ISSUER}"', 'entityID="https://\u00e9.example"', "entityID"),
        ("SAML:2.0:protocol", "SAML:1.1:protocol", "0 SAML 2.0"),
        ("HTTP-Redirect", "HTTP-POST", "HTTP-Redirect"),
        ('use="signing"', 'use="encryption"', "certificate"),
        ("IDPSSODescriptor", "SPSSODescriptor", "0 SAML 2.0"),
        ("<md:IDPSSODescriptor", '<md:IDPSSODescriptor validUntil="2026-11-21T12:00:00Z"', "expi"),
        ("<md:EntityDescriptor", '<md:EntityDescriptor validUntil="2001-01-01T00:00:00Z"', "expi"),
        ("<md:EntityDescriptor", '<md:EntityDescriptor validUntil="soon"', "not a time"),
        ("<md:EntityDescriptor", "<!DOCTYPE x><md:EntityDescriptor", "DTDs"),
    ],
)
def test_invalid_metadata_is_refused_with_a_reason(old: str, new: str, reason: str) -> None:
    text = written().decode()
    assert old in text
    assert reason in get_refusal(text.replace(old, new).encode())


@pytest.mark.parametrize(
    "url",
    [
        "http://idp.example/sso",
        "javascript:alert(1)",
        "https://",
        "https://user:password@idp.example/sso",
        "https://idp.example/sso#x",
        "https://idp.example:99999/sso",
        "https://idp.example/a b",
        "https://idp.example/\u00e9",
        "//idp.example/sso",
        "/sso",
        "",
        f"https://idp.example/{'a' * 2000}",
    ],
)
def test_the_sign_on_url_must_be_https(url: str) -> None:
    assert "https" in get_refusal(written(sso_url=url))


def test_http_can_be_allowed() -> None:
    document = written(sso_url="http://idp.example/sso")
    assert parse(document, allow_http=True).sso_url == "http://idp.example/sso"


@pytest.mark.parametrize("name", ["small", "weak-ec", "other-ec"])
def test_weak_keys_are_refused(name: str) -> None:
    assert "2048" in get_refusal(written(certificate(name)))
    # If there is a strong certificate too, the weak one is ignored.
    assert len(parse(written(certificate(name), certificate("rsa"))).certificates) == 1


@pytest.mark.parametrize("text", ["", "AAAA", "no base64", "\u00e9"])
def test_invalid_certificates(text: str) -> None:
    document = written().decode().replace(encode_certificate(certificate("rsa")), text)
    assert "certificate" in get_refusal(document.encode())


def test_the_number_of_certificates_is_limited() -> None:
    many = [certificate("rsa", days=100 + n) for n in range(11)]
    assert "more than 10" in get_refusal(written(*many))


@pytest.mark.parametrize("document", [b"", b"<x/>", b"hello", b"<html><body/></html>"])
def test_documents_that_are_not_metadata(document: bytes) -> None:
    assert get_refusal(document).endswith(".")


def test_our_metadata_matches_the_schema() -> None:
    own = metadata.build(entity_id=AUDIENCE, acs_url=ACS)
    validate(own.decode())
    root = etree.fromstring(own)
    with pytest.raises(XMLSchemaError):
        validate(etree.tostring(root).decode().replace("WantAssertionsSigned", "wantAssertions"))
    assert root.get("entityID") == AUDIENCE
    role = root[0]
    assert role.get("WantAssertionsSigned") == "true"
    assert role.get("AuthnRequestsSigned") == "false"
    assert role[-1].get("Location") == ACS
    assert len(role.findall("{*}NameIDFormat")) == 3


@pytest.mark.parametrize("sso_url", [SSO_URL, SSO_URL + "?tenant=1"])
@pytest.mark.parametrize("name_id_format", [None, "urn:oasis:names:tc:SAML:1.1:nameid-format:x"])
def test_the_request_matches_the_schema(sso_url: str, name_id_format: str | None) -> None:
    xml = request.build_authn_request(
        request_id="_0123",
        sso_url=sso_url,
        issuer=AUDIENCE,
        acs_url=ACS,
        name_id_format=name_id_format,
        now=NOW,
    )
    validate(xml.decode())
    url = request.build_redirect_url(sso_url, xml, "a+/=&b")
    assert url.startswith(sso_url)
    query = parse_qs(urlsplit(url).query, strict_parsing=True)
    assert query.pop("tenant", ["1"]) == ["1"]
    assert query.pop("RelayState") == ["a+/=&b"]
    assert zlib.decompress(base64.b64decode(query.pop("SAMLRequest")[0]), wbits=-15) == xml
    assert not query
    root = etree.fromstring(xml)
    assert root.get("IssueInstant") == "2026-11-21T12:00:00Z"
    assert root.find("{*}NameIDPolicy").get("Format") == name_id_format
