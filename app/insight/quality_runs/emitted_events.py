"""Names and payloads of the events that quality runs emit."""

from collections.abc import Mapping
from typing import TypedDict
from uuid import UUID

from app.kit.events import EventName


class RunPayload(TypedDict):
    """The payload of `COMPLETED`, and the base of all other payloads."""

    run_id: UUID
    schema_id: UUID


class RequestedPayload(RunPayload):
    """The payload of `REQUESTED`; `created_by` is null if the daily job made the request."""

    created_by: UUID | None


class FailedPayload(RunPayload):
    """The payload of `FAILED`; `error` has `code` and `message`."""

    error: Mapping[str, str]


REQUESTED = EventName[RequestedPayload]("quality_run.requested")
"""A quality run was requested."""
COMPLETED = EventName[RunPayload]("quality_run.completed")
"""A quality run has completed and has results."""
FAILED = EventName[FailedPayload]("quality_run.failed")
"""A quality run has failed."""
