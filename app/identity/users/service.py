"""People and their profiles."""

from app.identity.users import queries
from app.identity.users.models import User


def by_email(email: str) -> User | None:
    """The account of an address, found under any spelling that looks the same.

    Only the stored `user.email` may be written to. Whoever proves to hold an address (an identity
    provider, an invitation) has proven the account's only when `addresses.parse` of theirs equals
    `user.email`: a look-alike finds the account, and is not its mailbox.
    """
    return queries.by_email(email)
