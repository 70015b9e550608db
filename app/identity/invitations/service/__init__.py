"""Invitations: sent, withdrawn, accepted."""

from app.identity.invitations.service.accepting import accept, claim, offer
from app.identity.invitations.service.inviting import invite, list_invitations, revoke

__all__ = ["accept", "claim", "invite", "list_invitations", "offer", "revoke"]
