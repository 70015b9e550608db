"""Port through which single sign-on disables passwords for some addresses.

A policy registers itself with `register`. Without single sign-on, no policy is registered.
"""

from typing import Protocol

from app.identity.users.models import User
from app.kit.errors import ApiError


class PasswordPolicy(Protocol):
    """A policy that decides whether an account may sign in with a password."""

    def find_address_error(self, email: str) -> ApiError | None:
        """Return the error to raise instead of the wrong-password error, or None.

        The error depends only on the domain of the address: it must be the same whether or not the
        address has an account.
        """

    def find_account_error(self, user: User) -> ApiError | None:
        """Return the error to raise for a correct password of this account, or None to allow it."""


_policies: list[PasswordPolicy] = []


def register(policy: PasswordPolicy) -> None:
    """Register a policy."""
    _policies.append(policy)


def find_address_error(email: str) -> ApiError | None:
    """Return the error to raise if a policy forbids passwords for an email address, or None.

    The address need not have an account.
    """
    return next(
        (error for policy in _policies if (error := policy.find_address_error(email))), None
    )


def check_address(email: str) -> None:
    """Raise an error if a policy forbids an account with a password for an address."""
    if (error := find_address_error(email)) is not None:
        raise error


def check(user: User) -> None:
    """Raise an error if this account may not use a password."""
    for policy in _policies:
        if (error := policy.find_account_error(user)) is not None:
            raise error


def allows_password(user: User) -> bool:
    """Return true if this account may use a password."""
    return all(policy.find_account_error(user) is None for policy in _policies)
