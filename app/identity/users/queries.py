"""SQL of people. Users stand above organizations: none of their tables is a tenant's."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, bindparam, func, literal, or_, select, update

from app.identity.users import addresses
from app.identity.users.models import User
from app.kit import db

_IS_ADDRESS: ColumnElement[bool] = or_(
    User.email_key == bindparam("key"), User.email == bindparam("email")
)
# The address itself wins: keys of an older Unicode, or none at all, lock nobody out.
_EXACT_FIRST = (User.email == bindparam("email")).desc()
_BY_EMAIL = select(User).where(_IS_ADDRESS).order_by(_EXACT_FIRST).limit(1)
# One row whether or not there is an account: neither takes longer to read.
_NOBODY = select(literal(1).label("one")).subquery()
_CREDENTIALS = (
    select(User.id, User.email, User.password_hash, User.disabled_at, User.token_version)
    .select_from(_NOBODY)
    .outerjoin(User, _IS_ADDRESS)
    .order_by(_EXACT_FIRST.nulls_last())
    .limit(1)
)


_FIRST_ACCOUNT = func.pg_advisory_xact_lock(0x6163636F756E74)


@dataclass(frozen=True, slots=True)
class Credentials:
    """What a log-in is held against; all None where there is no account."""

    user_id: UUID | None
    email: str | None
    password_hash: str | None
    disabled_at: datetime | None
    token_version: int | None


def _asked(email: str) -> dict[str, str]:
    # What PostgreSQL could not even be asked is nobody's.
    typed = email.replace("\x00", "").encode("utf-8", "ignore").decode()
    return {"key": addresses.canonical(typed), "email": typed.strip().lower()}


def by_email(email: str) -> User | None:
    """The account of an address, however it is spelled."""
    return db.session().execute(_BY_EMAIL, _asked(email)).scalar_one_or_none()


def credentials(email: str) -> Credentials:
    """What the account of an address has to be proven with; takes no longer when there is one."""
    return Credentials(*db.session().execute(_CREDENTIALS, _asked(email)).one())


def get(user_id: UUID) -> User | None:
    """A user."""
    return db.session().get(User, user_id)


def get_time_zone(user_id: UUID) -> str:
    """Return the name of a user's time zone."""
    return db.session().scalars(select(User.time_zone).where(User.id == user_id)).one()


def lock(user_id: UUID) -> User | None:
    """A user as they are now, held until the transaction ends."""
    # `get` would compare the revision with what was read before, and fail where it was changed.
    statement = select(User).where(User.id == user_id).with_for_update()
    statement = statement.execution_options(populate_existing=True)
    return db.session().execute(statement).scalar_one_or_none()


def nobody_yet() -> bool:
    """Whether there is no account at all. Whoever asks next waits until the transaction ends."""
    db.session().execute(select(_FIRST_ACCOUNT))
    return db.session().execute(select(User.id).limit(1)).first() is None


def set_security(user: User, **values: Any) -> None:
    """Change what is no part of the profile, so that its revision stays."""
    db.session().execute(
        update(User)
        .where(User.id == user.id)
        .values(**values)
        .execution_options(synchronize_session=False)
    )
    db.session().refresh(user)


def replace_hash(user_id: UUID, *, old: str, new: str) -> None:
    """Put a hash in the place of the same password's older one, unless the password changed."""
    db.session().execute(
        update(User).where(User.id == user_id, User.password_hash == old).values(password_hash=new)
    )
