"""Service that sends, lists and revokes invitations."""

from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

from app.identity.invitations import queries
from app.identity.invitations.queries import InvitationDetails
from app.identity.invitations.service import ending, limits, tokens
from app.identity.organizations import service as organizations
from app.identity.teams import service as teams
from app.identity.users import addresses
from app.identity.users import service as users
from app.identity.users.models import User
from app.kit import db, errors, locales
from app.kit.emails import Emails
from app.kit.links import WebPage, build_token_link
from app.kit.pagination import Page, PageRequest
from app.kit.permissions import Role, require_role
from app.kit.principal import Caller

LIFETIME = timedelta(days=7)
emails = Emails(Path(__file__).parents[1] / "letters", queue="bulk_mail")


def list_invitations(page: PageRequest, filters: Mapping[str, Any]) -> Page:
    """Return a page of the organization's invitations with one status."""
    return queries.get_page(page, filters)


def invite(
    caller: Caller, *, email: str, role: str, team_ids: list[UUID] | None = None
) -> InvitationDetails:
    """Invite an address, or send its pending invitation again with a new token and expiry.

    Raises 400 on `email` or `team_ids`, 403 `insufficient_role` if the role is above the caller's,
    409 `conflict` if the address belongs to a member, and 429 `rate_limited` (see `limits`).
    """
    address = addresses.parse(email)
    require_role(organizations.lock_role(caller), max(Role[role], ending.MIN_ROLE))
    unique_team_ids = sorted(set(team_ids or []))
    _check_teams(unique_team_ids)
    account = users.find_by_email(address)
    if account is not None and queries.is_member(account.id):
        raise errors.ApiError("conflict", "This address belongs to a member.", field="email")
    limits.count_invitation(address)
    token, token_hash = tokens.create()
    now = db.utc_now()
    values = {
        "organization_id": caller.org.id,
        "email": address,
        "email_key": addresses.canonical(address),
        "role": role,
        "team_ids": [str(team_id) for team_id in unique_team_ids],
        "token_hash": token_hash,
        "expires_at": now + LIFETIME,
        "invited_by": caller.user_id,
        "updated_at": now,
    }
    invitation = queries.get(queries.upsert(values))
    assert invitation is not None
    _send_email(caller, invitation, token, account)
    return invitation


def _check_teams(team_ids: list[UUID]) -> None:
    unknown = set(team_ids) - teams.lock_existing(team_ids)
    if unknown:
        raise errors.invalid(
            "Must be teams of the organization.", "team_ids", team_ids=sorted(unknown)
        )


def _send_email(
    caller: Caller, invitation: InvitationDetails, token: str, account: User | None
) -> None:
    organization = organizations.get(caller)
    settings = organization["settings"]
    is_same_address = account is not None and account.email == invitation.email
    locale = account.locale if is_same_address and account else settings["locale"]
    time_zone = account.time_zone if is_same_address and account else settings["time_zone"]
    language = emails.templates.find("invitation", locale).language
    emails.enqueue(
        "invitation",
        to=invitation.email,
        locale=locale,
        organization_id=caller.org.id,
        values={
            "organization": organization["name"],
            "inviter": caller.name,
            "role": invitation.role,
            "expires": locales.format_timestamp(invitation.expires_at, language, time_zone),
            "link": build_token_link(WebPage.ACCEPT_INVITATION, token=token, language=locale),
            "token": token,
        },
    )


def revoke(invitation_id: UUID) -> None:
    """Revoke an invitation. Raises 404, or 409 `conflict` if it was accepted."""
    if queries.revoke(invitation_id):
        return
    invitation = queries.get(invitation_id)
    if invitation is None or invitation.status != "accepted":
        raise errors.not_found()
    raise errors.conflict("The invitation was already accepted.", state=invitation.status)
