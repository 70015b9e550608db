"""Lookup of the caller's current role, which may have changed since authentication."""

from app.identity.organizations import queries
from app.kit import errors
from app.kit.permissions import Role
from app.kit.principal import Caller


def lock_role(caller: Caller) -> Role:
    """Return the caller's current role, locked until the transaction ends.

    The role may have changed since the caller was authenticated; the lower one counts. An API key
    keeps its own role, whatever the role of its creator is now. Raises 403 `permission_denied` if
    the user is no longer a member.
    """
    assert caller.role is not None
    if caller.api_key_id is not None:
        return caller.role
    role = queries.lock_role(caller.user_id)
    if role is None:
        raise errors.denied("You are not a member of this organization.")
    return min(Role[role], caller.role)
