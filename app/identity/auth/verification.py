"""Verification of email addresses, which removes sign-in methods that were linked before.

Until an address is verified, somebody else may own the account, and may have linked a sign-in
method to it. Each feature that links sign-in methods, such as single sign-on, registers a function
that removes them.
"""

from collections.abc import Callable
from uuid import UUID

from app.identity.users import queries as user_queries
from app.identity.users.models import User
from app.kit import db

Unlink = Callable[[UUID], None]
"""A function that removes a feature's sign-in methods from the account with this user id."""

_unlink_functions: list[Unlink] = []


def register(unlink: Unlink) -> None:
    """Add a function to call when the address of an account is verified for the first time."""
    _unlink_functions.append(unlink)


def mark_verified(user: User) -> None:
    """Mark the account's address as verified, because the user has read an email sent to it.

    If the address was not verified before, also calls all registered functions, which remove the
    sign-in methods that other features have linked.
    """
    user_queries.lock(user.id)
    was_verified = user.email_verified_at is not None
    user_queries.update_account(user, email_verified_at=db.utc_now())
    if not was_verified:
        for unlink in _unlink_functions:
            unlink(user.id)
