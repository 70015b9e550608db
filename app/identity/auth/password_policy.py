"""Extension point through which single sign-on disables passwords for some email addresses.

The single sign-on feature registers a policy with `register`. If no policy is registered, all
accounts may use passwords.
"""

from typing import Protocol

from app.identity.users.models import User
from app.kit.errors import ApiError


class PasswordPolicy(Protocol):
    """Determines which accounts may sign in with a password."""

    def find_address_error(self, email: str) -> ApiError | None:
        """Return the error to raise after a failed login instead of the usual error, or None.

        The error depends only on the domain of the address, so it does not reveal whether the
        address has an account.
        """

    def find_account_error(self, user: User) -> ApiError | None:
        """Return the error that refuses passwords for an account, or None to allow passwords."""


_policies: list[PasswordPolicy] = []


def register(policy: PasswordPolicy) -> None:
    """Add a policy; an account may use a password only if every policy allows it."""
    _policies.append(policy)


def find_address_error(email: str) -> ApiError | None:
    """Return the error of the first policy that forbids passwords for an address, or None.

    The address need not have an account.
    """
    return next(
        (error for policy in _policies if (error := policy.find_address_error(email))), None
    )


def check_address(email: str) -> None:
    """Raise the error of the first policy that forbids passwords for an address.

    Call this function before creating an account with the address.
    """
    if (error := find_address_error(email)) is not None:
        raise error


def check(user: User) -> None:
    """Raise the error of the first policy that forbids passwords for an account."""
    for policy in _policies:
        if (error := policy.find_account_error(user)) is not None:
            raise error


def allows_password(user: User) -> bool:
    """Return whether every policy allows passwords for an account."""
    return all(policy.find_account_error(user) is None for policy in _policies)
