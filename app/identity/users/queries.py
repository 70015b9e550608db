"""SQL of people. Users stand above organizations: none of their tables is a tenant's."""

from sqlalchemy import bindparam, or_, select

from app.identity.users import addresses
from app.identity.users.models import User
from app.kit import db

# The address itself wins: keys of an older Unicode, or none at all, lock nobody out.
_BY_EMAIL = (
    select(User)
    .where(or_(User.email_key == bindparam("key"), User.email == bindparam("email")))
    .order_by((User.email == bindparam("email")).desc())
    .limit(1)
)


def by_email(email: str) -> User | None:
    """The account of an address, however it is spelled."""
    # What PostgreSQL could not even be asked is nobody's.
    typed = email.replace("\x00", "").encode("utf-8", "ignore").decode()
    values = {"key": addresses.canonical(typed), "email": typed.strip().lower()}
    return db.session().execute(_BY_EMAIL, values).scalar_one_or_none()
