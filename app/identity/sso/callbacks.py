"""Completion of sign-ins: uses up the flow, reads the response, and signs the person in."""

from collections.abc import Callable
from typing import Any

from app.identity.organizations.models import Organization
from app.identity.sso import flows, links, queries, sign_in
from app.identity.sso.models import Configuration, Flow
from app.identity.sso.providers import ExternalIdentity
from app.kit import db, errors, tenancy
from app.kit.api.responses import Redirect
from app.kit.errors import ApiError
from app.kit.logging import get_logger

log = get_logger(__name__)

IdentityReader = Callable[[Configuration, Flow, str], ExternalIdentity]
"""A function that reads the identity from a response: (configuration, flow, org_slug) -> identity.

It raises `ApiError` to refuse the response.
"""


def complete_sign_in(
    protocol: str,
    *,
    state: str,
    browser_secret: str | None,
    read_identity: IdentityReader,
    slug: str | None,
) -> dict[str, Any] | Redirect:
    """Complete the sign-in that `state` identifies.

    The application gets a one-time code, or learns that the person must first confirm the sign-in
    by email. The result is sent in a redirect if the flow has a redirect URI, otherwise in the
    response body.

    `protocol` is `oidc` or `saml`. `slug` is the organization's slug in the request URL, or None if
    the URL has no slug. The sign-in is refused unless `slug` names the organization of the flow.

    Raises 400 for `state` (see `flows.finish`). Errors from `read_identity` and from the
    organization's policy are sent in the redirect, or raised if the flow has no redirect URI.
    """
    flow = flows.finish(protocol, state=state, browser_secret=browser_secret)
    # Commit, so that the flow stays used even if the sign-in fails, and so that no transaction is
    # open while the provider is called.
    db.checkpoint()
    with tenancy.organization(flow.organization_id):
        try:
            return _build_response(flow, _sign_in(flow, slug, read_identity))
        except ApiError as refusal:
            log.info("sso.refused", kind=protocol, code=refusal.code, reason=refusal.message)
            return_url = links.build_return_url(
                flow, error=refusal.code, error_description=refusal.message
            )
            if return_url is None:
                raise
            db.roll_back()
            return Redirect(return_url)


def _sign_in(flow: Flow, slug: str | None, read_identity: IdentityReader) -> str | None:
    organization, configuration = _get_organization_and_configuration(flow)
    if slug is None:
        raise errors.denied("The response does not name the organization. Sign in again.")
    if slug != organization.slug:
        raise errors.denied("The response belongs to another organization.")
    db.checkpoint()
    identity = read_identity(configuration, flow, organization.slug)
    # Read again with a lock, so that two concurrent first sign-ins of a person create one account.
    organization, configuration = _get_organization_and_configuration(flow, lock=True)
    return sign_in.sign_in(organization, configuration, identity, flow)


def _get_organization_and_configuration(
    flow: Flow, *, lock: bool = False
) -> tuple[Organization, Configuration]:
    """Return the organization and its current configuration.

    Raises 403 `permission_denied` if single sign-on is no longer available, or if the protocol or
    the issuer changed after the flow began.
    """
    pair = queries.get_available_configuration(flow.organization_id, lock=lock)
    if pair is None or (pair[1].kind, pair[1].provider["issuer"]) != (flow.kind, flow.issuer):
        raise errors.denied("The single sign-on configuration has changed. Sign in again.")
    return pair


def _build_response(flow: Flow, code: str | None) -> dict[str, Any] | Redirect:
    parameters = {"code": code} if code else {"error": "confirmation_required"}
    return_url = links.build_return_url(flow, **parameters)
    if return_url is not None:
        return Redirect(return_url)
    return {
        "code": code,
        "expires_in": int(flows.CODE_LIFETIME.total_seconds()) if code else None,
        "confirmation": None if code else "email",
        "next": flow.next,
    }
