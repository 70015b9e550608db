"""Cancellation and retries of exports."""

from uuid import UUID

from app.delivery.exports import emitted_events
from app.delivery.exports.models import Export, ExportStatus
from app.delivery.exports.queries import records
from app.delivery.exports.service import creating, ports, running
from app.kit import capacity, container, db, errors, events
from app.kit.stored_files import translate_storage_errors


def cancel(export_id: UUID) -> Export:
    """Cancel a queued or running export; its worker stops within about a second.

    Emits `export.cancelled`, and marks any stored file for deletion. If the export is completed but
    its file has not been delivered yet, cancels only the delivery, and emits no event. Raises 404
    if the export does not exist, and 409 `conflict` with `details.state` if it has already ended.
    """
    export = running.change_status(export_id, ExportStatus.CANCELLED)
    if export is None:
        export = errors.require_found(records.lock(export_id))
        if export.status == ExportStatus.COMPLETED and ports.cancel_delivery.get()(export_id):
            return export
        message = f"The export is {export.status}; only queued or running exports can be cancelled."
        raise errors.conflict(message, state=export.status)
    export.finished_at = db.utc_now()
    running.discard_file(export)
    events.emit(
        emitted_events.CANCELLED,
        emitted_events.CancelledPayload(
            job_id=export.id, scheduled_export_id=export.scheduled_export_id
        ),
    )
    db.session().flush()
    return export


@capacity.require_free_space("export")
def retry(export_id: UUID) -> Export:
    """Retry an export that failed, or whose file has expired or is missing, by queueing it again.

    The filter stays the same, including the end of the period. Emits `export.requested`. Raises 404
    if the export does not exist, 409 `conflict` with `details.state` if it cannot be retried, and
    503 while the disk is full or the storage is unavailable.
    """
    export = errors.require_found(records.lock(export_id))
    if export.status != ExportStatus.FAILED and not _has_lost_file(export):
        message = f"The export is {export.status}; only failed or expired exports can be retried."
        raise errors.conflict(message, state=export.status)
    running.requeue(export)
    creating.emit_requested(export)
    db.session().flush()
    return export


def _has_lost_file(export: Export) -> bool:
    """Return whether an export is completed, but its file has expired or is missing."""
    if export.expires_at is None:
        return False
    if export.storage_key is None or export.expires_at <= db.utc_now():
        return True
    # A backup of the files may be older than the backup of the database.
    with translate_storage_errors():
        return not container.current().storage.exists(export.storage_key)
