"""Names and payloads of the events about invitations."""

from typing import TypedDict
from uuid import UUID

SENT = "invitation.sent"
"""Emitted for each email with an invitation."""


class SentPayload(TypedDict):
    """The payload of `SENT`; `user_id` is null if the address has no account."""

    invitation_id: UUID
    user_id: UUID | None
    invited_by: UUID
