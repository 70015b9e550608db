"""The name and the payload of the event that billing periods emit."""

from typing import TypedDict

from app.kit.events import EventName

ClosedPayload = TypedDict("ClosedPayload", {"period": str, "from": str, "to": str})
"""The payload of `CLOSED`: the month, and its start and end in UTC."""

CLOSED = EventName[ClosedPayload]("billing.period_closed")
"""A month was closed. Emitted for each organization that is billed for the month."""
