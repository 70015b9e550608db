"""The name and the payload of the event that routing rules emit."""

from typing import TypedDict
from uuid import UUID

from app.kit.events import EventName


class RequestedPayload(TypedDict):
    """The payload of `REQUESTED`; `by` is the user who requested the routing."""

    by: UUID


REQUESTED = EventName[RequestedPayload]("routing.requested")
"""A user requested routing for all unassigned artifacts."""
