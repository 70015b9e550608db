"""Single-use links sent by email, by default valid for one hour; only token hashes are stored.

A new confirmation link replaces the previous confirmation link. A new password reset link does not
replace the previous reset links: anybody may request a reset, and could otherwise lock out the
owner by requesting new links repeatedly.
"""

import secrets
from datetime import datetime, timedelta
from pathlib import Path
from uuid import UUID

from sqlalchemy import ColumnElement, delete, func, insert, select

from app.identity.auth.models import MailedToken
from app.identity.users import queries as user_queries
from app.identity.users.models import User
from app.kit import container, db, errors, purging
from app.kit.db import Checkpoint
from app.kit.emails import Emails
from app.kit.errors import ApiError
from app.kit.links import WebPage, build_token_link

LIFETIME = timedelta(hours=1)
PASSWORD_RESET = "password_reset"  # noqa: S105 - a purpose, not a password
EMAIL_CONFIRMATION = "email"
_MIN_LINK_INTERVAL = timedelta(seconds=30)
_MAX_RESETS_PER_HOUR = 5
_PAGES = {PASSWORD_RESET: WebPage.RESET_PASSWORD, EMAIL_CONFIRMATION: WebPage.CONFIRM_EMAIL}
_TEMPLATES = {PASSWORD_RESET: "reset_password", EMAIL_CONFIRMATION: "confirm_email"}

emails = Emails(Path(__file__).parent / "emails")


def _hash_token(purpose: str, token: str) -> str:
    return container.keyring().fingerprint(f"mailed:{purpose}", token)


def issue(user: User, purpose: str, email: str, lifetime: timedelta = LIFETIME) -> dict[str, str]:
    """Issue a single-use token for `email`; return the `token` and a `link` that contains it.

    `purpose` is `PASSWORD_RESET` or `EMAIL_CONFIRMATION`. A new confirmation token replaces the
    user's previous one. The caller sends the email.
    """
    if purpose == EMAIL_CONFIRMATION:
        db.session().execute(delete(MailedToken).where(*_build_conditions(user.id, purpose)))
    token = secrets.token_urlsafe(32)
    db.session().execute(
        insert(MailedToken).values(
            user_id=user.id,
            purpose=purpose,
            token_hash=_hash_token(purpose, token),
            email=email,
            created_at=func.now(),
            expires_at=func.now() + lifetime,
        )
    )
    link = build_token_link(_PAGES[purpose], token=token, language=user.locale)
    return {"link": link, "token": token}


def send_link(user: User, purpose: str, email: str) -> None:
    """Create a single-use link for `purpose`, and email it to `email`."""
    values = {"name": user.name, "email": email, **issue(user, purpose, email)}
    emails.enqueue(_TEMPLATES[purpose], to=email, locale=user.locale, values=values)


def send_notice(user: User, template: str, *, to: str) -> None:
    """Email a notice about a user's account to the address `to`; `template` names the notice."""
    values = {"name": user.name, "email": user.email}
    emails.enqueue(template, to=to, locale=user.locale, values=values)


def must_wait(user_id: UUID, purpose: str) -> bool:
    """Return whether the user must wait before requesting another link for `purpose`.

    The user must wait for 30 seconds after the previous link. After five reset links within an
    hour, the user must wait until the first of these links is an hour old.
    """
    created_at = MailedToken.created_at
    statement = select(
        func.count().filter(created_at > func.now() - _MIN_LINK_INTERVAL),
        func.count().filter(created_at > func.now() - LIFETIME),
    ).where(*_build_conditions(user_id, purpose))
    recent_count, hour_count = db.session().execute(statement).one()
    return bool(recent_count or (purpose == PASSWORD_RESET and hour_count >= _MAX_RESETS_PER_HOUR))


def get_next_send_time(user_id: UUID, purpose: str) -> datetime | None:
    """Return the time 30 seconds after the previous link for `purpose`, if it is in the future.

    Otherwise, returns None. Does not consider the limit of reset links per hour.
    """
    next_time = func.max(MailedToken.created_at) + _MIN_LINK_INTERVAL
    statement = (
        select(next_time).where(*_build_conditions(user_id, purpose)).having(next_time > func.now())
    )
    return db.session().execute(statement).scalar_one_or_none()


def _build_conditions(user_id: UUID, purpose: str) -> tuple[ColumnElement[bool], ...]:
    return (MailedToken.user_id == user_id, MailedToken.purpose == purpose)


def consume(token: str, purpose: str) -> tuple[User, str]:
    """Verify and delete a token, and return its locked user and the address it was sent to.

    If two concurrent requests contain the same token, only one succeeds. The user is locked first,
    as in every function that invalidates links, to prevent deadlocks. Raises 400 `validation_error`
    on `token` if the token is unknown, used, expired or replaced, if the account is disabled, or if
    a password reset was sent to an address that is no longer the account's address.
    """
    has_hash = MailedToken.token_hash == _hash_token(purpose, token)
    user_id = db.session().execute(select(MailedToken.user_id).where(has_hash)).scalar_one_or_none()
    user = user_queries.lock(user_id) if user_id is not None else None
    statement = (
        delete(MailedToken)
        .where(has_hash, MailedToken.purpose == purpose, MailedToken.expires_at > func.now())
        .returning(MailedToken.email)
    )
    email = db.session().execute(statement).scalar_one_or_none()
    if user is None or email is None:
        raise _build_token_error()
    if user.disabled_at is not None or (purpose == PASSWORD_RESET and email != user.email):
        message = "The token cannot be used: the account is disabled or has a new email address."
        raise errors.invalid(message, "token")
    return user, email


def get_address(token: str, purpose: str) -> str:
    """Return the address that a token was sent to, without consuming the token.

    Raises 400 `validation_error` on `token` if the token is not valid or the account is disabled.
    """
    statement = (
        select(MailedToken.email)
        .join(User, User.id == MailedToken.user_id)
        .where(
            MailedToken.token_hash == _hash_token(purpose, token),
            MailedToken.purpose == purpose,
            MailedToken.expires_at > func.now(),
            User.disabled_at.is_(None),
        )
    )
    email = db.session().execute(statement).scalar_one_or_none()
    if email is None:
        raise _build_token_error()
    return email


def _build_token_error() -> ApiError:
    message = "The token is unknown, already used, expired or replaced. Request a new link."
    return errors.invalid(message, "token")


def invalidate_all(user_id: UUID) -> None:
    """Delete all tokens of a user, so that the links that contain them no longer work."""
    db.session().execute(delete(MailedToken).where(MailedToken.user_id == user_id))


def purge(checkpoint: Checkpoint) -> None:
    """Delete expired tokens, one batch per transaction."""
    purging.purge("mailed_tokens", "expires_at < now()", checkpoint)
