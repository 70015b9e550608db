"""The role that a caller acts with, as it is now."""

from app.identity.organizations import queries
from app.kit import errors
from app.kit.permissions import Role
from app.kit.principal import Caller


def lock_role(caller: Caller) -> Role:
    """Return the caller's role, which nobody takes away until the commit.

    It may have changed since the caller was proven. An API key has its own role, whatever its
    creator is by now. Raises 403 `permission_denied` for a person who is no member any more.
    """
    assert caller.role is not None
    if caller.api_key_id is not None:
        return caller.role
    role = queries.lock_role(caller.user_id)
    if role is None:
        raise errors.denied("You are not a member of this organization.")
    return min(Role[role], caller.role)
