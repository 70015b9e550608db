"""Checks for assertions in browser sign-ins: saml-profiles 4.1.4.3, saml-core 2.3 to 2.7.

The functions read only the signed element, and nothing else from the response.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from cryptography import x509
from lxml import etree  # type: ignore[import-untyped]

from app.identity.sso.saml import names
from app.identity.sso.saml.names import ASSERTION
from app.identity.sso.saml.xml import (
    ResponseRefused,
    build_tag,
    find_children,
    get_only_child,
    read_text,
    read_time,
)

SKEW = timedelta(seconds=60)
"""The tolerated difference between the clocks of the provider and this service."""

_MAX_GROUPS = 1000
_MAX_VALUE_LENGTH = 300
"""The maximum number of characters in a name, address or group.

Longer attribute values are ignored. A longer name identifier is refused.
"""
_KNOWN_CONDITIONS = frozenset(
    build_tag(ASSERTION, name) for name in ("AudienceRestriction", "OneTimeUse", "ProxyRestriction")
)


class SignInDeclined(ResponseRefused):
    """Raised if the provider refused the sign-in."""


@dataclass(frozen=True)
class ExpectedValues:
    """The values that a response must match.

    `issuer` and `certificates` come from the provider's configured metadata. `audience` is this
    service's entity id, and `acs_url` is the URL that receives the response. `request_id` is the id
    of the request, which was created at `requested_at`. If `name_id_format` is None, every format
    except transient is accepted.
    """

    issuer: str
    certificates: tuple[x509.Certificate, ...]
    audience: str
    acs_url: str
    request_id: str
    requested_at: datetime
    now: datetime
    name_id_format: str | None = None


@dataclass(frozen=True)
class AssertedIdentity:
    """The person whom an assertion identifies; the assertion is not valid after `expires_at`.

    `subject` is the person's name identifier at the provider. `groups` is None if the assertion
    only contains a link to the groups.
    """

    assertion_id: str
    issuer: str
    subject: str
    name_id_format: str
    email: str | None
    name: str | None
    groups: tuple[str, ...] | None
    expires_at: datetime


def read_assertion(assertion: etree._Element, expected: ExpectedValues) -> AssertedIdentity:
    """Check an assertion with a verified signature, and return the person whom it identifies.

    Raises `ResponseRefused` if the assertion does not match `expected` or lacks a required part,
    and `ValueError` if a timestamp in it is not valid.
    """
    _check_header(assertion, expected)
    subject = get_only_child(assertion, ASSERTION, "Subject")
    name_id, name_id_format = _read_name_id(subject, expected)
    expiries = [
        _get_confirmation_expiry(subject, expected),
        _get_conditions_expiry(assertion, expected),
    ]
    _check_statements(assertion, expected)
    attributes = _read_attributes(assertion)
    email = _get_first_value(attributes, names.EMAIL_ATTRIBUTES)
    return AssertedIdentity(
        assertion_id=assertion.get("ID") or "",
        issuer=expected.issuer,
        subject=name_id,
        name_id_format=name_id_format,
        email=name_id if email is None and name_id_format == names.EMAIL else email,
        name=_read_full_name(attributes),
        groups=_read_groups(attributes),
        expires_at=min(expiry for expiry in expiries if expiry is not None),
    )


def check_issuer(element: etree._Element, expected: ExpectedValues, *, required: bool) -> None:
    """Raise `ResponseRefused` unless the element names the expected provider as its issuer.

    If `required` is false, an element without an issuer is accepted.
    """
    issuers = find_children(element, ASSERTION, "Issuer")
    if not issuers and not required:
        return
    if len(issuers) != 1 or read_text(issuers[0]) != expected.issuer:
        raise ResponseRefused("the issuer is another provider")
    if issuers[0].get("Format", names.ENTITY) not in (names.ENTITY, names.UNSPECIFIED):
        raise ResponseRefused("the issuer has an unexpected format")


def check_issue_time(element: etree._Element, expected: ExpectedValues) -> None:
    """Raise `ResponseRefused` unless the element was issued between the request and now.

    Clocks may differ by `SKEW`. An element without an issue time is refused.
    """
    issued_at = read_time(element, "IssueInstant")
    if issued_at is None or not expected.requested_at - SKEW <= issued_at <= expected.now + SKEW:
        raise ResponseRefused("it was not issued during this sign-in")


def _check_header(assertion: etree._Element, expected: ExpectedValues) -> None:
    if assertion.tag != build_tag(ASSERTION, "Assertion") or assertion.get("Version") != "2.0":
        raise ResponseRefused("it has no SAML 2.0 assertion")
    if not assertion.get("ID"):
        raise ResponseRefused("the assertion has no id")
    check_issuer(assertion, expected, required=True)
    check_issue_time(assertion, expected)


def _read_name_id(subject: etree._Element, expected: ExpectedValues) -> tuple[str, str]:
    """Return the subject's name identifier and the identifier's format."""
    element = get_only_child(subject, ASSERTION, "NameID")
    name = read_text(element, _MAX_VALUE_LENGTH)
    if not name:
        raise ResponseRefused("the subject's name is missing or invalid")
    name_id_format = element.get("Format", names.UNSPECIFIED)
    if name_id_format == names.TRANSIENT:
        raise ResponseRefused(
            "the subject's name is transient, so it does not identify a person permanently"
        )
    if expected.name_id_format not in (None, name_id_format):
        raise ResponseRefused("the subject's name does not have the requested format")
    # Qualifiers are namespaces: the same name in another namespace is another person.
    if element.get("NameQualifier", expected.issuer) != expected.issuer:
        raise ResponseRefused("the subject's name belongs to another provider")
    if element.get("SPNameQualifier", expected.audience) != expected.audience:
        raise ResponseRefused("the subject's name belongs to another service")
    return name, name_id_format


def _get_confirmation_expiry(subject: etree._Element, expected: ExpectedValues) -> datetime:
    """Return the expiry of the first valid subject confirmation.

    Raises `ResponseRefused` if no subject confirmation is valid.
    """
    for confirmation in find_children(subject, ASSERTION, "SubjectConfirmation"):
        data = find_children(confirmation, ASSERTION, "SubjectConfirmationData")
        if confirmation.get("Method") == names.BEARER and len(data) == 1:
            expiry = _get_valid_expiry(data[0], expected)
            if expiry is not None:
                return expiry
    raise ResponseRefused("it has no valid confirmation for this recipient, request and time")


def _get_valid_expiry(data: etree._Element, expected: ExpectedValues) -> datetime | None:
    """Return a SubjectConfirmationData element's expiry, or None if the element is not valid."""
    start, end = read_time(data, "NotBefore"), read_time(data, "NotOnOrAfter")
    if end is None or not _is_within(start, end, expected.now):
        return None
    if data.get("Recipient") != expected.acs_url:
        return None
    return end if data.get("InResponseTo") == expected.request_id else None


def _is_within(start: datetime | None, end: datetime | None, now: datetime) -> bool:
    # Compare differences, because a sum would overflow near the maximum date.
    return (start is None or start - now <= SKEW) and (end is None or now - end < SKEW)


def _get_conditions_expiry(assertion: etree._Element, expected: ExpectedValues) -> datetime | None:
    """Check all conditions, and return their expiry, or None if they do not expire.

    Raises `ResponseRefused` if a condition is not met.
    """
    conditions = get_only_child(assertion, ASSERTION, "Conditions")
    end = read_time(conditions, "NotOnOrAfter")
    if not _is_within(read_time(conditions, "NotBefore"), end, expected.now):
        raise ResponseRefused("the assertion is not valid at this time")
    if any(condition.tag not in _KNOWN_CONDITIONS for condition in conditions):
        raise ResponseRefused("it has an unknown condition")
    restrictions = find_children(conditions, ASSERTION, "AudienceRestriction")
    for restriction in restrictions:
        audiences = [
            read_text(audience) for audience in find_children(restriction, ASSERTION, "Audience")
        ]
        if expected.audience not in audiences:
            raise ResponseRefused("the audience is another service")
    if not restrictions:
        raise ResponseRefused("it has no audience")
    return end


def _check_statements(assertion: etree._Element, expected: ExpectedValues) -> None:
    statements = find_children(assertion, ASSERTION, "AuthnStatement")
    if not statements:
        raise ResponseRefused("it has no authentication statement")
    for statement in statements:
        if not _is_within(None, read_time(statement, "SessionNotOnOrAfter"), expected.now):
            raise ResponseRefused("the session at the provider has ended")


Attributes = dict[str, list[str]]


def _read_attributes(assertion: etree._Element) -> Attributes:
    """Return the text values of each attribute, by attribute name in lower case."""
    values_by_name: Attributes = {}
    for statement in find_children(assertion, ASSERTION, "AttributeStatement"):
        for attribute in find_children(statement, ASSERTION, "Attribute"):
            values = values_by_name.setdefault(attribute.get("Name", "").lower(), [])
            strings = (
                read_text(v, _MAX_VALUE_LENGTH)
                for v in find_children(attribute, ASSERTION, "AttributeValue")
            )
            values += [string for string in strings if string]
    return values_by_name


def _get_first_value(attributes: Attributes, attribute_names: Iterable[str]) -> str | None:
    return next((value for name in attribute_names for value in attributes.get(name, ())), None)


def _read_full_name(attributes: Attributes) -> str | None:
    full_name = _get_first_value(attributes, names.NAME_ATTRIBUTES)
    if full_name is not None:
        return full_name
    values = (
        _get_first_value(attributes, attribute_names)
        for attribute_names in (names.GIVEN_NAME_ATTRIBUTES, names.SURNAME_ATTRIBUTES)
    )
    name_parts = [value for value in values if value]
    return " ".join(name_parts) or _get_first_value(attributes, names.FALLBACK_NAME_ATTRIBUTES)


def _read_groups(attributes: Attributes) -> tuple[str, ...] | None:
    if names.GROUPS_LINK_ATTRIBUTE in attributes:
        return None
    values = (value for name in names.GROUP_ATTRIBUTES for value in attributes.get(name, ()))
    groups = tuple(dict.fromkeys(values))
    if len(groups) > _MAX_GROUPS:
        raise ResponseRefused("it has too many groups")
    return groups
