"""SAML 2.0 as a single sign-on protocol: provider checks, requests and responses.

The package `app.identity.sso.saml` implements SAML; this module applies it to configurations and
flows.
"""

import base64
import binascii
import hashlib
from collections.abc import Mapping
from datetime import timedelta
from functools import partial
from typing import Any

from lxml import etree  # type: ignore[import-untyped]

from app.identity.organizations import slugs
from app.identity.sso import callbacks, flows, links, queries
from app.identity.sso.fetching import UnusableResponse, fetch
from app.identity.sso.models import Configuration, Flow
from app.identity.sso.providers import (
    ExternalIdentity,
    NewFlow,
    ProviderCheck,
    build_invalid_response_error,
)
from app.identity.sso.saml import metadata, request, response
from app.identity.sso.saml.assertion import SKEW, ExpectedValues, SignInDeclined
from app.identity.sso.saml.names import NAME_ID_FORMATS
from app.identity.sso.saml.xml import InvalidDocument, ResponseRefused
from app.kit import container, db, errors
from app.kit.api.responses import Download, Redirect
from app.kit.egress.policy import EgressRefused
from app.kit.errors import ApiError
from app.kit.logging import get_logger

log = get_logger(__name__)

ACS_PATH = "/auth/sso/{org_slug}/saml/acs"
METADATA_PATH = "/auth/sso/{org_slug}/saml/metadata"
METADATA_TYPE = "application/samlmetadata+xml"
_ASSERTION_RETENTION = timedelta(days=1)
"""The maximum time for which an accepted assertion is recorded.

An assertion belongs to a flow, which expires after minutes, so the assertion cannot be replayed
after a day.
"""


def get_entity_id(slug: str) -> str:
    """Return this service's entity id for an organization's provider.

    The entity id is the URL of this service's metadata for the organization.
    """
    return links.build_api_url(METADATA_PATH.format(org_slug=slug))


def get_acs_url(slug: str) -> str:
    """Return the URL to which an organization's provider sends its responses."""
    return links.build_api_url(ACS_PATH.format(org_slug=slug))


def build_metadata(slug: str) -> Download:
    """Build this service's metadata for an organization. Raises 404 for an invalid slug.

    The metadata contains only URLs with the slug, so it is the same whether or not the organization
    exists. It is available before single sign-on is configured, because administrators need it to
    configure their provider.
    """
    if not slugs.is_slug(slug):
        raise errors.not_found()
    document = metadata.build(entity_id=get_entity_id(slug), acs_url=get_acs_url(slug))
    return Download(
        read=lambda start, end: iter([document[start:end]]),
        size=len(document),
        media_type=METADATA_TYPE,
        name=f"saml-metadata-{slug}.xml",
        etag=hashlib.sha256(document).hexdigest()[:32],
    )


def check(settings: Mapping[str, Any]) -> ProviderCheck:
    """Check the provider by parsing its metadata, which the settings contain or link to.

    Raises 400 for the invalid setting.
    """
    if settings["name_id_format"] not in (None, *NAME_ID_FORMATS):
        message = f"Must be one of {', '.join(NAME_ID_FORMATS)}."
        raise errors.invalid(message, "saml.name_id_format")
    url, xml = settings["metadata_url"], settings["metadata_xml"]
    if (url is None) == (xml is None):
        message = "Send either `metadata_url` or `metadata_xml`."
        raise errors.invalid(message, "saml.metadata_url")
    if url is None:
        provider = _read_metadata(xml.encode(), "saml.metadata_xml")
    else:
        provider = _read_metadata(_fetch_metadata(url), "saml.metadata_url")
    provider_data = {"sso_url": provider.sso_url, "certificates": list(provider.certificates)}
    # The anchor depends on the certificates even if the metadata comes from a URL: whoever
    # controls the URL could change the keys and sign in as an owner.
    certificates = " ".join(sorted(provider.certificates))
    return ProviderCheck(
        provider.entity_id, provider_data, anchor=hashlib.sha256(certificates.encode()).hexdigest()
    )


def build_authorization_url(configuration: Configuration, slug: str, new_flow: NewFlow) -> str:
    """Build the provider's sign-on URL with an AuthnRequest in its query."""
    sso_url = configuration.provider["sso_url"]
    authn_request = request.build_authn_request(
        request_id=new_flow.flow.request_id,
        sso_url=sso_url,
        issuer=get_entity_id(slug),
        acs_url=get_acs_url(slug),
        name_id_format=configuration.settings["name_id_format"],
        now=db.utc_now(),
    )
    return request.build_redirect_url(sso_url, authn_request, new_flow.state)


def describe(configuration: Configuration, slug: str) -> dict[str, Any]:
    """Return a configuration's settings, and the values to register with the provider."""
    return {
        **configuration.settings,
        "entity_id": get_entity_id(slug),
        "acs_url": get_acs_url(slug),
    }


def _fetch_metadata(url: str) -> bytes:
    try:
        return fetch("GET", url, headers={"Accept": f"{METADATA_TYPE}, application/xml, */*;q=0.1"})
    except (UnusableResponse, EgressRefused) as failure:
        message = f"The provider's metadata cannot be fetched: {failure}."
        raise errors.invalid(message, "saml.metadata_url") from None


def _read_metadata(document: bytes, field: str) -> metadata.ProviderMetadata:
    allow_http = container.current().egress.policy.allow_http
    try:
        return metadata.parse(document, now=db.utc_now(), allow_http=allow_http)
    except InvalidDocument as failure:
        message = f"The provider's metadata cannot be used: {failure}"
        raise errors.invalid(message, field) from None


def _parse_response(encoded: str) -> etree._Element:
    """Decode and parse the value of the form's SAMLResponse field (saml-bindings 3.5.4).

    Raises 422 if the value contains no SAML response.
    """
    try:
        # Some providers insert line breaks, as in MIME.
        return response.parse(base64.b64decode("".join(encoded.split()), validate=True))
    except (ValueError, binascii.Error):
        raise errors.unprocessable("SAMLResponse", "The value is not valid base64.") from None
    except InvalidDocument as failure:
        raise errors.unprocessable("SAMLResponse", str(failure)) from None


def _read_identity(
    tree: etree._Element, configuration: Configuration, flow: Flow, org_slug: str
) -> ExternalIdentity:
    """Verify a parsed response and return its identity (see `callbacks.IdentityReader`).

    Raises 401 `invalid_credentials` if the response is not valid or was used before, and 403
    `permission_denied` if the provider refused the sign-in.
    """
    expected = ExpectedValues(
        issuer=flow.issuer,
        certificates=metadata.load_certificates(configuration.provider["certificates"]),
        audience=get_entity_id(org_slug),
        acs_url=get_acs_url(org_slug),
        request_id=flow.request_id,
        requested_at=flow.created_at,
        now=db.utc_now(),
        name_id_format=configuration.settings["name_id_format"],
    )
    try:
        asserted_identity = response.verify(tree, expected)
    except SignInDeclined as refusal:
        message = f"The identity provider refused the sign-in: {refusal}."
        raise errors.denied(message) from None
    except ResponseRefused as refusal:
        raise _log_and_build_error(flow, str(refusal)) from None
    expires_at = min(asserted_identity.expires_at, expected.now + _ASSERTION_RETENTION) + SKEW
    assertion_hash = flows.fingerprint(
        "assertion", f"{asserted_identity.issuer} {asserted_identity.assertion_id}"
    )
    if not queries.record_assertion(assertion_hash, expires_at):
        raise _log_and_build_error(flow, "it was used before")
    return ExternalIdentity(
        issuer=asserted_identity.issuer,
        subject=asserted_identity.subject,
        email=asserted_identity.email,
        # SAML has no claim like `email_verified`: a provider vouches for the whole assertion.
        email_verified=True,
        name=asserted_identity.name,
        groups=asserted_identity.groups,
    )


def complete_sign_in(
    slug: str, form: Mapping[str, str], *, browser_secret: str | None
) -> dict[str, Any] | Redirect:
    """Complete a SAML sign-in with a posted response (see `callbacks.complete_sign_in`).

    Raises 400 for `RelayState` if the sign-in flow is unknown, used, expired or bound to another
    browser. Responses that this service did not request are therefore rejected.
    """
    tree = _parse_response(form["SAMLResponse"])
    try:
        return callbacks.complete_sign_in(
            "saml",
            state=form["RelayState"],
            browser_secret=browser_secret,
            read_identity=partial(_read_identity, tree),
            slug=slug,
        )
    except ApiError as refusal:
        if refusal.field == "state":
            refusal.field = "RelayState"
        raise


def _log_and_build_error(flow: Flow, reason: str) -> ApiError:
    """Log why a response was refused, and return the error to raise."""
    log.warning("sso.assertion_refused", issuer=flow.issuer, reason=reason)
    return build_invalid_response_error(reason)
