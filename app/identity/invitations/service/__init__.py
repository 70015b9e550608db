"""Invitations: sent, withdrawn, accepted."""

from app.identity.invitations.service.accepting import accept, offer
from app.identity.invitations.service.inviting import invite, list_invitations, revoke

__all__ = ["accept", "invite", "list_invitations", "offer", "revoke"]
