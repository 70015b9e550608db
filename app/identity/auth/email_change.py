"""Change of the email address, and confirmation of the current one."""

from typing import Any
from uuid import UUID

from app.identity.auth import encrypted_jobs, links, password_policy, recovery, sessions
from app.identity.users import addresses
from app.identity.users import queries as user_queries
from app.identity.users import service as users
from app.kit import audit, db, errors, secrets
from app.kit.errors import ApiError
from app.kit.principal import Caller

REQUESTED = "auth.mail_confirmation"


def request(caller: Caller, *, email: str, password: str) -> dict[str, int]:
    """Enqueue an email with a confirmation link to the address.

    The response is the same whether or not another account has the address. Raises 400
    `validation_error`, 401 `invalid_credentials`, 403 if the account may not use a password, and
    429 within 30 seconds of the previous link.
    """
    address = addresses.parse(email)
    with secrets.hashing_slots.reserve():
        user = recovery.verify_password(caller, password)
    if address == user.email and user.email_verified_at is not None:
        raise errors.invalid("This is already your email address, and it is verified.", "email")
    if links.must_wait(user.id, links.EMAIL):
        raise ApiError(
            "rate_limited",
            "A link was sent less than 30 seconds ago. Try again in 30 seconds.",
            headers={"Retry-After": "30"},
        )
    version = str(user.token_version)
    encrypted_jobs.enqueue(REQUESTED, user_id=str(user.id), email=address, version=version)
    return {"expires_in": int(links.LIFETIME.total_seconds())}


def send_confirmation(user_id: UUID, email: str, version: int) -> None:
    """Send the confirmation link; runs in a worker.

    Sends nothing if another account has the address. The link is created all the same, so that the
    wait before the next request does not reveal that account. Sends nothing either if the user's
    token version has changed since the request: a late link must not survive a change that
    invalidated all links.
    """
    user = user_queries.lock(user_id)
    if user is None or user.disabled_at is not None or user.token_version != version:
        return
    if links.must_wait(user.id, links.EMAIL):
        return
    other = users.find_by_email(email)
    if other is None or other.id == user.id:
        links.send_link(user, links.EMAIL, email)
    else:
        links.issue(user, links.EMAIL, email)


def confirm(token: str) -> dict[str, Any]:
    """Set the address that the token was sent to as the account's verified address.

    Returns {email, email_verified}. A new address ends all sessions, and a notice is sent to the
    old one. Raises 400 `validation_error` on `token`, 409 `conflict` if another account has the
    mailbox by now, and 403 if the account may no longer use a password.
    """
    consumed = links.consume(token, links.EMAIL)
    user = user_queries.lock(consumed.user_id)
    if user is None or user.disabled_at is not None:
        raise errors.invalid("The account of this token is no longer available.", "token")
    audit.act_as("user", user.id, user.email)
    if consumed.email != user.email:
        other = users.find_by_email(consumed.email)
        if other is not None and other.id != user.id:
            raise users.address_taken()
        password_policy.check(user)
        old_email, user.email = user.email, consumed.email
        db.session().flush()
        sessions.end_all(user)
        links.invalidate_all(user.id)
        links.send_notice(user, "email_changed", to=old_email)
        user_queries.set_security(user, email_verified_at=db.utc_now())
    elif user.email_verified_at is None:
        user_queries.set_security(user, email_verified_at=db.utc_now())
    return {"email": user.email, "email_verified": True}
