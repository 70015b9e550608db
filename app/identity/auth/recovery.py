"""Reset of a forgotten password by email, and change of a known one."""

from typing import Any

from app.identity.auth import attempts, encrypted_jobs, links, password_policy, service, sessions
from app.identity.users import passwords
from app.identity.users import queries as user_queries
from app.identity.users import service as users
from app.identity.users.models import User
from app.kit import audit, db, errors, secrets
from app.kit.errors import ApiError
from app.kit.principal import Caller

REQUESTED = "auth.mail_reset"


def request_reset(email: str) -> dict[str, int]:
    """Enqueue an email with a reset link, to be sent if the address has an account.

    Nothing is looked up here, so that neither the response nor its time reveals an account.
    """
    encrypted_jobs.enqueue(REQUESTED, email=email)
    return {"expires_in": int(links.LIFETIME.total_seconds())}


def send_reset_link(email: str) -> None:
    """Send a password reset link; runs in a worker.

    The link is sent to the stored address, never to the spelling in the request.
    """
    account = users.find_by_email(email)
    user = user_queries.lock(account.id) if account is not None else None
    if user is None or user.disabled_at is not None or links.must_wait(user.id, links.RESET):
        return
    if not password_policy.allows(user):
        return
    links.send_link(user, links.RESET, user.email)


def confirm_reset(
    *, token: str, password: str, ip_address: str | None, user_agent: str | None
) -> dict[str, Any]:
    """Set a new password with an emailed token, and return the login response.

    The token proves that the user receives the account's email: waits after failed logins end,
    other links become invalid, and the address becomes verified. Raises 400 `validation_error`; the
    token stays valid if the password is refused.
    """
    consumed = links.consume(token, links.RESET)
    user = user_queries.lock(consumed.user_id)
    if user is None or user.disabled_at is not None or user.email != consumed.email:
        raise errors.invalid("The account of this token is no longer available.", "token")
    audit.act_as("user", user.id, user.email)
    with secrets.hashing_slots.reserve():
        _replace_password(user, password, field="password")
    attempts.clear(attempts.get_address_subject(user.email))
    if user.email_verified_at is None:
        user_queries.set_security(user, email_verified_at=db.utc_now())
    return service.open_session(user, ip_address=ip_address, user_agent=user_agent)


def change_password(
    caller: Caller,
    *,
    current_password: str,
    new_password: str,
    ip_address: str | None,
    user_agent: str | None,
) -> dict[str, Any]:
    """Change the caller's password, and return a login response with a new token.

    All earlier tokens become invalid. Raises 401 `invalid_credentials` if the current password is
    wrong, 429 after repeated failures, and 400 if the new password is refused.
    """
    with secrets.hashing_slots.reserve():
        user = verify_password(caller, current_password)
        if current_password == new_password:
            message = "This is the current password. Choose a different one."
            raise errors.invalid(message, "new_password")
        _replace_password(user, new_password, field="new_password")
    return service.open_session(user, ip_address=ip_address, user_agent=user_agent)


def verify_password(caller: Caller, password: str) -> User:
    """Verify the caller's password and return the caller's account, locked.

    Raises 401 if the password is wrong, 429 after repeated failures, and 403 if the account may not
    use a password.
    """
    subject = attempts.get_user_subject(caller.user_id)
    has_failures = attempts.check(subject)
    user = user_queries.get(caller.user_id)
    if user is None:
        raise errors.not_found()
    stored = user.password_hash
    if not secrets.verify_password(stored or secrets.dummy_hash(), password) or stored is None:
        attempts.count(subject)
        raise ApiError("invalid_credentials", "The password is wrong.")
    if has_failures:
        attempts.clear(subject)
    locked = user_queries.lock(user.id)
    if locked is None or locked.password_hash != stored:
        raise errors.conflict("The password was changed by another request. Try again.")
    # If passwords are disabled for the account, even a correct one must not change anything, such
    # as the address for which they are disabled.
    password_policy.check(locked)
    return locked


def set_password(user: User, password: str) -> None:
    """Set the password of a locked user without verifying the old one; for the operator.

    Ends all sessions and links, like every password change. Raises 400 `validation_error`.
    """
    with secrets.hashing_slots.reserve():
        _replace_password(user, password, field="password")
    attempts.clear(attempts.get_address_subject(user.email))


def remove_credentials(user: User) -> None:
    """Remove the password, sessions and links of an account, and mark its address as verified.

    For an account with an unverified address, when its user proves the address in another way:
    somebody else may have created the account and may know the password.
    """
    user_queries.lock(user.id)
    user_queries.set_security(user, password_hash=None, email_verified_at=db.utc_now())
    sessions.end_all(user)
    links.invalidate_all(user.id)


def _replace_password(user: User, password: str, *, field: str) -> None:
    password_policy.check(user)
    passwords.check(password, email=user.email, name=user.name, field=field)
    user_queries.set_security(user, password_hash=secrets.hash_password(password))
    sessions.end_all(user)
    links.invalidate_all(user.id)
    links.send_notice(user, "password_changed", to=user.email)
