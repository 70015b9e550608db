"""Verification of SAML responses (saml-core 3.2 and 3.3.3).

Finds the only assertion in a response, and verifies the signature that covers the assertion.
"""

from lxml import etree  # type: ignore[import-untyped]

from app.identity.sso.saml import signatures, xml
from app.identity.sso.saml.assertion import (
    AssertedIdentity,
    ExpectedValues,
    SignInDeclined,
    check_issue_time,
    check_issuer,
    read_assertion,
)
from app.identity.sso.saml.names import ASSERTION, PROTOCOL, SUCCESS
from app.identity.sso.saml.xml import InvalidDocument, ResponseRefused, build_tag, find_children

_RESPONSE = build_tag(PROTOCOL, "Response")


def parse(document: bytes) -> etree._Element:
    """Parse a SAML response without verifying it.

    Raises `InvalidDocument` if the document is not a SAML response.
    """
    root = xml.parse(document)
    if root.tag != _RESPONSE:
        raise InvalidDocument("The document is not a SAML response.")
    return root


def verify(response: etree._Element, expected: ExpectedValues) -> AssertedIdentity:
    """Verify a response, and return the person whom it identifies.

    The assertion or the whole response must be signed; if both are signed, both signatures must be
    valid. Raises `ResponseRefused` if the response is not accepted.
    """
    try:
        _check_header(response, expected)
        _check_shape(response)
        return read_assertion(_verify_assertion(response, expected), expected)
    except ValueError as failure:
        raise ResponseRefused(str(failure)) from None


def _verify_assertion(response: etree._Element, expected: ExpectedValues) -> etree._Element:
    signed_response = None
    if signatures.is_signed(response):
        if response.get("Destination") is None:
            raise ResponseRefused("the response is signed, but has no destination")
        signed_response = signatures.verify(response, expected.certificates)
        _check_header(signed_response, expected)
        _check_shape(signed_response)
    assertion = _get_assertion(response)
    if signed_response is None or signatures.is_signed(assertion):
        # Verify the assertion as received. The canonical form of the signed response has lost
        # namespaces that only the assertion's own signature lists.
        return signatures.verify(assertion, expected.certificates)
    return _get_assertion(signed_response)


def _check_header(response: etree._Element, expected: ExpectedValues) -> None:
    if response.get("Version") != "2.0" or not response.get("ID"):
        raise ResponseRefused("it is not a SAML 2.0 response")
    if response.get("Destination", expected.acs_url) != expected.acs_url:
        raise ResponseRefused("the destination is another service")
    if response.get("InResponseTo") != expected.request_id:
        raise ResponseRefused("it is not a response to the request of this sign-in")
    check_issuer(response, expected, required=False)
    check_issue_time(response, expected)
    codes = [
        code.get("Value")
        for status in find_children(response, PROTOCOL, "Status")
        for code in find_children(status, PROTOCOL, "StatusCode")
    ]
    if codes != [SUCCESS]:
        raise SignInDeclined("the provider did not authenticate the person")


def _check_shape(response: etree._Element) -> None:
    """Raise `ResponseRefused` unless there is exactly one assertion, and all ids are unique.

    The assertion must be a child of the response and not encrypted.
    """
    assertions = list(response.iter(build_tag(ASSERTION, "Assertion")))
    if any(True for _ in response.iter(build_tag(ASSERTION, "EncryptedAssertion"))):
        raise ResponseRefused("the assertion is encrypted, which is not supported")
    if len(assertions) != 1 or assertions[0].getparent() is not response:
        raise ResponseRefused(
            f"it has {len(assertions)} assertions; one is required, directly in the response"
        )
    # A library may use any of these attributes as the id, so a duplicate is ambiguous.
    ids = [
        value
        for element in response.iter()
        for name, value in element.attrib.items()
        if etree.QName(name).localname.lower() == "id"
    ]
    if len(set(ids)) != len(ids):
        raise ResponseRefused("an id is not unique")


def _get_assertion(response: etree._Element) -> etree._Element:
    return find_children(response, ASSERTION, "Assertion")[0]
