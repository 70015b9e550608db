"""Where every protocol's answer arrives: the flow is used up, the answer read, the person let in."""

from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode, urlsplit, urlunsplit

from app.identity.organizations.models import Organization
from app.identity.sso import codes, flows, queries, sign_in
from app.identity.sso.external import ExternalIdentity
from app.identity.sso.models import Configuration, Flow
from app.kit import db, errors, tenancy
from app.kit.api.responses import Redirect
from app.kit.errors import ApiError
from app.kit.logging import get_logger

log = get_logger(__name__)

Reader = Callable[[Configuration, Flow, str], ExternalIdentity]
"""Makes an identity of the answer: (configuration, flow, slug). Raises `ApiError` to refuse."""


def arrive(
    kind: str, *, state: str, browser: str | None, read: Reader, slug: str | None = None
) -> dict[str, Any] | Redirect:
    """Finish the sign-in that `state` names.

    The application gets a one-time code: by redirect where the flow names an address of it, else in
    the answer. So it does with a refusal. Raises 400 on `state` (see `flows.finish`), and where
    there is no such address, what `read` and the organization's policy raise.

    :param slug: the organization that the answer's path names, where it names one.
    """
    flow = flows.finish(kind, state=state, browser=browser)
    # It is used up whatever comes of it, and the provider is asked outside of a transaction.
    db.checkpoint()
    with tenancy.organization(flow.organization_id):
        try:
            return _answer(flow, _let_in(flow, slug, read))
        except ApiError as refusal:
            if flow.redirect_uri is None:
                raise
            db.discard()
            log.info("sso.refused", code=refusal.code, reason=refusal.message)
            return Redirect(_with(flow, error=refusal.code, error_description=refusal.message))


def _let_in(flow: Flow, slug: str | None, read: Reader) -> sign_in.Outcome:
    organization = db.session().get(Organization, flow.organization_id)
    configuration = queries.configuration()
    if (
        organization is None
        or configuration is None
        or not configuration.enabled
        or (configuration.kind, configuration.provider["issuer"]) != (flow.kind, flow.issuer)
        or slug not in (None, organization.slug)
    ):
        raise errors.denied("Single sign-on has been changed in the meantime. Begin again.")
    db.checkpoint()
    identity = read(configuration, flow, organization.slug)
    return sign_in.sign_in(organization, configuration, identity, flow)


def _answer(flow: Flow, outcome: sign_in.Outcome) -> dict[str, Any] | Redirect:
    if flow.redirect_uri is not None:
        if outcome.code is None:
            return Redirect(_with(flow, error="confirmation_required"))
        return Redirect(_with(flow, code=outcome.code))
    return {
        "code": outcome.code,
        "expires_in": int(codes.LIFETIME.total_seconds()) if outcome.code else None,
        "confirmation": None if outcome.code else "email",
        "next": flow.next,
    }


def _with(flow: Flow, **parameters: str) -> str:
    """The application's address with these parameters and its own `next`."""
    assert flow.redirect_uri is not None
    if flow.next is not None:
        parameters["next"] = flow.next
    parts = urlsplit(flow.redirect_uri)
    query = "&".join(filter(None, (parts.query, urlencode(parameters))))
    return urlunsplit(parts._replace(query=query))
