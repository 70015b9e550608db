"""SQL queries for users.

The users table has no `organization_id`, because a user can be a member of many organizations.
"""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from sqlalchemy import ColumnElement, bindparam, func, literal, or_, select, update

from app.identity.users import addresses
from app.identity.users.models import User
from app.kit import db

_MATCHES_ADDRESS: ColumnElement[bool] = or_(
    User.email_key == bindparam("key"), User.email == bindparam("email")
)
# An exact match has priority: a key that is missing, or was computed with an older version of
# Unicode, must not lock anybody out.
_EXACT_MATCH_FIRST = (User.email == bindparam("email")).desc()
_BY_EMAIL = select(User).where(_MATCHES_ADDRESS).order_by(_EXACT_MATCH_FIRST).limit(1)
# The query returns one row whether or not there is an account, so that both cases take the same
# time.
_ONE_ROW = select(literal(1).label("one")).subquery()
_CREDENTIALS = (
    select(User.id, User.email, User.password_hash, User.disabled_at, User.token_version)
    .select_from(_ONE_ROW)
    .outerjoin(User, _MATCHES_ADDRESS)
    .order_by(_EXACT_MATCH_FIRST.nulls_last())
    .limit(1)
)


_LOCK_FIRST_ACCOUNT = func.pg_advisory_xact_lock(0x6163636F756E74)


@dataclass(frozen=True, slots=True)
class Credentials:
    """The account data that a login needs; all fields are None if there is no account."""

    user_id: UUID | None
    email: str | None
    password_hash: str | None
    disabled_at: datetime | None
    token_version: int | None


def _build_email_parameters(email: str) -> dict[str, str]:
    # Characters that PostgreSQL does not accept are removed; no stored address contains them.
    storable_email = email.replace("\x00", "").encode("utf-8", "ignore").decode()
    return {
        "key": addresses.get_mailbox_key(storable_email),
        "email": storable_email.strip().lower(),
    }


def find_by_email(email: str) -> User | None:
    """Return the account with this address or a look-alike address, or None.

    Send email only to the stored `user.email`, because a look-alike address is a different mailbox.
    A proof that somebody owns an address, such as an invitation's token, applies to the account
    only if `addresses.parse` returns `user.email` for that address.
    """
    return db.session().execute(_BY_EMAIL, _build_email_parameters(email)).scalar_one_or_none()


def get_credentials(email: str) -> Credentials:
    """Return the credentials for an email address or a look-alike address.

    The query takes the same time whether or not the address has an account.
    """
    return Credentials(*db.session().execute(_CREDENTIALS, _build_email_parameters(email)).one())


def get(user_id: UUID) -> User | None:
    """Return the user with this id, or None if there is no such user."""
    return db.session().get(User, user_id)


def get_time_zone(user_id: UUID) -> str:
    """Return the time zone of an existing user as an IANA name, such as Europe/Vienna."""
    return db.session().scalars(select(User.time_zone).where(User.id == user_id)).one()


def is_disabled(user_id: UUID) -> bool:
    """Return whether an account, which must exist, is disabled."""
    statement = select(User.disabled_at).where(User.id == user_id)
    return db.session().execute(statement).scalar_one() is not None


def lock(user_id: UUID) -> User | None:
    """Lock a user's row until the transaction ends, and return the user with refreshed values.

    Users are locked before their identities and memberships. The lock does not block inserts of
    records that refer to the user, to prevent deadlocks: the inserting transaction may have locked
    a membership. Returns None if there is no such user.
    """
    # `Session.get` would compare the revision with the revision read earlier, and fail if they
    # differ.
    statement = select(User).where(User.id == user_id).with_for_update(key_share=True)
    statement = statement.execution_options(populate_existing=True)
    return db.session().execute(statement).scalar_one_or_none()


def lock_first_registration() -> bool:
    """Lock the registration of the first account, and return True if no account exists yet.

    Concurrent callers wait until the transaction ends, so that only one account can be the first.
    """
    db.session().execute(select(_LOCK_FIRST_ACCOUNT))
    return db.session().execute(select(User.id).limit(1)).first() is None


def update_account(user: User, **values: object) -> None:
    """Update account columns that are not part of the profile, and refresh `user`.

    The revision of the profile does not change.
    """
    db.execute_bulk(update(User).where(User.id == user.id).values(**values))
    db.session().refresh(user)


def replace_password_hash(user_id: UUID, *, old_hash: str, new_hash: str) -> None:
    """Replace a stored password hash with a new hash of the same password.

    Does nothing if the password has changed in the meantime.
    """
    db.session().execute(
        update(User)
        .where(User.id == user_id, User.password_hash == old_hash)
        .values(password_hash=new_hash)
    )
