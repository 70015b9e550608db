"""Verify a SAML response: saml-core 3.2 and 3.3.3.

Finds the only assertion in it, and checks that it is signed.
"""

from lxml import etree  # type: ignore[import-untyped]

from app.identity.sso.saml import signatures, xml
from app.identity.sso.saml.assertion import (
    Asserted,
    Declined,
    Expected,
    Refused,
    check_issued,
    check_issuer,
    read,
)
from app.identity.sso.saml.names import ASSERTION, PROTOCOL, SUCCESS
from app.identity.sso.saml.xml import Malformed, children, tag

_RESPONSE = tag(PROTOCOL, "Response")


def parse(document: bytes) -> etree._Element:
    """Parse a SAML response without verifying it.

    Raises `Malformed` if the document is not a SAML response.
    """
    root = xml.parse(document)
    if root.tag != _RESPONSE:
        raise Malformed("The document is not a SAML response.")
    return root


def check(response: etree._Element, expected: Expected) -> Asserted:
    """Verify the response and return the person whom it identifies.

    Either the assertion or the response that contains it must be signed; if both are signed, both
    signatures must be valid. Raises `Refused` if any rule is broken.
    """
    try:
        _check_head(response, expected)
        _check_shape(response)
        assertion = _signed_assertion(response, expected)
    except signatures.SignatureRefused as failure:
        raise Refused(failure.reason) from None
    except ValueError as failure:
        raise Refused(str(failure)) from None
    return read(assertion, expected)


def _signed_assertion(response: etree._Element, expected: Expected) -> etree._Element:
    signed = None
    if signatures.is_signed(response):
        if response.get("Destination") is None:
            raise Refused("a signed response without a destination")
        signed = signatures.verify(response, expected.certificates)
        _check_head(signed, expected)
        _check_shape(signed)
    own = _assertion(response)
    if signed is None or signatures.is_signed(own):
        # Verify the assertion as received. The canonical form of the signed response has lost
        # namespaces that only the assertion's own signature lists.
        return signatures.verify(own, expected.certificates)
    return _assertion(signed)


def _check_head(response: etree._Element, expected: Expected) -> None:
    if response.get("Version") != "2.0" or not response.get("ID"):
        raise Refused("no SAML 2.0 response")
    if response.get("Destination", expected.acs_url) != expected.acs_url:
        raise Refused("another destination")
    if response.get("InResponseTo") != expected.request_id:
        raise Refused("an answer to another request, or to none")
    check_issuer(response, expected, required=False)
    check_issued(response, expected)
    codes = [
        code.get("Value")
        for status in children(response, PROTOCOL, "Status")
        for code in children(status, PROTOCOL, "StatusCode")
    ]
    if codes != [SUCCESS]:
        raise Declined("the provider did not authenticate the person")


def _check_shape(response: etree._Element) -> None:
    """Refuse more than one assertion anywhere, encrypted assertions, and duplicate ids."""
    assertions = list(response.iter(tag(ASSERTION, "Assertion")))
    if any(True for _ in response.iter(tag(ASSERTION, "EncryptedAssertion"))):
        raise Refused("an encrypted assertion: the service has published no key for it")
    if len(assertions) != 1 or assertions[0].getparent() is not response:
        raise Refused(f"{len(assertions)} assertions where one is expected, in the response itself")
    # Some library may take any of these attributes as an id, so a duplicate is ambiguous.
    ids = [
        value
        for element in response.iter()
        for name, value in element.attrib.items()
        if etree.QName(name).localname.lower() == "id"
    ]
    if len(set(ids)) != len(ids):
        raise Refused("an id that is not unique")


def _assertion(response: etree._Element) -> etree._Element:
    return children(response, ASSERTION, "Assertion")[0]
