"""Names and payloads of the events that drift detection emits."""

from collections.abc import Sequence
from typing import TypedDict
from uuid import UUID

from app.kit.events import EventName


class RequestedPayload(TypedDict):
    """The payload of `REQUESTED`."""

    detection_id: UUID


class DetectedPayload(TypedDict):
    """The payload of `DETECTED`. Webhooks send these properties."""

    report_id: UUID
    schema_id: UUID
    subject: str
    field: str | None
    metric: str
    baseline: float
    current: float
    p_value: float


class FoundPayload(TypedDict):
    """The payload of `FOUND`: the number of new reports, and the first of their shifts as text."""

    detection_id: UUID
    schema_name: str
    count: int
    shifts: Sequence[str]


REQUESTED = EventName[RequestedPayload]("drift.detection_requested")
"""A drift detection was requested."""
DETECTED = EventName[DetectedPayload]("drift.detected")
"""A drift report was created. Emitted once per report."""
FOUND = EventName[FoundPayload]("drift.found")
"""A detection has created drift reports. Emitted once per such detection."""
