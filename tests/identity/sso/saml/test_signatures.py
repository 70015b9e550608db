"""Accepted and refused signatures: algorithms, forms and keys."""

from collections.abc import Callable
from typing import Any

import pytest
from cryptography.hazmat.primitives.serialization import Encoding
from lxml import etree
from signxml import XMLSigner

from tests.factories import saml
from tests.factories.saml import (
    NS,
    Change,
    Forge,
    assertion,
    certificate,
    drop,
    find,
    get_refusal,
    repeat,
    verify,
)

MORE = "http://www.w3.org/2001/04/xmldsig-more#"
NO_KEY = "no configured key created this signature"


class OldSigner(XMLSigner):
    """Signs with algorithms that signxml no longer supports."""

    def check_deprecated_methods(self) -> None:
        pass


@pytest.mark.parametrize("digest", ["sha256", "sha384", "sha512"])
@pytest.mark.parametrize(
    "method",
    ["rsa-sha256", "rsa-sha384", "rsa-sha512", "sha256-rsa-MGF1", "sha512-rsa-MGF1"],
)
def test_rsa_with_sha2_is_accepted(method: str, digest: str) -> None:
    forge = Forge(signer={"signature_algorithm": method, "digest_algorithm": digest})
    assert verify(forge.make(), forge.expected()).subject == "ada"


@pytest.mark.parametrize("method", ["ecdsa-sha256", "ecdsa-sha384", "ecdsa-sha512"])
def test_ecdsa_with_sha2_is_accepted(method: str) -> None:
    forge = Forge(key_name="ec", signer={"signature_algorithm": method})
    assert verify(forge.make(), forge.expected()).subject == "ada"


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"signature_algorithm": "rsa-sha1"}, "signature algorithm"),
        ({"signature_algorithm": "rsa-sha224"}, "signature algorithm"),
        ({"digest_algorithm": "sha1"}, "digest algorithm"),
        ({"digest_algorithm": "sha224"}, "digest algorithm"),
        ({"c14n_algorithm": "http://www.w3.org/TR/2001/REC-xml-c14n-20010315"}, "canonicalization"),
        ({"c14n_algorithm": "http://www.w3.org/2006/12/xml-c14n11"}, "canonicalization"),
        (
            {"c14n_algorithm": "http://www.w3.org/2001/10/xml-exc-c14n#WithComments"},
            "canonicalization",
        ),
    ],
)
@pytest.mark.parametrize("sign", ["assertion", "response"])
def test_other_algorithms_are_refused(
    options: dict[str, str], reason: str, sign: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(saml, "XMLSigner", OldSigner)
    forge = Forge(sign=(sign,), signer=options)
    assert reason in get_refusal(forge.make(), forge.expected())


@pytest.mark.parametrize("encoding", [Encoding.PEM, Encoding.DER])
def test_the_certificate_is_not_a_shared_secret(
    encoding: Encoding, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An HMAC with the public certificate as its key, which anybody can create."""
    secret = certificate("rsa").public_bytes(encoding)
    monkeypatch.setattr(saml, "key", lambda _: secret)
    monkeypatch.setattr(saml, "certificate", lambda _: None)
    forge = Forge(signer={"signature_algorithm": "hmac-sha256"})
    monkeypatch.setattr(XMLSigner, "sign", _without_certificate(XMLSigner.sign))
    root = forge.make()
    monkeypatch.undo()
    assert "signature algorithm" in get_refusal(root, Forge(now=forge.now).expected())


def _without_certificate(sign: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *args, **kwargs: sign(*args, **{**kwargs, "cert": None})


def test_a_certificate_in_the_message_is_ignored() -> None:
    """A valid signature of a stranger, who includes the certificate."""
    stranger = Forge(key_name="other")
    root = stranger.make()
    assert find(root, "ds:X509Certificate").text
    assert verify(root, stranger.expected()).subject == "ada"
    assert get_refusal(root, stranger.expected(certificates=(certificate("rsa"),))) == NO_KEY


def test_a_key_in_the_message_is_ignored() -> None:
    stranger = Forge(key_name="other", signer={})
    root = stranger.make()
    info = find(root, "ds:KeyInfo")
    modulus = "AQAB"
    info[:] = [
        etree.fromstring(
            f'<ds:KeyValue xmlns:ds="{NS["ds"]}"><ds:RSAKeyValue><ds:Modulus>{modulus}</ds:Modulus>'
            "<ds:Exponent>AQAB</ds:Exponent></ds:RSAKeyValue></ds:KeyValue>"
        )
    ]
    assert get_refusal(root, stranger.expected(certificates=(certificate("rsa"),))) == NO_KEY


@pytest.mark.parametrize("text", [None, "", "no base64", "AAAA"])
def test_key_info_in_the_message_is_ignored(text: str | None) -> None:
    forge = Forge()
    root = forge.make()
    if text is None:
        drop("ds:KeyInfo")(root)
    else:
        find(root, "ds:X509Certificate").text = text
    assert verify(root, forge.expected()).subject == "ada"


def test_an_ec_key_does_not_verify_an_rsa_signature() -> None:
    forge = Forge()
    assert get_refusal(forge.make(), forge.expected(certificates=(certificate("ec"),))) == NO_KEY


def _algorithm(name: str, value: str) -> Change:
    return lambda root: find(root, name).set("Algorithm", value)


def _uri(value: str | None) -> Change:
    def change(root: etree._Element) -> None:
        reference = find(root, "ds:Reference")
        del reference.attrib["URI"]
        if value is not None:
            reference.set("URI", value)

    return change


def _transform(algorithm: str, inside: str = "") -> Change:
    def change(root: etree._Element) -> None:
        transforms = find(root, "ds:Transforms")
        text = (
            f'<ds:Transform xmlns:ds="{NS["ds"]}" Algorithm="{algorithm}">{inside}</ds:Transform>'
        )
        transforms.insert(1, etree.fromstring(text))

    return change


def _object(root: etree._Element) -> None:
    etree.SubElement(find(root, "ds:Signature"), f"{{{NS['ds']}}}Object")


XSLT = '<x:stylesheet xmlns:x="http://www.w3.org/1999/XSL/Transform" version="1.0"/>'
FORMS: dict[str, tuple[Change, str]] = {
    "hmac": (_algorithm("ds:SignatureMethod", MORE + "hmac-sha256"), "signature algorithm"),
    "none": (_algorithm("ds:SignatureMethod", "none"), "signature algorithm"),
    "dsa": (_algorithm("ds:SignatureMethod", NS["ds"] + "dsa-sha1"), "signature algorithm"),
    "md5": (_algorithm("ds:DigestMethod", MORE + "md5"), "digest algorithm"),
    "whole-document": (_uri(""), "does not refer"),
    "no-uri": (_uri(None), "does not refer"),
    "other-id": (_uri("#_response"), "does not refer"),
    "xpointer": (_uri("#xpointer(id('_assertion'))"), "does not refer"),
    "http": (_uri("http://127.0.0.1:1/x#_assertion"), "does not refer"),
    "file": (_uri("file:///etc/passwd"), "does not refer"),
    "xpath": (
        _transform("http://www.w3.org/TR/1999/REC-xpath-19991116", "<x>not(//x)</x>"),
        "transforms",
    ),
    "xpath-filter": (_transform("http://www.w3.org/2002/06/xmldsig-filter2"), "transforms"),
    "xslt": (_transform("http://www.w3.org/TR/1999/REC-xslt-19991116", XSLT), "transforms"),
    "base64": (_transform(NS["ds"] + "base64"), "transforms"),
    "twice-exclusive": (_transform("http://www.w3.org/2001/10/xml-exc-c14n#"), "transforms"),
    "one-transform": (drop("ds:Transform"), "transforms"),
    "no-transforms": (drop("ds:Transforms"), "0 Transforms elements"),
    "two-references": (repeat("ds:Reference"), "2 Reference elements"),
    "no-reference": (drop("ds:Reference"), "0 Reference elements"),
    "two-infos": (repeat("ds:SignedInfo"), "2 SignedInfo elements"),
    "two-signatures": (repeat("ds:Signature"), "2 Signature elements"),
    "object": (_object, "object"),
    "no-value": (drop("ds:SignatureValue"), NO_KEY),
    "no-digest": (drop("ds:DigestValue"), NO_KEY),
}


@pytest.mark.parametrize("name", FORMS)
def test_other_forms_are_refused(name: str) -> None:
    change, reason = FORMS[name]
    forge = Forge()
    root = forge.make()
    change(root)
    assert reason in get_refusal(root, forge.expected())


@pytest.mark.parametrize("value", ["", "AAAA", "no base64!", "A" * 5000])
@pytest.mark.parametrize("name", ["ds:SignatureValue", "ds:DigestValue"])
def test_invalid_values_are_refused(name: str, value: str) -> None:
    forge = Forge()
    root = forge.make()
    find(root, name).text = value
    assert get_refusal(root, forge.expected()) == NO_KEY


def test_unsigned_content_is_not_read() -> None:
    """A signature elsewhere in the assertion does not sign the assertion."""
    forge = Forge()
    root = forge.make()
    signature = find(assertion(root), "ds:Signature")
    find(root, "saml:Subject").append(signature)
    assert "0 Signature elements" in get_refusal(root, forge.expected())
