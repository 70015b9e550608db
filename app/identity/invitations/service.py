"""Service that sends and revokes invitations."""

import secrets
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any, NamedTuple
from uuid import UUID

from limits import RateLimitItem, RateLimitItemPerDay, RateLimitItemPerMinute

from app.identity.invitations import queries
from app.identity.invitations.queries import InvitationDetails
from app.identity.organizations import queries as organization_queries
from app.identity.organizations import service as organizations
from app.identity.teams import service as teams
from app.identity.users import addresses
from app.identity.users import queries as user_queries
from app.identity.users import service as users
from app.identity.users.models import User
from app.kit import container, db, errors, locales, ratelimit, tenancy
from app.kit.emails import Email, Emails
from app.kit.links import WebPage, build_token_link
from app.kit.permissions import PERMISSIONS, Role, require_role
from app.kit.principal import Caller

LIFETIME = timedelta(days=7)
_DAY_SECONDS = 86_400
MIN_ROLE = PERMISSIONS["invitations:manage"]
"""The minimum role required to send invitations."""
ADDRESS_LIMITS: tuple[RateLimitItem, ...] = (RateLimitItemPerMinute(1), RateLimitItemPerDay(10))
"""The rate limits for the invitation emails that one organization sends to one address.

If all organizations shared a limit, it would reveal whom other organizations invite.
"""


def _find_address(recipient: Mapping[str, Any]) -> str | None:
    """Return the invited address that an email is for, or None if the invitation is not open.

    Also counts the email toward the limits that delayed it, because they have not counted it yet.
    """
    address = queries.find_open_address(recipient["token_hash"])
    if address is not None:
        for position in recipient.get("uncounted_limits", ()):
            _count_for_mailbox(ADDRESS_LIMITS[position], recipient["mailbox"])
    return address


emails = Emails(Path(__file__).parent / "emails", queue="bulk_mail", find_address=_find_address)


def invite(
    caller: Caller, *, email: str, role: str, team_ids: list[UUID] | None = None
) -> InvitationDetails:
    """Invite a person by email, or resend a pending invitation with a new token and expiry.

    Raises 400 if `email` or `team_ids` is invalid, 403 if the role is above the caller's role or
    the caller may no longer invite, and 409 `conflict` if the address belongs to a member.

    If a limit on emails is reached, the email is delayed. A delayed email is not sent if, in the
    meantime, the invitation is sent again, accepted or revoked, or expires.
    """
    address = addresses.parse(email)
    require_role(organizations.lock_role(caller), max(Role[role], MIN_ROLE))
    users.check_enabled(caller.user_id)
    unique_team_ids = sorted(set(team_ids or []))
    _check_teams(unique_team_ids)
    token = secrets.token_urlsafe(32)
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
    # Check afterwards, because the statement waits while an earlier invitation is being accepted.
    account = user_queries.find_by_email(address)
    if account is not None and organization_queries.get_role(account.id) is not None:
        raise errors.ApiError("conflict", "This address belongs to a member.", field="email")
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
    settings = organization.settings
    locale, time_zone = settings["locale"], settings["time_zone"]
    if account is not None and account.email == invitation.email:
        locale, time_zone = account.locale, account.time_zone
    language = emails.templates.find("invitation", locale).language
    mailbox_hash = _fingerprint_mailbox(invitation.email)
    schedule = _schedule_email(mailbox_hash)
    email = Email(
        name="invitation",
        to=invitation.email,
        locale=locale,
        organization_id=caller.org.id,
        values={
            "organization": organization.name,
            "inviter": caller.name,
            "role": invitation.role,
            "expires": locales.format_timestamp(invitation.expires_at, language, time_zone),
            "link": build_token_link(WebPage.ACCEPT_INVITATION, token=token, language=locale),
            "token": token,
        },
        recipient={
            "token_hash": hash_token(token),
            "mailbox": mailbox_hash,
            "uncounted_limits": schedule.uncounted_positions,
        },
    )
    unique_key = _build_email_key(mailbox_hash) if schedule.is_reserved else None
    emails.enqueue_delayed(email, delay=schedule.delay, unique_key=unique_key)


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


class _Schedule(NamedTuple):
    """The delay of an email in seconds, and the limits that have not counted the email.

    `uncounted_positions` are the positions in `ADDRESS_LIMITS` of limits that do not allow the
    email yet. `is_reserved` is true if the daily limit has counted the email, and false if the
    email will not be sent, because its invitation expires first.
    """

    delay: float
    uncounted_positions: list[int]
    is_reserved: bool = True


def _schedule_email(mailbox_hash: str) -> _Schedule:
    """Count an email toward its limits, and return when it may be sent.

    If an earlier email to the mailbox is queued, the new email replaces it and is not counted.
    The caller has locked the mailbox's invitation, so there is no concurrent call for the mailbox.
    """
    replaced_email = emails.cancel_queued(_build_email_key(mailbox_hash))
    if replaced_email is not None:
        return _Schedule(replaced_email.delay, replaced_email.recipient["uncounted_limits"])
    waits = [_count_for_mailbox(limit, mailbox_hash) for limit in ADDRESS_LIMITS]
    uncounted_positions = [position for position, wait in enumerate(waits) if wait]
    delay = _reserve_day(max(waits))
    if delay is None:
        return _Schedule(LIFETIME.total_seconds(), uncounted_positions, is_reserved=False)
    return _Schedule(delay, uncounted_positions)


def _reserve_day(delay: int) -> int | None:
    """Count an email on the first day that the organization's daily limit allows; return its delay.

    Tries the day that is `delay` seconds from now, and then each following day. The returned delay
    is in seconds. Returns None if the limit is reached on every day before the invitation's expiry.
    """
    # The count of a future day must be kept until that day is over.
    limit = RateLimitItemPerDay(container.settings().invitations_per_day, LIFETIME.days + 1)
    organization_id = tenancy.current_organization_id()
    for wait in range(delay, int(LIFETIME.total_seconds()), _DAY_SECONDS):
        due_date = (db.utc_now() + timedelta(seconds=wait)).date()
        if not ratelimit.count_action(limit, "invitations", f"{organization_id}/{due_date}"):
            return wait
    return None


def _count_for_mailbox(limit: RateLimitItem, mailbox_hash: str) -> int:
    """Count an email toward a limit, and return the seconds that it must wait, or 0."""
    return ratelimit.count_action(limit, "invited_address", mailbox_hash)


def _fingerprint_mailbox(email: str) -> str:
    """Return the keyed hash of a mailbox that the current organization invites.

    `email` must have been normalized by `addresses.parse`.
    """
    identity = f"{tenancy.current_organization_id()}{addresses.get_mailbox_key(email)}"
    return container.keyring().fingerprint("invited", identity)


def _build_email_key(mailbox_hash: str) -> str:
    return f"invitation/{mailbox_hash}"


def hash_token(token: str) -> str:
    """Return the keyed hash of an invitation's token; the token itself is not stored."""
    return container.keyring().fingerprint("invitation", token)
