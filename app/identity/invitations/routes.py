"""organizations: invitations; auth: what an invitation offers, and accepting it."""

from typing import Any
from uuid import UUID

from flask import request

from app.identity.auth.schemas import LoginResult
from app.identity.invitations import service
from app.identity.invitations.schemas import (
    AcceptInvitation,
    CreateInvitation,
    Invitation,
    InvitationFilters,
    Offer,
)
from app.kit.api.blueprint import Blueprint, Listing
from app.kit.principal import Caller

blueprint = Blueprint("invitations", tag="organizations")
public = Blueprint("invitation-tokens", tag="auth", records="invitations")


@public.get(
    "/auth/invitations/{invitation_token}",
    access="public",
    returns=Offer,
    text_ids=("invitation_token",),
)
def get_invitation(invitation_token: str) -> Any:
    """Read what an invitation offers, by the token that was mailed."""
    return service.offer(invitation_token)


@public.post(
    "/auth/invitations/{invitation_token}/accept",
    access="public",
    limit="accept_invitation",
    body=AcceptInvitation,
    returns=LoginResult,
    text_ids=("invitation_token",),
    idempotent=True,
)
def accept_invitation(invitation_token: str, body: dict[str, Any]) -> Any:
    """Join the organization, with an account that is made here or one that exists.

    An existing account is proven by its password, or by a bearer token of it.
    """
    return service.accept(
        invitation_token,
        authorization=request.headers.get("Authorization"),
        ip_address=request.remote_addr,
        user_agent=request.headers.get("User-Agent"),
        **body,
    )


@blueprint.get(
    "/organizations/{org_slug}/invitations",
    permission="invitations:manage",
    query=Listing(sorts=("-created_at", "email"), filters=InvitationFilters),
    returns=Invitation,
)
def list_invitations(caller: Caller, query: dict[str, Any]) -> Any:
    """List invitations: those that are open, unless another status is asked for."""
    return service.list_invitations(query.pop("page"), query)


@blueprint.post(
    "/organizations/{org_slug}/invitations",
    permission="invitations:manage",
    body=CreateInvitation,
    returns=Invitation,
    status=201,
    # A key that leaks must not let anybody in.
    keys=False,
)
def create_invitation(caller: Caller, body: dict[str, Any]) -> Any:
    """Invite an address with a role and teams; again for the same address, it is sent anew.

    429 `rate_limited` for an address that was invited within the minute or ten times within a day,
    and for an organization that has sent its invitations of the day.
    """
    return service.invite(caller, **body)


@blueprint.delete(
    "/organizations/{org_slug}/invitations/{invitation_id}",
    permission="invitations:manage",
    keys=False,
)
def revoke_invitation(caller: Caller, invitation_id: UUID) -> None:
    """Withdraw an invitation that nobody has accepted."""
    service.revoke(invitation_id)
