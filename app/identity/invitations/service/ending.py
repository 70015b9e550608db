"""Invitations that end with what they rested on: the inviter's right, or a membership."""

from uuid import UUID

from app.identity.invitations import queries
from app.kit.permissions import PERMISSIONS, Role

LEAST = PERMISSIONS["invitations:manage"]
"""The least role that invites."""


def end_by_inviter(user_id: UUID, *, role: Role | None) -> None:
    """Revoke the open invitations that a user may not send any more, in all bound organizations.

    Args:
        user_id: who sent them.
        role: what they are now; None where they are no member or cannot sign in.
    """
    may = [] if role is None or role < LEAST else [r for r in Role if r <= role]
    queries.end_by_inviter(user_id, [r.name for r in Role if r not in may])


def end_by_address(user_id: UUID) -> None:
    """Revoke the open invitation of a user's address.

    One that was sent before they were removed does not let them in again.
    """
    queries.end_by_address(user_id)
