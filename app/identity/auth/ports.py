"""The interface through which this feature calls single sign-on without importing it."""

from collections.abc import Callable
from dataclasses import dataclass
from uuid import UUID

from app.identity.users.models import User
from app.kit.errors import ApiError
from app.kit.ports import Port


@dataclass(frozen=True)
class SingleSignOn:
    """The functions of single sign-on that this feature calls.

    `find_address_error(email)` and `find_account_error(user)` return the error that refuses
    passwords for an address or an account, or None if passwords are allowed. The error for an
    address depends only on its domain, so it does not reveal whether the address has an account.
    `unlink_identities(user_id)` removes the identities that are linked to an account.
    """

    find_address_error: Callable[[str], ApiError | None]
    find_account_error: Callable[[User], ApiError | None]
    unlink_identities: Callable[[UUID], None]


single_sign_on = Port[SingleSignOn]()
