"""Cancellation and retries of exports."""

from uuid import UUID

from app.delivery.exports.models import Export, ExportStatus
from app.delivery.exports.queries import records
from app.delivery.exports.service import creating, running
from app.kit import capacity, db, errors, events


def cancel(export_id: UUID) -> Export:
    """Cancel a queued or running export; its worker stops within about a second.

    Emits `export.cancelled`. Raises 404 if the export does not exist, and 409 `conflict` with
    `details.state` if the export has already ended.
    """
    export = running.change_status(export_id, ExportStatus.CANCELLED)
    if export is None:
        export = _lock_export(export_id)
        message = f"The export is {export.status}; only queued or running exports can be cancelled."
        raise errors.conflict(message, state=export.status)
    export.finished_at = db.utc_now()
    running.discard_file(export)
    events.emit(
        "export.cancelled",
        {"job_id": export.id, "scheduled_export_id": export.scheduled_export_id},
    )
    db.session().flush()
    return export


@capacity.guard("export")
def retry(export_id: UUID) -> Export:
    """Retry an export that failed or whose file has expired, by queueing it again.

    The filter stays the same, including the end of the period. Raises 404 if the export does not
    exist, 409 `conflict` with `details.state` if it cannot be retried, and 503 while the disk is
    full.
    """
    export = _lock_export(export_id)
    is_expired = export.expires_at is not None and export.expires_at <= db.utc_now()
    if export.status != ExportStatus.FAILED and not is_expired:
        message = f"The export is {export.status}; only failed or expired exports can be retried."
        raise errors.conflict(message, state=export.status)
    running.queue_again(export)
    creating.emit_requested(export)
    db.session().flush()
    return export


def _lock_export(export_id: UUID) -> Export:
    export = records.lock(export_id)
    if export is None:
        raise errors.not_found()
    return export
