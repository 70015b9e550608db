"""SAML metadata: parsing an identity provider's metadata, and building this service's metadata."""

import base64
import binascii
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import urlsplit

from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import Encoding
from lxml import etree  # type: ignore[import-untyped]

from app.identity.sso.saml import xml
from app.identity.sso.saml.names import METADATA, NAME_ID_FORMATS, POST, PROTOCOL, REDIRECT
from app.identity.sso.saml.names import SIGNATURE as DS
from app.identity.sso.saml.xml import InvalidDocument, build_tag, find_children, read_time

MAX_CERTIFICATES = 10
RSA_BITS = range(2048, 16_385)  # OpenSSL does not verify with larger keys
CURVES = ("secp256r1", "secp384r1", "secp521r1")
_MAX_URL_LENGTH = 2000
_MAX_ENTITY_ID_LENGTH = 1024  # saml-core 8.3.6


@dataclass(frozen=True)
class ProviderMetadata:
    """An identity provider's metadata: entity id, sign-on URL and signing certificates.

    `certificates` are base64-encoded in DER format, as in metadata documents.
    """

    entity_id: str
    sso_url: str
    certificates: tuple[str, ...]


def load_certificates(certificates: Iterable[str]) -> tuple[x509.Certificate, ...]:
    """Decode the certificates in a `ProviderMetadata`, so that they can verify signatures."""
    return tuple(
        x509.load_der_x509_certificate(base64.b64decode(encoded)) for encoded in certificates
    )


def parse(document: bytes, *, now: datetime, allow_http: bool = False) -> ProviderMetadata:
    """Parse and validate the metadata document of an identity provider.

    If `allow_http` is true, the provider's URL may use plain http, for tests and closed networks.
    Raises `InvalidDocument` if the document is not metadata, has expired, does not describe exactly
    one provider, or has no usable entity id, sign-on URL or certificate.
    """
    provider, entity = _find_provider(xml.parse(document, allow_comments=True))
    try:
        for element in (entity, provider):
            valid_until = read_time(element, "validUntil")
            if valid_until is not None and valid_until <= now:
                raise InvalidDocument("The metadata has expired.")
    except ValueError as failure:
        raise InvalidDocument(f"The metadata is not valid: {failure}.") from None
    entity_id = (entity.get("entityID") or "").strip()
    if not entity_id or len(entity_id) > _MAX_ENTITY_ID_LENGTH or not entity_id.isascii():
        raise InvalidDocument("The metadata has no usable entityID.")
    return ProviderMetadata(
        entity_id, _read_sso_url(provider, allow_http=allow_http), _read_certificates(provider)
    )


def _find_provider(root: etree._Element) -> tuple[etree._Element, etree._Element]:
    """Return the only identity provider descriptor and the entity descriptor that contains it."""
    names = (build_tag(METADATA, "EntityDescriptor"), build_tag(METADATA, "EntitiesDescriptor"))
    if root.tag not in names:
        raise InvalidDocument("The document is not SAML metadata.")
    providers = [
        (provider, entity)
        for entity in root.iter(names[0])
        for provider in find_children(entity, METADATA, "IDPSSODescriptor")
        if PROTOCOL in provider.get("protocolSupportEnumeration", "").split()
    ]
    if len(providers) != 1:
        raise InvalidDocument(
            f"The metadata describes {len(providers)} SAML 2.0 identity providers; one is expected."
        )
    return providers[0]


def _read_sso_url(provider: etree._Element, *, allow_http: bool) -> str:
    for service in find_children(provider, METADATA, "SingleSignOnService"):
        if service.get("Binding") == REDIRECT:
            url: str = service.get("Location", "").strip()
            if not _is_valid_url(url, allow_http=allow_http):
                raise InvalidDocument("The provider's sign-on URL is not a valid https URL.")
            return url
    raise InvalidDocument("The provider has no sign-on service with the HTTP-Redirect binding.")


def _is_valid_url(url: str, *, allow_http: bool) -> bool:
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        return False
    return (
        parts.scheme in (("https", "http") if allow_http else ("https",))
        and bool(parts.hostname)
        and parts.username is None
        and not parts.fragment
        and len(url) <= _MAX_URL_LENGTH
        and url.isascii()
        and url.isprintable()
        and not set(url) & set(' "<>\\^`{|}')
    )


def _read_certificates(provider: etree._Element) -> tuple[str, ...]:
    encoded_certificates = [
        "".join((element.text or "").split())
        for descriptor in find_children(provider, METADATA, "KeyDescriptor")
        if descriptor.get("use", "signing") == "signing"
        for element in descriptor.iter(build_tag(DS, "X509Certificate"))
    ]
    certificates = tuple(
        dict.fromkeys(
            certificate
            for certificate in map(_parse_certificate, encoded_certificates)
            if certificate
        )
    )
    if not certificates:
        raise InvalidDocument(
            "The metadata has no usable signing certificate. Use an RSA key of at least 2048 bits,"
            " or an EC key on P-256, P-384 or P-521."
        )
    if len(certificates) > MAX_CERTIFICATES:
        raise InvalidDocument(
            f"The metadata has more than {MAX_CERTIFICATES} signing certificates."
        )
    return certificates


def _parse_certificate(text: str) -> str | None:
    """Validate a base64-encoded certificate, and return it in one canonical encoding.

    Returns None if the certificate is invalid or its key is not accepted.
    """
    try:
        certificate = x509.load_der_x509_certificate(base64.b64decode(text, validate=True))
        key = certificate.public_key()
    except (ValueError, binascii.Error, UnsupportedAlgorithm):
        return None
    is_accepted = (isinstance(key, rsa.RSAPublicKey) and key.key_size in RSA_BITS) or (
        isinstance(key, ec.EllipticCurvePublicKey) and key.curve.name in CURVES
    )
    if not is_accepted:
        return None
    return base64.b64encode(certificate.public_bytes(Encoding.DER)).decode()


def build(*, entity_id: str, acs_url: str) -> bytes:
    """Build this service's metadata (XML), which an administrator registers with the provider."""
    root = etree.Element(
        build_tag(METADATA, "EntityDescriptor"), {"entityID": entity_id}, nsmap={"md": METADATA}
    )
    service_provider = etree.SubElement(
        root,
        build_tag(METADATA, "SPSSODescriptor"),
        {
            "AuthnRequestsSigned": "false",
            "WantAssertionsSigned": "true",
            "protocolSupportEnumeration": PROTOCOL,
        },
    )
    for name in NAME_ID_FORMATS:
        etree.SubElement(service_provider, build_tag(METADATA, "NameIDFormat")).text = name
    etree.SubElement(
        service_provider,
        build_tag(METADATA, "AssertionConsumerService"),
        {"Binding": POST, "Location": acs_url, "index": "0", "isDefault": "true"},
    )
    document: bytes = etree.tostring(root, xml_declaration=True, encoding="UTF-8")
    return document
