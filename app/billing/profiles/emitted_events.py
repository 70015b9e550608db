"""The name and the payload of the event that billing profiles emit."""

from typing import TypedDict

from app.kit.events import EventName


class ChangedPayload(TypedDict):
    """The payload of `CHANGED`."""

    revision: int


CHANGED = EventName[ChangedPayload]("billing_profile.changed")
"""The billing profile of the organization was set or replaced."""
