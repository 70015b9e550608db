"""Functions that revoke invitations when the inviter loses the permission or a member leaves."""

from uuid import UUID

from app.identity.invitations import queries
from app.kit.permissions import PERMISSIONS, Role

MIN_ROLE = PERMISSIONS["invitations:manage"]
"""Minimum role to send invitations."""


def revoke_by_inviter(user_id: UUID, *, role: Role | None) -> None:
    """Revoke the pending invitations that a user may no longer send, in all bound organizations.

    Args:
        user_id: The user who sent the invitations.
        role: The user's current role; None if they are not a member or cannot sign in.
    """
    allowed = [] if role is None or role < MIN_ROLE else [r for r in Role if r <= role]
    queries.revoke_by_inviter(user_id, [r.name for r in Role if r not in allowed])


def revoke_by_address(user_id: UUID) -> None:
    """Revoke the pending invitation of a user's address.

    An invitation that was sent before the user's removal must not admit them again.
    """
    queries.revoke_by_address(user_id)
