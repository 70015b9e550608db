"""Names and payloads of the events that scheduled exports emit."""

from collections.abc import Mapping
from typing import TypedDict
from uuid import UUID

from app.kit.events import EventName


class DeliveryFailedPayload(TypedDict):
    """The payload of `DELIVERY_FAILED`; `error` has `code` and `message`."""

    scheduled_export_id: UUID
    job_id: UUID
    name: str
    error: Mapping[str, str]
    created_by: UUID | None


DELIVERY_FAILED = EventName[DeliveryFailedPayload]("scheduled_export.delivery_failed")
"""The delivery of a run's file failed, or was ended because a later run covers the period."""
