"""Service that sends and revokes invitations."""

from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

from limits import RateLimitItem, RateLimitItemPerDay, RateLimitItemPerMinute

from app.identity.invitations import queries
from app.identity.invitations.queries import InvitationDetails
from app.identity.organizations import queries as organization_queries
from app.identity.organizations import service as organizations
from app.identity.teams import service as teams
from app.identity.users import addresses
from app.identity.users import queries as user_queries
from app.identity.users.models import User
from app.kit import container, db, errors, locales, ratelimit, secrets, tenancy
from app.kit.emails import Emails
from app.kit.links import WebPage, build_token_link
from app.kit.permissions import PERMISSIONS, Role, require_role
from app.kit.principal import Caller

LIFETIME = timedelta(days=7)
MIN_ROLE = PERMISSIONS["invitations:manage"]
"""The minimum role required to send invitations."""
ADDRESS_LIMITS: tuple[RateLimitItem, ...] = (RateLimitItemPerMinute(1), RateLimitItemPerDay(10))
"""The limits of emails with invitations that one organization sends to one address.

If all organizations shared a limit, it would reveal whom other organizations invite.
"""


def _find_address(recipient: Mapping[str, Any]) -> str | None:
    """Return the address of an open invitation, or None if its token is no longer valid."""
    return queries.find_open_address(recipient["token_hash"])


emails = Emails(Path(__file__).parent / "letters", queue="bulk_mail", find_address=_find_address)


def invite(
    caller: Caller, *, email: str, role: str, team_ids: list[UUID] | None = None
) -> InvitationDetails:
    """Invite a person by email, or resend a pending invitation with a new token and expiry.

    Raises 400 if `email` or `team_ids` is invalid, 403 `insufficient_role` if the role is above
    the caller's role, and 409 `conflict` if the address belongs to a member.

    Above the limits of emails, the email waits. It is dropped if the invitation is sent again,
    accepted or revoked in the meantime.
    """
    address = addresses.parse(email)
    require_role(organizations.lock_role(caller), max(Role[role], MIN_ROLE))
    unique_team_ids = sorted(set(team_ids or []))
    _check_teams(unique_team_ids)
    account = user_queries.find_by_email(address)
    if account is not None and organization_queries.get_role(account.id) is not None:
        raise errors.ApiError("conflict", "This address belongs to a member.", field="email")
    token = secrets.random_token()
    now = db.utc_now()
    values = {
        "organization_id": caller.org.id,
        "email": address,
        "email_key": addresses.get_mailbox_key(address),
        "role": role,
        "team_ids": [str(team_id) for team_id in unique_team_ids],
        "token_hash": hash_token(token),
        "expires_at": now + LIFETIME,
        "invited_by": caller.user_id,
        "updated_at": now,
    }
    invitation = queries.get(queries.upsert(values))
    assert invitation is not None
    _send_email(caller, invitation, token, account)
    return invitation


def _check_teams(team_ids: list[UUID]) -> None:
    unknown_ids = set(team_ids) - teams.lock_existing_teams(team_ids)
    if unknown_ids:
        raise errors.invalid(
            "Every team must belong to the organization.",
            "team_ids",
            team_ids=sorted(unknown_ids),
        )


def _send_email(
    caller: Caller, invitation: InvitationDetails, token: str, account: User | None
) -> None:
    organization = organizations.get(caller)
    settings = organization["settings"]
    locale, time_zone = settings["locale"], settings["time_zone"]
    if account is not None and account.email == invitation.email:
        locale, time_zone = account.locale, account.time_zone
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
        recipient={"token_hash": hash_token(token)},
        delay=count_email(invitation.email),
    )


def revoke(invitation_id: UUID) -> None:
    """Revoke a pending invitation.

    Raises 404 if the invitation does not exist or was already revoked, and 409 `conflict` if it was
    already accepted.
    """
    if queries.revoke(invitation_id):
        return
    invitation = queries.get(invitation_id)
    if invitation is None or invitation.status != "accepted":
        raise errors.not_found()
    raise errors.conflict("The invitation was already accepted.", state=invitation.status)


def revoke_by_inviter(user_id: UUID, *, role: Role | None) -> None:
    """Revoke the pending invitations that a user sent but is no longer allowed to send.

    `role` is the user's current role, or None if the user is no longer a member or cannot sign in.
    Applies to the current organization. Within `tenancy.across_organizations`, applies to all
    organizations.
    """
    allowed_roles = [] if role is None or role < MIN_ROLE else [r for r in Role if r <= role]
    queries.revoke_by_inviter(user_id, [r.name for r in Role if r not in allowed_roles])


def count_email(email: str) -> int:
    """Count an invitation's email from the current organization towards its limits.

    `email` must have been normalized by `addresses.parse`. Returns the seconds after which the
    email may be sent, 0 if at once.
    """
    organization_id = str(tenancy.current_organization_id())
    mailbox_fingerprint = container.keyring().fingerprint(
        "invited", organization_id + addresses.get_mailbox_key(email)
    )
    address_waits = [
        ratelimit.count_action(limit, "invited_address", mailbox_fingerprint)
        for limit in ADDRESS_LIMITS
    ]
    # An email that waits counts later, unless a newer invitation has replaced it by then.
    return max(address_waits) or _reserve_day(organization_id)


def _reserve_day(organization_id: str) -> int:
    """Reserve one of the organization's emails of a day, and return the seconds until that day.

    If every day before the invitation's expiry is used up, returns the seconds until its expiry, at
    which the email is dropped.
    """
    limit = RateLimitItemPerDay(container.settings().invitations_per_day)
    for day in range(LIFETIME.days):
        due_date = (db.utc_now() + timedelta(days=day)).date()
        key = f"{organization_id}/{due_date}"
        if not ratelimit.count_action(limit, "invitations", key):
            return day * 86_400
    return int(LIFETIME.total_seconds())


def hash_token(token: str) -> str:
    """Return the keyed hash of an invitation's token; the token itself is not stored."""
    return container.keyring().fingerprint("invitation", token)
