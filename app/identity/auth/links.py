"""Links that are mailed: one for each user and purpose, single use, one hour, stored as a hash."""

from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from sqlalchemy import delete, func, select
from sqlalchemy.dialects.postgresql import insert

from app.identity.auth.models import MailedToken
from app.identity.users.models import User
from app.kit import container, db, errors, secrets
from app.kit.letters import Letters

LIFETIME = timedelta(hours=1)
RESET = "password_reset"
EMAIL = "email"
_PAUSE = timedelta(seconds=30)
_PATHS = {RESET: "/reset-password", EMAIL: "/confirm-email"}
_LETTERS = {RESET: "reset_password", EMAIL: "confirm_email"}

letters = Letters(Path(__file__).parent / "letters")


@dataclass(frozen=True, slots=True)
class Spent:
    """What a token was for."""

    user_id: UUID
    email: str


def _hash(purpose: str, token: str) -> str:
    return container.keyring().fingerprint(f"mailed:{purpose}", token)


def issue(user: User, purpose: str, email: str, lifetime: timedelta = LIFETIME) -> dict[str, str]:
    """A new link and its token, to be mailed to `email`; the one before is worth nothing."""
    token = secrets.random_token()
    values = {
        "token_hash": _hash(purpose, token),
        "email": email,
        "created_at": func.now(),
        "expires_at": func.now() + lifetime,
    }
    db.session().execute(
        insert(MailedToken)
        .values(user_id=user.id, purpose=purpose, **values)
        .on_conflict_do_update(index_elements=["user_id", "purpose"], set_=values)
    )
    return {"link": f"{_PATHS[purpose]}?{urlencode({'token': token})}", "token": token}


def mail(user: User, purpose: str, email: str) -> None:
    """Mail a new link to `email`; the one before is worth nothing from now on."""
    shown = {"name": user.name, "email": email, **issue(user, purpose, email)}
    letters.post(_LETTERS[purpose], to=email, locale=user.locale, values=shown)


def tell(user: User, letter: str, *, to: str) -> None:
    """Mail a notice without a link."""
    values = {"name": user.name, "email": user.email}
    letters.post(letter, to=to, locale=user.locale, values=values)


def recently(user_id: UUID, purpose: str) -> bool:
    """Whether the last one was mailed within half a minute."""
    statement = select(MailedToken.user_id).where(
        MailedToken.user_id == user_id,
        MailedToken.purpose == purpose,
        MailedToken.created_at > func.now() - _PAUSE,
    )
    return db.session().execute(statement).first() is not None


def spend(token: str, purpose: str) -> Spent:
    """Use a token up; of two at once one gets it. Raises 400 `validation_error` on `token`."""
    statement = (
        delete(MailedToken)
        .where(
            MailedToken.token_hash == _hash(purpose, token),
            MailedToken.purpose == purpose,
            MailedToken.expires_at > func.now(),
        )
        .returning(MailedToken.user_id, MailedToken.email)
    )
    row: Any = db.session().execute(statement).first()
    if row is None:
        message = "The token is unknown, was used, has expired, or a newer one was mailed."
        raise errors.invalid(message, "token")
    return Spent(row.user_id, row.email)


def withdraw(user_id: UUID) -> None:
    """Make every link that was mailed to a user worth nothing."""
    db.session().execute(delete(MailedToken).where(MailedToken.user_id == user_id))


def purge() -> None:
    """Forget links past their time."""
    db.session().execute(delete(MailedToken).where(MailedToken.expires_at < func.now()))
