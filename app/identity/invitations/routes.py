"""API routes that manage an organization's invitations and accept invitations with a token."""

from typing import Any
from uuid import UUID

from flask import request

from app.identity.auth.routes import read_client
from app.identity.auth.schemas import LoginResult
from app.identity.invitations import accepting, queries, service
from app.identity.invitations.schemas import (
    AcceptInvitation,
    CreateInvitation,
    Invitation,
    InvitationFilters,
    InvitationPreview,
)
from app.kit.api.blueprint import Blueprint, Listing
from app.kit.pagination import Page
from app.kit.principal import Caller

blueprint = Blueprint("invitations", tag="organizations")
token_blueprint = Blueprint("invitation-tokens", tag="auth", record_type="invitations")


@token_blueprint.get(
    "/auth/invitations/{invitation_token}",
    access="public",
    returns=InvitationPreview,
    text_ids=("invitation_token",),
)
def get_invitation(invitation_token: str) -> object:
    """Get an invitation.

    Returns the organization, the email address and the role of an open invitation. The emailed
    token is the only credential.
    """
    return accepting.get_preview(invitation_token)


@token_blueprint.post(
    "/auth/invitations/{invitation_token}/accept",
    access="public",
    limit="accept_invitation",
    body=AcceptInvitation,
    returns=LoginResult,
    text_ids=("invitation_token",),
    idempotent=True,
)
def accept_invitation(invitation_token: str, body: dict[str, Any]) -> object:
    """Accept an invitation.

    Adds the account of the invited address to the organization. If the address has no account, an
    account is created with `name` and `password`. For an existing account, its password or a bearer
    token of the account is required. Emits `member.joined` for a new member.
    """
    return accepting.accept(
        invitation_token,
        authorization=request.headers.get("Authorization"),
        client=read_client(),
        **body,
    )


@blueprint.get(
    "/organizations/{org_slug}/invitations",
    permission="invitations:manage",
    query=Listing(sort_keys=("-created_at", "email"), filters=InvitationFilters, has_period=True),
    returns=Invitation,
)
def list_invitations(caller: Caller, query: dict[str, Any]) -> Page:
    """List invitations.

    Returns open invitations unless `status` selects another status.
    """
    return queries.get_page(query.pop("page"), query)


@blueprint.post(
    "/organizations/{org_slug}/invitations",
    permission="invitations:manage",
    body=CreateInvitation,
    returns=Invitation,
    status=201,
    # A leaked key must not be able to invite anybody.
    allows_api_keys=False,
)
def create_invitation(caller: Caller, body: dict[str, Any]) -> queries.InvitationDetails:
    """Create an invitation.

    Emails an invitation with a role and teams. If the address already has a pending invitation,
    sends the invitation again with a new token and expiry. The email is delayed if the organization
    has sent the address an invitation within the last minute or ten invitations within a day, or if
    the organization has reached its daily limit of invitation emails.
    """
    return service.invite(caller, **body)


@blueprint.delete(
    "/organizations/{org_slug}/invitations/{invitation_id}",
    permission="invitations:manage",
    allows_api_keys=False,
)
def revoke_invitation(caller: Caller, invitation_id: UUID) -> None:
    """Revoke an invitation.

    Revokes an invitation that has not been accepted.
    """
    service.revoke(invitation_id)
