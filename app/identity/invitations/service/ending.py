"""Functions that revoke invitations when the inviter loses the permission or a member leaves."""

from uuid import UUID

from app.identity.invitations import queries
from app.kit.permissions import PERMISSIONS, Role

LEAST = PERMISSIONS["invitations:manage"]
"""Minimum role to send invitations."""


def end_by_inviter(user_id: UUID, *, role: Role | None) -> None:
    """Revoke the pending invitations that a user may no longer send, in all bound organizations.

    Args:
        user_id: The user who sent the invitations.
        role: The user's current role; None if they are not a member or cannot sign in.
    """
    may = [] if role is None or role < LEAST else [r for r in Role if r <= role]
    queries.end_by_inviter(user_id, [r.name for r in Role if r not in may])


def end_by_address(user_id: UUID) -> None:
    """Revoke the pending invitation of a user's address.

    An invitation that was sent before the user's removal must not admit them again.
    """
    queries.end_by_address(user_id)
