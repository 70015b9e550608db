"""Another e-mail address, or proof of the present one."""

from typing import Any
from uuid import UUID

from app.identity.auth import links, password_policy, recovery, sealed, sessions
from app.identity.users import addresses
from app.identity.users import queries as user_queries
from app.identity.users import service as users
from app.kit import audit, db, errors, secrets
from app.kit.errors import ApiError
from app.kit.principal import Caller

REQUESTED = "auth.mail_confirmation"


def request(caller: Caller, *, email: str, password: str) -> dict[str, int]:
    """Let a worker mail a link to the address.

    Answers the same whether or not the address has another account. Raises 400 `validation_error`,
    401 `invalid_credentials`, 403 where passwords are turned off, 429 within half a minute of the
    last one.
    """
    address = addresses.parse(email)
    with secrets.hashing_slots.reserve():
        user = recovery.prove(caller, password)
    if address == user.email and user.email_verified_at is not None:
        raise errors.invalid("This is your address already, and it is verified.", "email")
    if links.recently(user.id, links.EMAIL):
        raise ApiError(
            "rate_limited",
            "A link was mailed just now. Try again in half a minute.",
            headers={"Retry-After": "30"},
        )
    version = str(user.token_version)
    sealed.enqueue(REQUESTED, user_id=str(user.id), email=address, version=version)
    return {"expires_in": int(links.LIFETIME.total_seconds())}


def mail_confirmation(user_id: UUID, email: str, version: int) -> None:
    """The worker's part. Nothing is mailed to who has another account; the next request has to wait
    all the same, or the wait would tell of it. Nothing is either once the token version is another
    than when it was asked for: what makes links worthless must not be outrun by a late one."""
    user = user_queries.lock(user_id)
    if user is None or user.disabled_at is not None or user.token_version != version:
        return
    if links.recently(user.id, links.EMAIL):
        return
    other = users.by_email(email)
    if other is None or other.id == user.id:
        links.mail(user, links.EMAIL, email)
    else:
        links.issue(user, links.EMAIL, email)


def confirm(token: str) -> dict[str, Any]:
    """Take over the address that the token was mailed to: {email, email_verified}.

    A new address ends all sessions, and the old one is told. Raises 400 `validation_error` on
    `token`, 409 `conflict` when the mailbox has another account by now, 403 where passwords are
    turned off by now for the one before.
    """
    spent = links.spend(token, links.EMAIL)
    user = user_queries.lock(spent.user_id)
    if user is None or user.disabled_at is not None:
        raise errors.invalid("The account of this token is gone.", "token")
    audit.act_as("user", user.id, user.email)
    if spent.email != user.email:
        other = users.by_email(spent.email)
        if other is not None and other.id != user.id:
            raise users.taken()
        password_policy.check(user)
        old, user.email = user.email, spent.email
        db.session().flush()
        sessions.end_all(user)
        links.withdraw(user.id)
        links.tell(user, "email_changed", to=old)
        user_queries.set_security(user, email_verified_at=db.utc_now())
    elif user.email_verified_at is None:
        user_queries.set_security(user, email_verified_at=db.utc_now())
    return {"email": user.email, "email_verified": True}
