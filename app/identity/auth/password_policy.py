"""The port through which single sign-on turns passwords off for some addresses.

Whoever decides that registers here; nobody does when there is no single sign-on.
"""

from typing import Protocol

from app.identity.users.models import User
from app.kit.errors import ApiError


class PasswordPolicy(Protocol):
    """What is asked before a password counts."""

    def refusal(self, email: str) -> ApiError | None:
        """What any wrong password for this address is answered with instead, told by its domain.

        It must be the same whether or not there is an account.
        """

    def binds(self, user: User) -> ApiError | None:
        """What a right password of this account is answered with instead of a session."""


_policies: list[PasswordPolicy] = []


def register(policy: PasswordPolicy) -> None:
    """Ask `policy` from now on."""
    _policies.append(policy)


def refusal(email: str) -> ApiError | None:
    """The first objection to passwords for an address, of whomever it is."""
    return next((no for policy in _policies if (no := policy.refusal(email))), None)


def check_address(email: str) -> None:
    """Raise the first objection to making an account with a password for an address."""
    if (no := refusal(email)) is not None:
        raise no


def check(user: User) -> None:
    """Raise the first objection to a password of this account."""
    no = next((no for policy in _policies if (no := policy.binds(user))), None)
    if no is not None:
        raise no


def allows(user: User) -> bool:
    """Whether a password of this account counts."""
    return all(policy.binds(user) is None for policy in _policies)
