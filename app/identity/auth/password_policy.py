"""Checks that single sign-on has not disabled passwords for an address or an account."""

from app.identity.auth import ports
from app.identity.users.models import User


def check_address(email: str) -> None:
    """Raise 403 `permission_denied` if passwords are disabled for an address.

    Call this function before creating an account with the address.
    """
    if (error := ports.single_sign_on.get().find_address_error(email)) is not None:
        raise error


def check(user: User) -> None:
    """Raise 403 `permission_denied` if passwords are disabled for an account."""
    if (error := ports.single_sign_on.get().find_account_error(user)) is not None:
        raise error
