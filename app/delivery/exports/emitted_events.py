"""Names and payloads of the events that exports emit."""

from collections.abc import Mapping
from typing import TypedDict
from uuid import UUID

from app.kit.events import EventName


class ExportPayload(TypedDict):
    """The payload of `RUN_COMPLETED`, and the base of all other payloads."""

    job_id: UUID


class RequestedPayload(ExportPayload):
    """The payload of `REQUESTED`. `created_by` is who requested or scheduled the export."""

    format: str
    created_by: UUID | None


class CompletedPayload(ExportPayload):
    """The payload of `COMPLETED`. Webhooks send these properties."""

    format: str
    row_count: int | None
    size_bytes: int | None
    sha256: str | None
    scheduled_export_id: UUID | None
    download_path: str | None


class FailedPayload(ExportPayload):
    """The payload of `FAILED`; `error` has `code` and `message`."""

    format: str
    error: Mapping[str, str]
    scheduled_export_id: UUID | None
    created_by: UUID | None


class CancelledPayload(ExportPayload):
    """The payload of `CANCELLED`."""

    scheduled_export_id: UUID | None


class DownloadedPayload(ExportPayload):
    """The payload of `DOWNLOADED`; `user_id` is the user, or the creator of the used API key."""

    format: str
    sha256: str | None
    user_id: UUID


REQUESTED = EventName[RequestedPayload]("export.requested")
COMPLETED = EventName[CompletedPayload]("export.completed")
"""An export has completed for the first time."""
RUN_COMPLETED = EventName[ExportPayload]("export.run_completed")
"""An export that a scheduled export started has completed. Its file can be delivered."""
FAILED = EventName[FailedPayload]("export.failed")
CANCELLED = EventName[CancelledPayload]("export.cancelled")
DOWNLOADED = EventName[DownloadedPayload]("export.downloaded")
