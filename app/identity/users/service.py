"""Service that creates user accounts, and reads and updates profiles."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from app.identity.organizations import session_scope
from app.identity.users import addresses, passwords, preferences, queries
from app.identity.users.models import User
from app.kit import db, db_errors, errors, secrets
from app.kit.errors import ApiError
from app.kit.locales import check_locale, check_time_zone
from app.kit.principal import Caller

get_time_zone = queries.get_time_zone
_ADDRESS_TAKEN_MESSAGE = "An account with this email address already exists."
db_errors.register("uq_users_email", _ADDRESS_TAKEN_MESSAGE, "email")
db_errors.register("uq_users_email_key", _ADDRESS_TAKEN_MESSAGE, "email")


class Profile(NamedTuple):
    """A user's profile, with the channels for all notification types."""

    id: UUID
    email: str
    email_verified: bool
    name: str
    locale: str
    time_zone: str
    notification_preferences: dict[str, dict[str, bool]]
    created_at: datetime
    updated_at: datetime
    revision: int


def check_enabled(user_id: UUID) -> None:
    """Check that an account is enabled. Raises 403 `permission_denied` if it is disabled.

    Call this function after locking a membership of the user, so that the account cannot be
    disabled until the transaction ends.
    """
    if queries.is_disabled(user_id):
        raise errors.denied("This account is disabled.")


def create(
    *,
    email: str,
    name: str,
    password: str | None = None,
    locale: str = "en",
    time_zone: str = "UTC",
    verified: bool = False,
) -> User:
    """Create an account and flush it; the caller commits.

    A user without a password must sign in by other means, such as single sign-on. Raises 400
    `validation_error` if `email` or `password` is not accepted, and 409 `conflict` if the mailbox
    already has an account.
    """
    address = addresses.parse(email)
    if password is not None:
        passwords.check(password, email=address, name=name)
    if queries.find_by_email(address) is not None:
        raise build_address_taken_error()
    user = User(
        email=address,
        name=name,
        password_hash=None if password is None else secrets.hash_password(password),
        locale=locale,
        time_zone=time_zone,
        email_verified_at=db.utc_now() if verified else None,
    )
    db.session().add(user)
    db.session().flush()
    return user


def build_address_taken_error() -> ApiError:
    """Build the 409 error for an email address that already has an account."""
    return ApiError("conflict", _ADDRESS_TAKEN_MESSAGE, field="email")


def get_profile(user_id: UUID) -> Profile:
    """Return a user's profile with all notification preferences. Raises 404 for an unknown user."""
    return _render_profile(errors.require_found(queries.get(user_id)))


def _render_profile(user: User) -> Profile:
    return Profile(
        id=user.id,
        email=user.email,
        email_verified=user.email_verified_at is not None,
        name=user.name,
        locale=user.locale,
        time_zone=user.time_zone,
        notification_preferences=preferences.fill_defaults(user.notification_preferences),
        created_at=user.created_at,
        updated_at=user.updated_at,
        revision=user.revision,
    )


def update_profile(caller: Caller, *, changes: dict[str, Any], revision: int | None) -> Profile:
    """Update the caller's name, locale or time zone, and return the profile.

    Raises 403 if the caller's session is limited to one organization but the user is also a member
    of others, 400 `validation_error` if the locale or the time zone is invalid, and 409
    `stale_precondition` if `revision`, the revision of the profile, is outdated.
    """
    session_scope.check_account_change(caller)
    if "locale" in changes:
        changes["locale"] = check_locale(changes["locale"], "locale")
    if "time_zone" in changes:
        check_time_zone(changes["time_zone"], "time_zone")
    user = _lock_user(caller.user_id, revision)
    for field, value in changes.items():
        setattr(user, field, value)
    db.session().flush()
    return _render_profile(user)


def update_own_preferences(
    caller: Caller, *, changes: Mapping[str, Mapping[str, bool]], revision: int | None
) -> dict[str, dict[str, bool]]:
    """Change the caller's notification channels (see `update_preferences`).

    Also raises 403 if the caller's session is limited to one organization but the user is also a
    member of others.
    """
    session_scope.check_account_change(caller)
    return update_preferences(caller.user_id, changes=changes, revision=revision)


def update_preferences(
    user_id: UUID, *, changes: Mapping[str, Mapping[str, bool]], revision: int | None = None
) -> dict[str, dict[str, bool]]:
    """Change the channels for the notification types in `changes`.

    Returns the channels for all notification types. Raises 404 if the user does not exist, and 409
    `stale_precondition` if `revision`, the revision of the profile, is outdated.
    """
    user = _lock_user(user_id, revision)
    user.notification_preferences = preferences.merge(user.notification_preferences, changes)
    db.session().flush()
    return preferences.fill_defaults(user.notification_preferences)


def _lock_user(user_id: UUID, revision: int | None) -> User:
    user = errors.require_found(queries.lock(user_id))
    errors.check_revision(revision, user.revision)
    return user
