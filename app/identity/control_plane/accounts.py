"""Service that manages user accounts and sessions for the operator."""

from collections.abc import Iterator
from datetime import datetime
from typing import TypedDict
from uuid import UUID

from app.identity.api_keys import queries as api_keys
from app.identity.auth import credentials, links
from app.identity.auth import queries as auth_queries
from app.identity.auth import service as auth
from app.identity.auth.queries import ActiveSession
from app.identity.control_plane import queries
from app.identity.control_plane.queries import UserSummary
from app.identity.control_plane.service import LINK_LIFETIME, emails
from app.identity.invitations import service as invitations
from app.identity.users import queries as user_queries
from app.identity.users import service as users
from app.identity.users.models import User
from app.kit import container, db, errors, tenancy
from app.kit.errors import ApiError
from app.kit.locales import check_locale


class Account(TypedDict):
    """An account in the format of the operator's commands."""

    id: UUID
    email: str
    name: str
    email_verified: bool
    disabled: bool
    created_at: datetime


class DisabledAccount(Account):
    """A disabled account, with a summary of the effects of disabling it.

    `revoked` is the number of revoked sessions. `sole_owner_of` contains the slugs of organizations
    without another enabled owner. `api_keys` is the number of remaining keys that have not expired,
    including those of closed organizations.
    """

    revoked: int
    sole_owner_of: list[str]
    api_keys: int


def create_user(
    *, email: str, name: str, password: str | None, locale: str = "en", verified: bool = False
) -> Account:
    """Create an account; if `password` is None, email the user a link to choose a password.

    Raises 400 `validation_error` if a value is not accepted, and 409 `conflict` if the mailbox
    already has an account.
    """
    user = users.create(
        email=email,
        name=name,
        password=password,
        locale=check_locale(locale, "locale"),
        verified=verified,
    )
    if password is None:
        values: dict[str, str | int | None] = {
            **links.issue(user, links.PASSWORD_RESET, user.email, LINK_LIFETIME),
            "name": user.name,
            "email": user.email,
            "days": LINK_LIFETIME.days,
            "address": container.settings().public_url,
        }
        emails.enqueue("account", to=user.email, locale=user.locale, values=values)
    return _render_user(user)


def list_users(*, slug: str | None = None, disabled: bool | None = None) -> Iterator[UserSummary]:
    """Yield all accounts, or only the members of one organization, sorted by email address.

    `slug` selects the organization. If `disabled` is not None, yields only disabled accounts (True)
    or only enabled accounts (False). Raises 404 for an unknown slug.
    """
    organization_id = None
    with tenancy.across_organizations(reason="the operator sees every account"):
        if slug is not None:
            organization_id = errors.require_found(queries.find_by_slug(slug)).id
        yield from queries.list_users(organization_id=organization_id, disabled=disabled)


def disable_user(email: str, *, revoke_keys: bool = False) -> DisabledAccount:
    """Disable an account, revoke its sessions and emailed links, and return it with a summary.

    API keys that the user created belong to their organizations and keep working, unless
    `revoke_keys` is true. The organizations' owners are notified about keys that still work. Emits
    `member.disabled` in each of the user's organizations; subscribers release the user's work.
    Revokes the pending invitations that the user sent.

    Raises 404 for an unknown address, and 409 if the account is already disabled.
    """
    user = _lock_user(email)
    if user.disabled_at is not None:
        raise errors.conflict("The account is already disabled.")
    with tenancy.across_organizations(
        reason="finds the organizations that would be left without an owner"
    ):
        solely_owned_slugs = queries.list_solely_owned_slugs(user.id)
    user_queries.update_account(user, disabled_at=db.utc_now())
    with tenancy.across_organizations(
        reason="releases the user's work in each of their organizations"
    ):
        queries.emit_member_disabled(user.id)
        invitations.revoke_by_inviter(user.id, role=None)
        if revoke_keys:
            api_keys.delete_by_creator(user.id)
        key_count = api_keys.count_unexpired_by_creator(user.id)
    links.invalidate_all(user.id)
    revoked_count = auth.end_all_sessions(user)
    return {
        **_render_user(user),
        "revoked": revoked_count,
        "sole_owner_of": solely_owned_slugs,
        "api_keys": key_count,
    }


def enable_user(email: str) -> Account:
    """Enable a disabled account; its revoked sessions stay revoked.

    Raises 404 for an unknown address, and 409 if the account is not disabled.
    """
    user = _lock_user(email)
    if user.disabled_at is None:
        raise errors.conflict("The account is not disabled.")
    user_queries.update_account(user, disabled_at=None)
    return _render_user(user)


def set_password(email: str, password: str) -> Account:
    """Set the password of an account, revoke its sessions and emailed links, and email a notice.

    Raises 404 for an unknown address, 400 `validation_error` if the password is rejected, and 403
    `permission_denied` if the account may not use a password.
    """
    user = _lock_user(email)
    credentials.set_password(user, password)
    return _render_user(user)


def list_sessions(email: str) -> list[ActiveSession]:
    """Return the active sessions of an account. Raises 404 for an unknown address."""
    return auth_queries.list_all_active_sessions(_find_user(email).id)


def revoke_sessions(email: str) -> int:
    """Revoke all sessions of an account, and return how many were active.

    Raises 404 for an unknown address.
    """
    return auth.end_all_sessions(_lock_user(email))


def _find_user(email: str) -> User:
    user = user_queries.find_by_email(email)
    if user is None:
        raise ApiError("not_found", "No account has this email address.", field="email")
    return user


def _lock_user(email: str) -> User:
    return errors.require_found(user_queries.lock(_find_user(email).id))


def _render_user(user: User) -> Account:
    return {
        "id": user.id,
        "email": user.email,
        "name": user.name,
        "email_verified": user.email_verified_at is not None,
        "disabled": user.disabled_at is not None,
        "created_at": user.created_at,
    }
