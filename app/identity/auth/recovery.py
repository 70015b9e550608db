"""New passwords: by a mailed link, or by the one before."""

from typing import Any

from app.identity.auth import attempts, links, password_policy, sealed, service, sessions
from app.identity.users import passwords
from app.identity.users import queries as user_queries
from app.identity.users import service as users
from app.identity.users.models import User
from app.kit import audit, db, errors, secrets
from app.kit.errors import ApiError
from app.kit.principal import Caller

REQUESTED = "auth.mail_reset"


def request_reset(email: str) -> dict[str, int]:
    """Let a worker mail a link, if there is an account.

    Nothing is looked up here, so that nothing can be told from the answer or its time.
    """
    sealed.enqueue(REQUESTED, email=email)
    return {"expires_in": int(links.LIFETIME.total_seconds())}


def mail_reset(email: str) -> None:
    """The worker's part. The link goes to the stored address, never to the one that was typed."""
    found = users.by_email(email)
    user = user_queries.lock(found.id) if found is not None else None
    if user is None or user.disabled_at is not None or links.recently(user.id, links.RESET):
        return
    if not password_policy.allows(user):
        return
    links.mail(user, links.RESET, user.email)


def confirm_reset(
    *, token: str, password: str, ip_address: str | None, user_agent: str | None
) -> dict[str, Any]:
    """Set a new password with a mailed token; the login response.

    Whoever reads the mail is the owner: waits after failed log-ins end, other links become
    worthless, and the address counts as verified. Raises 400 `validation_error`; a password that is
    refused leaves the token good.
    """
    spent = links.spend(token, links.RESET)
    user = user_queries.lock(spent.user_id)
    if user is None or user.disabled_at is not None or user.email != spent.email:
        raise errors.invalid("The account of this token is gone.", "token")
    audit.act_as("user", user.id, user.email)
    with secrets.hashing_slots.reserve():
        _replace(user, password, field="password")
    attempts.clear(attempts.of_address(user.email))
    if user.email_verified_at is None:
        user_queries.set_security(user, email_verified_at=db.utc_now())
    return service.open_session(user, ip_address=ip_address, user_agent=user_agent)


def change(
    caller: Caller,
    *,
    current_password: str,
    new_password: str,
    ip_address: str | None,
    user_agent: str | None,
) -> dict[str, Any]:
    """Change the caller's password; the login response, for every token before it is worthless.

    Raises 401 `invalid_credentials` on a wrong current password, 429 after several, 400.
    """
    with secrets.hashing_slots.reserve():
        user = prove(caller, current_password)
        if current_password == new_password:
            raise errors.invalid("This is the present password.", "new_password")
        _replace(user, new_password, field="new_password")
    return service.open_session(user, ip_address=ip_address, user_agent=user_agent)


def prove(caller: Caller, password: str) -> User:
    """The caller's account, locked, once the password is right. Raises 401 and 429, and 403 where
    passwords are turned off for it."""
    subject = attempts.of_user(caller.user_id)
    failed = attempts.check(subject)
    user = user_queries.get(caller.user_id)
    if user is None:
        raise errors.not_found()
    stored = user.password_hash
    if not secrets.verify_password(stored or secrets.dummy_hash(), password) or stored is None:
        attempts.count(subject)
        raise ApiError("invalid_credentials", "The password is wrong.")
    if failed:
        attempts.clear(subject)
    locked = user_queries.lock(user.id)
    if locked is None or locked.password_hash != stored:
        raise errors.conflict("The password was changed meanwhile.")
    # Where passwords are off, a right one changes nothing: not the address that they are off for.
    password_policy.check(locked)
    return locked


def set_password(user: User, password: str) -> None:
    """Give a locked user another password, without proof: the operator's part.

    It ends all sessions and links, as every change of it does. Raises 400 `validation_error`.
    """
    with secrets.hashing_slots.reserve():
        _replace(user, password, field="password")
    attempts.clear(attempts.of_address(user.email))


def disown(user: User) -> None:
    """Leave nothing to whoever made an account for an address that they never proved.

    For somebody whom another proof of the address lets into the account: the password, sessions
    and links from before are a stranger's for all one knows. The address counts as verified.
    """
    user_queries.lock(user.id)
    user_queries.set_security(user, password_hash=None, email_verified_at=db.utc_now())
    sessions.end_all(user)
    links.withdraw(user.id)


def _replace(user: User, password: str, *, field: str) -> None:
    password_policy.check(user)
    passwords.check(password, email=user.email, name=user.name, field=field)
    user_queries.set_security(user, password_hash=secrets.hash_password(password))
    sessions.end_all(user)
    links.withdraw(user.id)
    links.tell(user, "password_changed", to=user.email)
