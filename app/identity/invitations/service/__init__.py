"""Public functions of the invitations feature, for use by other features."""

from app.identity.invitations.queries import InvitationDetails
from app.identity.invitations.service.accepting import accept, accept_by_address, get_offer
from app.identity.invitations.service.ending import revoke_by_address, revoke_by_inviter
from app.identity.invitations.service.inviting import invite, list_invitations, revoke

__all__ = [
    "InvitationDetails",
    "accept",
    "accept_by_address",
    "get_offer",
    "invite",
    "list_invitations",
    "revoke",
    "revoke_by_address",
    "revoke_by_inviter",
]
