"""The name and the payload of the event that notifications emit."""

from typing import TypedDict
from uuid import UUID

from app.kit.events import EventName


class CreatedPayload(TypedDict):
    """The payload of `CREATED`."""

    notification_id: UUID


CREATED = EventName[CreatedPayload]("notification.created")
"""A notification about a single event was created, and an email about it is to be sent."""
