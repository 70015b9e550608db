"""Every rule for a response, broken one at a time."""

import contextlib
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from app.identity.sso.saml.assertion import SKEW
from app.identity.sso.saml.xml import InvalidDocument, ResponseRefused
from tests.factories.properties import examples
from tests.factories.saml import (
    AUDIENCE,
    ISSUER,
    NS,
    Change,
    Forge,
    assertion,
    certificate,
    copy_element,
    drop,
    find,
    format_time,
    get_refusal,
    repeat,
    verify,
)

PERSISTENT = "urn:oasis:names:tc:SAML:2.0:nameid-format:persistent"
EMAIL = "urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress"
TRANSIENT = "urn:oasis:names:tc:SAML:2.0:nameid-format:transient"


@pytest.fixture
def forge() -> Forge:
    return Forge()


@pytest.mark.parametrize("key_name", ["rsa", "ec"])
@pytest.mark.parametrize(
    "sign", [("assertion",), ("response",), ("assertion", "response")], ids="+".join
)
def test_a_signed_response_identifies_the_person(sign: tuple[str, ...], key_name: str) -> None:
    forge = Forge(sign=sign, key_name=key_name, attributes={"mail": ["a@x.example"], "cn": ["A"]})
    identity = verify(forge.make(), forge.expected())
    assert (identity.issuer, identity.subject, identity.name_id_format) == (
        ISSUER,
        "ada",
        PERSISTENT,
    )
    assert (identity.email, identity.name, identity.groups) == ("a@x.example", "A", ())
    assert identity.assertion_id == "_assertion"
    assert identity.expires_at == datetime.fromisoformat(format_time(forge.now + forge.lifetime))


def _set(name: str, attribute: str, value: str | None) -> Change:
    def change(root: etree._Element) -> None:
        element = root if name == "samlp:Response" else find(root, name)
        if value is None:
            del element.attrib[attribute]
        else:
            element.set(attribute, value)

    return change


def _text(name: str, text: str, index: int = 0) -> Change:
    def change(root: etree._Element) -> None:
        root.findall(f".//{name}", NS)[index].text = text

    return change


def _add(parent: str, child: str, text: str = "") -> Change:
    def change(root: etree._Element) -> None:
        prefix, _, name = child.partition(":")
        etree.SubElement(find(root, parent), f"{{{NS[prefix]}}}{name}").text = text

    return change


LATER, EARLIER = "2999-01-01T00:00:00Z", "2001-01-01T00:00:00Z"
DATA, CONDITIONS = "saml:SubjectConfirmationData", "saml:Conditions"
BROKEN: dict[str, Change] = {
    "destination": _set("samlp:Response", "Destination", "https://sp.example/other"),
    "destination-prefix": _set("samlp:Response", "Destination", "https://sp.example/acs/"),
    "response-to-another": _set("samlp:Response", "InResponseTo", "_other"),
    "response-to-none": _set("samlp:Response", "InResponseTo", None),
    "response-version": _set("samlp:Response", "Version", "1.1"),
    "response-no-id": _set("samlp:Response", "ID", None),
    "response-issuer": _text("saml:Issuer", "https://evil.example", 0),
    "response-issued-early": _set("samlp:Response", "IssueInstant", EARLIER),
    "response-issued-late": _set("samlp:Response", "IssueInstant", LATER),
    "response-issued-never": _set("samlp:Response", "IssueInstant", "yesterday"),
    "no-status": drop("samlp:Status"),
    "failed": _set("samlp:StatusCode", "Value", "urn:oasis:names:tc:SAML:2.0:status:Responder"),
    "two-codes": repeat("samlp:StatusCode"),
    "no-assertion": drop("saml:Assertion"),
    "version": _set("saml:Assertion", "Version", "1.1"),
    "issued-early": _set("saml:Assertion", "IssueInstant", EARLIER),
    "issued-late": _set("saml:Assertion", "IssueInstant", LATER),
    "issuer": _text("saml:Issuer", "https://evil.example", 1),
    "issuer-longer": _text("saml:Issuer", ISSUER + "/", 1),
    "issuer-case": _text("saml:Issuer", ISSUER.upper(), 1),
    "no-issuer": drop("saml:Issuer", 1),
    "no-subject": drop("saml:Subject"),
    "two-subjects": repeat("saml:Subject"),
    "no-name": drop("saml:NameID"),
    "two-names": repeat("saml:NameID"),
    "empty-name": _text("saml:NameID", "  "),
    "long-name": _text("saml:NameID", "a" * 301),
    "control-in-name": _text("saml:NameID", "ada\u0085x"),
    "transient": _set("saml:NameID", "Format", TRANSIENT),
    "other-list": _set("saml:NameID", "NameQualifier", "https://other.example"),
    "other-service": _set("saml:NameID", "SPNameQualifier", "https://other.example"),
    "element-in-name": _add("saml:NameID", "saml:Audience", "x"),
    "no-confirmation": drop("saml:SubjectConfirmation"),
    "no-data": drop(DATA),
    "two-data": repeat(DATA),
    "holder-of-key": _set(
        "saml:SubjectConfirmation", "Method", "urn:oasis:names:tc:SAML:2.0:cm:holder-of-key"
    ),
    "recipient": _set(DATA, "Recipient", "https://sp.example/other"),
    "no-recipient": _set(DATA, "Recipient", None),
    "to-another": _set(DATA, "InResponseTo", "_other"),
    "to-none": _set(DATA, "InResponseTo", None),
    "confirmed-no-more": _set(DATA, "NotOnOrAfter", EARLIER),
    "confirmed-without-end": _set(DATA, "NotOnOrAfter", None),
    "confirmed-not-yet": _set(DATA, "NotBefore", LATER),
    "no-conditions": drop(CONDITIONS),
    "two-conditions": repeat(CONDITIONS),
    "no-more": _set(CONDITIONS, "NotOnOrAfter", EARLIER),
    "not-yet": _set(CONDITIONS, "NotBefore", LATER),
    "no-zone": _set(CONDITIONS, "NotBefore", "2001-01-01T00:00:00"),
    "no-day": _set(CONDITIONS, "NotBefore", "2001-02-30T00:00:00Z"),
    "year-zero": _set(CONDITIONS, "NotBefore", "0000-01-01T00:00:00Z"),
    "out-of-range": _set(CONDITIONS, "NotBefore", "0001-01-01T00:00:00+14:00"),
    "unknown-condition": _add(CONDITIONS, "saml:Condition"),
    "audience": _text("saml:Audience", "https://other.example"),
    "audience-prefix": _text("saml:Audience", AUDIENCE + "/x"),
    "no-audience": drop("saml:Audience"),
    "no-restriction": drop("saml:AudienceRestriction"),
    "second-restriction": _add(CONDITIONS, "saml:AudienceRestriction"),
    "nobody-authenticated": drop("saml:AuthnStatement"),
    "session-over": _set("saml:AuthnStatement", "SessionNotOnOrAfter", EARLIER),
}


@pytest.mark.parametrize("name", BROKEN)
@pytest.mark.parametrize("sign", ["assertion", "response"])
def test_a_broken_rule_is_refused(name: str, sign: str, forge: Forge) -> None:
    signed = forge.with_changes(sign=(sign,))
    # Without the change the response is accepted, so the change is what is refused.
    verify(signed.make(), signed.expected())
    if name == "no-assertion" and sign == "assertion":
        signed = signed.with_changes(sign=())
    if name == "response-no-id" and sign == "response":
        signed = signed.with_changes(sign=("assertion",))
    assert get_refusal(signed.make(BROKEN[name]), signed.expected())


FINE: dict[str, Change] = {
    "no-destination": _set("samlp:Response", "Destination", None),
    "no-issuer-of-the-response": drop("saml:Issuer", 0),
    "one-time-use": _add(CONDITIONS, "saml:OneTimeUse"),
    "own-list": _set("saml:NameID", "NameQualifier", ISSUER),
    "own-service": _set("saml:NameID", "SPNameQualifier", AUDIENCE),
    "address": _set(DATA, "Address", "192.0.2.1"),
    "seven-digits": _set(CONDITIONS, "NotBefore", "2001-01-01T00:00:00.1234567Z"),
    "another-zone": _set(CONDITIONS, "NotBefore", "2001-01-01T00:00:00+01:00"),
    "end-of-the-calendar": _set(CONDITIONS, "NotOnOrAfter", "9999-12-31T23:59:59Z"),
    "no-end": _set(CONDITIONS, "NotOnOrAfter", None),
    "white-space": _text("saml:NameID", "\n  ada\n"),
    "session-goes-on": _set("saml:AuthnStatement", "SessionNotOnOrAfter", LATER),
}


@pytest.mark.parametrize("name", FINE)
def test_optional_parts_may_be_missing_or_added(name: str, forge: Forge) -> None:
    assert verify(forge.make(FINE[name]), forge.expected()).subject == "ada"


def test_a_signed_response_needs_a_destination(forge: Forge) -> None:
    signed = forge.with_changes(sign=("response",))
    assert "destination" in get_refusal(signed.make(FINE["no-destination"]), signed.expected())


def test_one_valid_audience_and_confirmation_is_sufficient(forge: Forge) -> None:
    def change(root: etree._Element) -> None:
        first = etree.fromstring(etree.tostring(find(root, "saml:SubjectConfirmation")))
        find(first, DATA).set("Recipient", "https://other.example")
        find(root, "saml:SubjectConfirmation").addprevious(first)
        _add("saml:AudienceRestriction", "saml:Audience", "https://other.example")(root)

    assert verify(forge.make(change), forge.expected()).subject == "ada"


@pytest.mark.parametrize("sign", [(), ("assertion",), ("response",)])
def test_an_assertion_without_a_covering_signature_is_refused(
    sign: tuple[str, ...], forge: Forge
) -> None:
    root = forge.with_changes(sign=sign).make()
    for signature in root.findall(".//ds:Signature", NS):
        signature.getparent().remove(signature)
    assert "Signature" in get_refusal(root, forge.expected())


def test_an_assertion_replaced_after_signing_is_refused(forge: Forge) -> None:
    """The response is signed, then its assertion is replaced by an unsigned one."""
    root = forge.with_changes(sign=("response",)).make()
    other = assertion(forge.with_changes(subject="eve").tree())
    root.replace(assertion(root), other)
    assert get_refusal(root, forge.expected()) == "no configured key created this signature"


@pytest.mark.parametrize("broken", ["assertion", "response"])
def test_both_signatures_must_be_valid(broken: str, forge: Forge) -> None:
    root = forge.with_changes(sign=("assertion", "response")).make()
    value = find(assertion(root) if broken == "assertion" else root, "ds:SignatureValue")
    value.text = value.text.replace(value.text[:8], "AAAAAAAA", 1)
    assert get_refusal(root, forge.expected()) == "no configured key created this signature"


@pytest.mark.parametrize("changed", ["saml:NameID", "saml:AttributeValue", "saml:Audience"])
def test_a_change_after_signing_is_refused(changed: str, forge: Forge) -> None:
    root = forge.make()
    find(root, changed).text += "x"
    assert get_refusal(root, forge.expected()) == "no configured key created this signature"


def test_a_small_clock_difference_is_tolerated(forge: Forge) -> None:
    root, second = forge.make(), timedelta(seconds=1)
    end = forge.now + forge.lifetime
    for now in (forge.now - SKEW, end + SKEW - second):
        assert verify(root, forge.expected(now=now)).subject == "ada"
    for now in (forge.now - SKEW - second, end + SKEW + second):
        assert get_refusal(root, forge.expected(now=now))
    # It was issued before the request, so it belongs to another sign-in.
    late = forge.expected(requested_at=forge.now + SKEW + second)
    assert "issued" in get_refusal(root, late)


@pytest.mark.parametrize("sign", ["assertion", "response"])
def test_encrypted_assertions_are_refused_clearly(sign: str, forge: Forge) -> None:
    root = forge.with_changes(sign=(sign,)).make(_add("samlp:Status", "saml:EncryptedAssertion"))
    assert "encrypted" in get_refusal(root, forge.expected())


def test_the_requested_format_is_required(forge: Forge) -> None:
    root = forge.make()
    assert verify(root, forge.expected(name_id_format=PERSISTENT)).subject == "ada"
    assert "format" in get_refusal(root, forge.expected(name_id_format=EMAIL))


def test_the_name_id_may_be_the_email_address(forge: Forge) -> None:
    named = forge.with_changes(format=EMAIL, subject="ada@x.example", attributes={})
    identity = verify(named.make(), named.expected())
    assert (identity.subject, identity.email, identity.name) == (
        "ada@x.example",
        "ada@x.example",
        None,
    )


@pytest.mark.parametrize(
    ("attributes", "email", "name", "groups"),
    [
        ({}, None, None, ()),
        ({"givenName": ["Ada"], "sn": ["Lovelace"]}, None, "Ada Lovelace", ()),
        ({"memberOf": ["a", "b", "a"], "groups": ["c"]}, None, None, ("c", "a", "b")),
        ({"email": ["", "a@x.example"], "groups": ["", "  "]}, "a@x.example", None, ()),
        (
            {
                "http://schemas.xmlsoap.org/ws/2005/05/identity/claims/emailaddress": ["a@x.de"],
                "http://schemas.xmlsoap.org/ws/2005/05/identity/claims/name": ["a.l@x.de"],
                "http://schemas.microsoft.com/identity/claims/displayname": ["Ada"],
                "http://schemas.microsoft.com/ws/2008/06/identity/claims/groups": ["g"],
            },
            "a@x.de",
            "Ada",
            ("g",),
        ),
        (
            {
                "urn:oid:0.9.2342.19200300.100.1.3": ["a@x.de"],
                "urn:oid:2.16.840.1.113730.3.1.241": ["Ada"],
                "urn:oid:1.3.6.1.4.1.5923.1.5.1.1": ["g"],
            },
            "a@x.de",
            "Ada",
            ("g",),
        ),
    ],
)
def test_common_attribute_names_are_known(
    attributes: dict[str, list[str]], email: str | None, name: str | None, groups: tuple[str, ...]
) -> None:
    forge = Forge(attributes=attributes)
    identity = verify(forge.make(), forge.expected())
    assert (identity.email, identity.name, identity.groups) == (email, name, groups)


@examples(300)
@given(data=st.data())
def test_moving_elements_never_changes_the_person(data: st.DataObject) -> None:
    """Elements of a signed response are moved, copied, dropped and renamed at random."""
    forge = Forge(sign=data.draw(st.sampled_from([("assertion",), ("response",)])))
    root = forge.make()
    untouched = verify(root, forge.expected())
    evil = assertion(forge.with_changes(subject="eve", assertion_id="_evil").tree())
    for _ in range(data.draw(st.integers(1, 4))):
        elements = list(root.iter())
        target = data.draw(st.sampled_from(elements))
        source = data.draw(st.sampled_from([*elements, evil, *evil.iter()]))
        copied = copy_element(source)
        match data.draw(st.sampled_from(["append", "before", "replace", "id", "drop", "text"])):
            case "append":
                target.append(copied)
            case "before" if target is not root:
                target.addprevious(copied)
            case "replace" if target is not root:
                target.getparent().replace(target, copied)
            case "drop" if target is not root:
                target.getparent().remove(target)
            case "id":
                target.set("ID", data.draw(st.sampled_from(["_assertion", "_response", "_evil"])))
            case "text":
                target.text = "eve"
    identity = untouched
    with contextlib.suppress(ResponseRefused, InvalidDocument):
        identity = verify(root, forge.expected())
    assert identity == untouched


def test_the_number_of_groups_is_limited(forge: Forge) -> None:
    many = forge.with_changes(attributes={"groups": [f"g{n}" for n in range(1001)]})
    assert "groups" in get_refusal(many.make(), many.expected())


def test_a_key_may_be_one_of_several(forge: Forge) -> None:
    keys = (certificate("ec"), certificate("other"), certificate("rsa"))
    assert verify(forge.make(), forge.expected(certificates=keys)).subject == "ada"
    assert get_refusal(forge.make(), forge.expected(certificates=keys[:2]))
    assert get_refusal(forge.make(), forge.expected(certificates=()))


def test_the_age_of_a_configured_certificate_does_not_matter(forge: Forge) -> None:
    old = certificate("rsa", days=-1)
    assert old.not_valid_after_utc < datetime.now(UTC)
    assert verify(forge.make(), forge.expected(certificates=(old,))).subject == "ada"
