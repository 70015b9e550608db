"""API responses for the runs of scheduled exports."""

from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from app.delivery.exports.models import Export, ExportStatus
from app.delivery.scheduled_exports.models import CANCELLED_CODE, DeliveryStatus, ScheduledRun

RUN_STATUSES = (*ExportStatus, "delivering")


class DeliveryDetails(NamedTuple):
    """The delivery of a run's file to its destination."""

    status: str
    sent_bytes: int
    delivered_at: datetime | None
    delivered_to: str | None
    error: dict[str, Any] | None


class RunDetails(NamedTuple):
    """A run with the properties of its export job. `id` and `job_id` are equal."""

    id: UUID
    job_id: UUID
    scheduled_export_id: UUID
    trigger: str
    due_at: datetime | None
    covers_from: datetime | None
    covers_until: datetime | None
    status: str
    format: str
    progress: dict[str, Any]
    row_count: int | None
    size_bytes: int | None
    sha256: str | None
    expires_at: datetime | None
    download_path: str | None
    error: dict[str, Any] | None
    delivery: DeliveryDetails
    created_by: UUID | None
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None


def build_run_response(run: ScheduledRun, export: Export) -> RunDetails:
    """Build the API response for a run from the run's record and its export job."""
    return RunDetails(
        id=run.job_id,
        job_id=run.job_id,
        scheduled_export_id=run.scheduled_export_id,
        trigger=run.trigger,
        due_at=run.due_at,
        covers_from=run.covers_from,
        covers_until=run.covers_until,
        status=_get_status(run, export),
        format=export.format,
        progress=export.progress,
        row_count=export.row_count,
        size_bytes=export.size_bytes,
        sha256=export.sha256,
        expires_at=export.expires_at,
        download_path=export.download_path,
        error=export.error or run.delivery_error,
        delivery=DeliveryDetails(
            status=run.delivery_status,
            sent_bytes=run.sent_bytes,
            delivered_at=run.delivered_at,
            delivered_to=run.delivered_to,
            error=run.delivery_error,
        ),
        created_by=export.created_by,
        created_at=run.created_at,
        started_at=export.started_at,
        finished_at=export.finished_at,
    )


def is_cancelled(run: ScheduledRun) -> bool:
    """Return whether the delivery of a run was cancelled."""
    return run.delivery_error is not None and run.delivery_error["code"] == CANCELLED_CODE


def _get_status(run: ScheduledRun, export: Export) -> str:
    if export.status == ExportStatus.COMPLETED:
        if run.delivery_status == DeliveryStatus.PENDING:
            return "delivering"
        if run.delivery_status == DeliveryStatus.FAILED:
            return ExportStatus.CANCELLED if is_cancelled(run) else ExportStatus.FAILED
    return export.status
