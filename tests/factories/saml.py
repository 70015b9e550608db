"""Create SAML responses, valid or not, from a template, and sign them with signxml."""

import base64
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509.oid import NameOID
from lxml import etree
from signxml import XMLSigner

from app.identity.sso.saml import response
from app.identity.sso.saml.assertion import AssertedIdentity, ExpectedValues
from app.identity.sso.saml.xml import ResponseRefused

ISSUER = "https://idp.example/metadata"
SSO_URL = "https://idp.example/sso"
AUDIENCE = "https://sp.example/metadata"
ACS = "https://sp.example/acs"
REQUEST = "_0123456789abcdef0123456789abcdef"
NS = {
    "samlp": "urn:oasis:names:tc:SAML:2.0:protocol",
    "saml": "urn:oasis:names:tc:SAML:2.0:assertion",
    "ds": "http://www.w3.org/2000/09/xmldsig#",
}
Key = Any
Change = Callable[[etree._Element], Any]


@cache
def key(name: str) -> Key:
    """Return the private key with this name; it is generated once.

    The names are rsa and other (RSA, 2048 bits), small (RSA, 1024 bits), ec (P-256), weak-ec
    (P-224) and other-ec (secp256k1).
    """
    if name == "ec":
        return ec.generate_private_key(ec.SECP256R1())
    if name == "weak-ec":
        return ec.generate_private_key(ec.SECP224R1())
    if name == "other-ec":
        return ec.generate_private_key(ec.SECP256K1())
    return rsa.generate_private_key(65537, 1024 if name == "small" else 2048)


@cache
def certificate(name: str, days: int = 365) -> x509.Certificate:
    """Return a self-signed certificate of `key(name)` that expires in `days` days.

    With a negative value, it has already expired.
    """
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = datetime.now(UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key(name).public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1000))
        .not_valid_after(now + timedelta(days=days))
        .sign(key(name), hashes.SHA256())
    )


def encode_certificate(certificate: x509.Certificate) -> str:
    """Encode a certificate as Base64 of its DER form, as in SAML metadata."""
    return base64.b64encode(certificate.public_bytes(Encoding.DER)).decode()


def format_time(time: datetime) -> str:
    """Return a time as an xs:dateTime in UTC."""
    return time.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


_TEMPLATE = """
<samlp:Response xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol"
 xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion" ID="_response" Version="2.0"
 IssueInstant="{now}" Destination="{acs}" InResponseTo="{request}"><saml:Issuer
>{issuer}</saml:Issuer><samlp:Status><samlp:StatusCode
 Value="urn:oasis:names:tc:SAML:2.0:status:Success"/></samlp:Status><saml:Assertion
 ID="{assertion_id}" Version="2.0" IssueInstant="{now}"
><saml:Issuer>{issuer}</saml:Issuer><saml:Subject><saml:NameID
 Format="{format}">{subject}</saml:NameID><saml:SubjectConfirmation
 Method="urn:oasis:names:tc:SAML:2.0:cm:bearer"><saml:SubjectConfirmationData
 Recipient="{acs}" InResponseTo="{request}" NotOnOrAfter="{end}"/></saml:SubjectConfirmation
></saml:Subject><saml:Conditions NotBefore="{now}" NotOnOrAfter="{end}"><saml:AudienceRestriction
><saml:Audience>{audience}</saml:Audience></saml:AudienceRestriction></saml:Conditions
><saml:AuthnStatement AuthnInstant="{now}"><saml:AuthnContext><saml:AuthnContextClassRef
>urn:oasis:names:tc:SAML:2.0:ac:classes:Password</saml:AuthnContextClassRef></saml:AuthnContext
></saml:AuthnStatement><saml:AttributeStatement>{attributes}</saml:AttributeStatement
></saml:Assertion></samlp:Response>
"""


@dataclass(frozen=True)
class Forge:
    """Creates SAML responses.

    `sign` lists the elements to sign, `assertion` or `response`, innermost first. `signer` has
    options for XMLSigner.
    """

    subject: str = "ada"
    format: str = "urn:oasis:names:tc:SAML:2.0:nameid-format:persistent"
    assertion_id: str = "_assertion"
    issuer: str = ISSUER
    audience: str = AUDIENCE
    acs: str = ACS
    request: str = REQUEST
    now: datetime = field(default_factory=lambda: datetime.now(UTC))
    lifetime: timedelta = timedelta(minutes=5)
    attributes: dict[str, list[str]] = field(
        default_factory=lambda: {"email": ["ada@example.com"], "displayName": ["Ada Lovelace"]}
    )
    key_name: str = "rsa"
    sign: tuple[str, ...] = ("assertion",)
    signer: dict[str, Any] = field(default_factory=dict)

    def with_changes(self, **changes: Any) -> "Forge":
        """Return a copy with changed attributes."""
        return replace(self, **changes)

    def tree(self) -> etree._Element:
        """Return the unsigned response."""
        attributes = "".join(
            f'<saml:Attribute Name="{name}">'
            + "".join(f"<saml:AttributeValue>{v}</saml:AttributeValue>" for v in values)
            + "</saml:Attribute>"
            for name, values in self.attributes.items()
        )
        text = _TEMPLATE.strip().format(
            **{k: getattr(self, k) for k in ("acs", "request", "issuer", "audience", "subject")},
            format=self.format,
            assertion_id=self.assertion_id,
            now=format_time(self.now),
            end=format_time(self.now + self.lifetime),
            attributes=attributes,
        )
        return etree.fromstring(text)

    def make(self, change: Change | None = None) -> etree._Element:
        """Return the signed response. `change` is called with the tree before it is signed."""
        root = self.tree()
        if change is not None:
            change(root)
        for name in self.sign:
            root = self.sign_element(root, name)
        return root

    def sign_element(self, root: etree._Element, name: str) -> etree._Element:
        """Sign the assertion or the whole response, and return the response."""
        options = {
            "c14n_algorithm": "http://www.w3.org/2001/10/xml-exc-c14n#",
            "signature_algorithm": "ecdsa-sha256" if self.key_name == "ec" else "rsa-sha256",
            "digest_algorithm": "sha256",
            **self.signer,
        }
        element = root if name == "response" else assertion(root)
        # The signature is placed after the issuer.
        placeholder = etree.Element(
            f"{{{NS['ds']}}}Signature", Id="placeholder", nsmap={"ds": NS["ds"]}
        )
        element.insert(1, placeholder)
        signed_element = XMLSigner(**options).sign(
            etree.fromstring(etree.tostring(element)),
            key=key(self.key_name),
            cert=[certificate(self.key_name)],
            reference_uri="#" + element.get("ID"),
        )
        if name == "response":
            return signed_element
        element.getparent().replace(element, signed_element)
        return etree.fromstring(etree.tostring(root))

    def expected(self, **changes: Any) -> ExpectedValues:
        """Return the values that the unchanged response must have; `changes` overrides values."""
        expected = ExpectedValues(
            issuer=ISSUER,
            certificates=(certificate(self.key_name),),
            audience=AUDIENCE,
            acs_url=ACS,
            request_id=REQUEST,
            requested_at=self.now - timedelta(seconds=5),
            now=self.now,
        )
        return replace(expected, **changes)


def assertion(root: etree._Element) -> etree._Element:
    """Return the first assertion in a response."""
    return root.find(".//saml:Assertion", NS)


def find(root: etree._Element, name: str) -> etree._Element:
    """Return the first element called `name`, a prefixed name such as `saml:Subject`."""
    element = root.find(f".//{name}", NS)
    assert element is not None, name
    return element


def copy_element(element: etree._Element) -> etree._Element:
    """Return a copy of an element, without the text behind it."""
    return etree.fromstring(etree.tostring(element, with_tail=False))


def drop(name: str, index: int = 0) -> Change:
    """Return a change that removes one of the elements called `name`, by default the first."""

    def change(root: etree._Element) -> None:
        element = root.findall(f".//{name}", NS)[index]
        element.getparent().remove(element)

    return change


def repeat(name: str) -> Change:
    """Return a change that repeats the first element called `name`."""

    def change(root: etree._Element) -> None:
        element = find(root, name)
        element.addnext(copy_element(element))

    return change


def verify(root: etree._Element, expected: ExpectedValues) -> AssertedIdentity:
    """Parse and verify a response, and return the identity that it asserts."""
    return response.verify(response.parse(etree.tostring(root)), expected)


def get_refusal(root: etree._Element, expected: ExpectedValues) -> str:
    """Return the reason for which a response is refused."""
    with pytest.raises(ResponseRefused) as refusal:
        verify(root, expected)
    return str(refusal.value)


def metadata(
    *certificates: x509.Certificate, issuer: str = ISSUER, sso_url: str = SSO_URL
) -> bytes:
    """Return the metadata of the identity provider with these signing certificates.

    By default, it has the certificate of the key rsa.
    """
    keys = "".join(
        '<md:KeyDescriptor use="signing"><ds:KeyInfo><ds:X509Data><ds:X509Certificate>'
        f"{encode_certificate(item)}</ds:X509Certificate></ds:X509Data></ds:KeyInfo></md:KeyDescriptor>"
        for item in certificates or (certificate("rsa"),)
    )
    return f"""<md:EntityDescriptor xmlns:md="urn:oasis:names:tc:SAML:2.0:metadata"
 xmlns:ds="{NS["ds"]}" entityID="{issuer}"><md:IDPSSODescriptor
 protocolSupportEnumeration="urn:oasis:names:tc:SAML:2.0:protocol">{keys}<md:SingleSignOnService
 Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect" Location="{sso_url}"/>
</md:IDPSSODescriptor></md:EntityDescriptor>""".encode()
