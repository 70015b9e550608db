"""Public functions of the invitations feature, for use by other features."""

from app.identity.invitations.service.accepting import accept, claim, offer
from app.identity.invitations.service.ending import end_by_address, end_by_inviter
from app.identity.invitations.service.inviting import invite, list_invitations, revoke

__all__ = [
    "accept",
    "claim",
    "end_by_address",
    "end_by_inviter",
    "invite",
    "list_invitations",
    "offer",
    "revoke",
]
