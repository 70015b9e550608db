"""Status changes of exports, and deletion of files that nobody can download any more.

Only the run that holds the job's lease can complete an export.
"""

from datetime import timedelta
from uuid import UUID

from app.delivery.exports import emitted_events
from app.delivery.exports.models import TRANSITIONS, Export, ExportStatus
from app.delivery.exports.queries import records
from app.delivery.exports.service import manifests
from app.delivery.exports.service.manifests import RunResult
from app.engines.formats import FORMATS
from app.kit import container, db, events
from app.kit.jobs import Job, LostLease
from app.kit.storage import StagedFile

RETENTION = timedelta(days=7)
"""The period after completion in which the file of an export can be downloaded."""

GRACE_PERIOD = timedelta(hours=1)
"""The time for which an expired file is kept, for downloads that have already begun."""

_BATCH_SIZE = 100
_STORAGE_FAILURE = ("service_unavailable", "The file could not be stored. Retry later.")
_FAILURES = {
    **dict.fromkeys(("StorageUnavailable", "StorageFull"), _STORAGE_FAILURE),
    "TooManyColumnsError": (
        "validation_error",
        "The file would have more columns than its format allows. Export a single schema.",
    ),
}
_UNKNOWN_FAILURE = ("internal_error", "The export failed after several attempts. Retry later.")


def start(export_id: UUID) -> Export | None:
    """Start a run of an export: set its status to `running`, and reset its progress.

    A run also starts if an earlier run was interrupted. Returns the export, or None if it does not
    exist or has already ended.
    """
    export = change_status(export_id, ExportStatus.RUNNING)
    if export is not None:
        export.started_at = db.utc_now()
        export.progress_done = 0
        export.progress_total = None
    return export


def complete(job: Job, export_id: UUID, staged_file: StagedFile, result: RunResult) -> None:
    """Complete an export and move the staged file to its storage key, unless the export has ended.

    Emits `export.completed` if the export completes for the first time, and `export.run_completed`
    if a scheduled export started it. The job's lease is locked until the transaction ends, so that
    no other run of the job can store a file. Raises LostLease if this run no longer has the lease.
    """
    records.disable_idle_timeout()
    if not job.lock_lease():
        raise LostLease
    export = change_status(export_id, ExportStatus.COMPLETED)
    if export is None:
        return
    key = _build_storage_key(export)
    stored_file = staged_file.promote(key)
    now = db.utc_now()
    export.progress_done = export.progress_total = export.row_count = result.row_count
    export.size_bytes = stored_file.size
    export.sha256 = stored_file.sha256
    export.storage_key = key
    export.finished_at = now
    export.expires_at = now + RETENTION
    is_first = export.manifest is None
    export.manifest = manifests.build_manifest(export, result)
    if is_first:
        _emit_completed(export)
    if export.scheduled_export_id is not None:
        events.emit(emitted_events.RUN_COMPLETED, emitted_events.ExportPayload(job_id=export.id))


def _emit_completed(export: Export) -> None:
    events.emit(
        emitted_events.COMPLETED,
        emitted_events.CompletedPayload(
            job_id=export.id,
            format=export.format,
            row_count=export.row_count,
            size_bytes=export.size_bytes,
            sha256=export.sha256,
            scheduled_export_id=export.scheduled_export_id,
            download_path=export.download_path,
        ),
    )


def fail(export_id: UUID, cause: str) -> None:
    """Mark an export as failed; do nothing if it has already ended.

    `cause` begins with the name of the exception, and is not shown to clients. Emits
    `export.failed`, and marks any stored file for deletion.
    """
    export = change_status(export_id, ExportStatus.FAILED)
    if export is None:
        return
    code, message = _FAILURES.get(cause.partition(":")[0], _UNKNOWN_FAILURE)
    export.error = {"code": code, "message": message}
    export.finished_at = db.utc_now()
    discard_file(export)
    events.emit(
        emitted_events.FAILED,
        emitted_events.FailedPayload(
            job_id=export.id,
            format=export.format,
            error=export.error,
            scheduled_export_id=export.scheduled_export_id,
            created_by=export.created_by,
        ),
    )


def discard_file(export: Export) -> None:
    """Mark the file of a failed or cancelled export for deletion by `delete_obsolete_files`.

    The file may be from an earlier run, or from a run that was killed after it stored the file.
    """
    export.storage_key = _build_storage_key(export)
    export.expires_at = None


def reopen(export_id: UUID) -> None:
    """Set a failed export to `queued` again; do nothing if it has another status."""
    export = records.lock(export_id)
    if export is not None and export.status == ExportStatus.FAILED:
        requeue(export)


def requeue(export: Export) -> None:
    """Set a locked export to `queued`, and clear the progress, result and error of its last run.

    The manifest is kept: it shows that `export.completed` was already emitted.
    """
    export.status = ExportStatus.QUEUED.value
    export.progress_done = 0
    export.progress_total = export.row_count = None
    export.error = None
    export.size_bytes = export.sha256 = export.expires_at = None
    export.started_at = export.finished_at = None


def delete_obsolete_files() -> int:
    """Delete the files of a batch of exports in all organizations, and return the batch's size.

    The batch has exports whose files have expired, and exports that failed or were cancelled.
    """
    batch = records.lock_exports_with_obsolete_files(GRACE_PERIOD, _BATCH_SIZE)
    for export in batch:
        assert export.storage_key is not None
        container.current().storage.delete(export.storage_key)
        export.storage_key = None
    return len(batch)


def change_status(export_id: UUID, status: ExportStatus) -> Export | None:
    """Lock an export, change its status, and return it.

    Returns None if the export does not exist, or if its current status does not allow the change.
    """
    export = records.lock(export_id)
    if export is None or status not in TRANSITIONS[ExportStatus(export.status)]:
        return None
    export.status = status.value
    return export


def _build_storage_key(export: Export) -> str:
    extension = FORMATS[export.format].extension
    return f"organizations/{export.organization_id}/exports/{export.id}.{extension}"
