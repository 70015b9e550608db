"""Service that shows and accepts invitations, which are identified by the emailed token."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from app.identity.auth import credentials, password_policy
from app.identity.auth import queries as session_queries
from app.identity.auth import service as auth
from app.identity.auth.responses import LoginResponse
from app.identity.auth.service import Client
from app.identity.invitations import queries
from app.identity.invitations.models import Invitation
from app.identity.invitations.queries import TokenInvitation
from app.identity.invitations.service import hash_token
from app.identity.organizations import service as organizations
from app.identity.organizations.models import CLOSED_STATUSES
from app.identity.teams import service as teams
from app.identity.users import queries as user_queries
from app.identity.users import service as users
from app.identity.users.models import Person, User
from app.kit import audit, db, errors, secrets, tenancy
from app.kit import tokens as access_tokens
from app.kit.errors import ApiError
from app.kit.permissions import Role
from app.kit.principal import Caller

_NOT_OPEN_MESSAGES = {
    "accepted": "The invitation was already accepted.",
    "revoked": "The invitation was revoked.",
    "expired": "The invitation has expired. Ask for a new invitation.",
}


class InvitingOrganization(NamedTuple):
    """The organization that an invitation is for."""

    slug: str
    name: str


class InvitationPreview(NamedTuple):
    """An open invitation; `has_account` is true if the invited address has an account."""

    organization: InvitingOrganization
    email: str
    role: str
    inviter_name: str | None
    expires_at: datetime
    has_account: bool


def get_preview(token: str) -> InvitationPreview:
    """Return a preview of an open invitation, including whether the address has an account.

    Raises 404 for an unknown token, and 409 `conflict` with `details.state` if the invitation is
    not open.
    """
    invitation, organization, _, inviter_name = _find_open_invitation(token)
    return InvitationPreview(
        organization=InvitingOrganization(organization.slug, organization.name),
        email=invitation.email,
        role=invitation.role,
        inviter_name=inviter_name,
        expires_at=invitation.expires_at,
        has_account=_find_account(invitation.email) is not None,
    )


def accept(
    token: str,
    *,
    authorization: str | None,
    client: Client,
    name: str | None = None,
    password: str | None = None,
) -> LoginResponse:
    """Accept an invitation, join the organization, and return the login response.

    If the invited address has an account, its password or bearer token (`authorization`) is
    required; otherwise, a verified account is created. Raises the errors of `get_preview` and
    `auth.login`, 400 for a missing or invalid value, 401 for an invalid token, 402 at the plan
    limit, and 403 for another account's token, a suspended organization or disabled passwords.
    """
    invitation, organization, *_ = _find_open_invitation(token)
    if organization.status == "suspended":
        raise errors.denied("The organization is suspended. Nobody can join it now.")
    with tenancy.organization(invitation.organization_id):
        # Lock before any slow step: a concurrent request waits for this lock and then fails.
        if not queries.lock_open_invitation(hash_token(token)):
            raise _build_not_open_error(_find_open_invitation(token).status)
        user = _find_account(invitation.email)
        if user is not None:
            response, caller = _authenticate(user, password, client, authorization)
        elif authorization is not None:
            raise _build_wrong_account_error()
        else:
            user = _create_account(invitation.email, organization.settings, name, password)
            response, caller = auth.open_session(user, client), None
        # Accept after authentication, so that the audit log records the user. The invitation may
        # have expired in the meantime.
        if not queries.mark_accepted(hash_token(token)):
            raise _build_not_open_error("expired")
        _join(invitation, user, kept_session_id=caller.session_id if caller else None)
    if user.email_verified_at is None:
        credentials.mark_verified(user)
    only_id = caller.only_organization_id if caller else None
    user_organizations = organizations.list_for_user(user.id, only_organization_id=only_id)
    return response._replace(organizations=user_organizations)


def _join(invitation: Invitation, user: User, *, kept_session_id: UUID | None) -> None:
    """Add the user to the organization and the teams; an existing member keeps their role.

    Revokes the single sign-on sessions of a new owner, because they may have been opened without
    the confirmation by email that owners need. The session `kept_session_id` is kept: its user has
    proved access to the mailbox with the invitation's token.
    """
    is_new_member = organizations.join(user.id, role=invitation.role, invitation_id=invitation.id)
    teams.join(user.id, map(UUID, invitation.team_ids))
    if is_new_member and invitation.role == Role.owner.name:
        session_queries.revoke_sso_sessions(
            user.id, invitation.organization_id, kept_session_id=kept_session_id
        )


def _find_open_invitation(token: str) -> TokenInvitation:
    with tenancy.across_organizations(
        reason="the organization is known only from the invitation's token"
    ):
        row = errors.require_found(queries.find_by_token(hash_token(token)))
    if row.organization.status in CLOSED_STATUSES:
        raise _build_not_open_error("revoked")
    if row.status != "open":
        raise _build_not_open_error(row.status)
    return row


def _build_not_open_error(status: str) -> ApiError:
    return errors.conflict(_NOT_OPEN_MESSAGES[status], state=status)


def _find_account(email: str) -> User | None:
    """Return the account with exactly this address, or None.

    An account with a look-alike address may belong to somebody else.
    """
    account = user_queries.find_by_email(email)
    return account if account is not None and account.email == email else None


def _create_account(
    email: str, settings: Mapping[str, Any], name: str | None, password: str | None
) -> User:
    password_policy.check_address(email)
    for field, value in (("name", name), ("password", password)):
        if value is None:
            raise errors.invalid("This field is required to create an account.", field)
    preferences = {
        setting: settings[setting] for setting in ("locale", "time_zone") if setting in settings
    }
    with secrets.hashing_slots.reserve():
        return users.create(
            email=email, name=name or "", password=password, verified=True, **preferences
        )


def _authenticate(
    account: User, password: str | None, client: Client, authorization: str | None
) -> tuple[LoginResponse, Caller | None]:
    """Verify a bearer token or the password of the account, and return the login response.

    Also returns the caller that the bearer token identifies, or None if a session was opened.
    """
    if authorization is not None:
        return _authenticate_token(account, authorization)
    if password is None:
        message = "This address has an account. Send the account's password or bearer token."
        raise errors.invalid(message, "password")
    return auth.login(email=account.email, password=password, client=client), None


def _authenticate_token(account: User, authorization: str) -> tuple[LoginResponse, Caller]:
    """Verify a bearer token of the account, and return the login response and the caller.

    No new session is opened. The response contains no organizations, because the user has not
    joined yet. The session of the caller may be limited to another organization than that of the
    invitation.
    """
    token = access_tokens.parse_bearer(authorization)
    if not token:
        raise access_tokens.build_invalid_error()
    caller = auth.authenticate_token(token, None)
    audit.set_actor("user", caller.user_id, caller.email)
    if caller.user_id != account.id:
        raise _build_wrong_account_error()
    assert caller.expires_at is not None
    response = LoginResponse(
        access_token=token,
        expires_in=max(0, int((caller.expires_at - db.utc_now()).total_seconds())),
        user=Person(account.id, account.email, account.name),
        organizations=[],
    )
    return response, caller


def _build_wrong_account_error() -> ApiError:
    message = "The invitation was sent to a different email address than your account's."
    return errors.denied(message)
