"""Creation, cancellation and retries of ingestion jobs."""

from uuid import UUID

from app.intake.ingestion_jobs import emitted_events
from app.intake.ingestion_jobs.emitted_events import JobPayload
from app.intake.ingestion_jobs.models import IngestionJob
from app.intake.ingestion_jobs.queries import records
from app.intake.ingestion_jobs.service import ports
from app.intake.ingestion_jobs.service.running import change_status, end
from app.intake.ingestion_jobs.statuses import TRANSITIONS, JobKind, JobStatus
from app.kit import db, errors, events
from app.kit.ids import uuid7

_KINDS_WITHOUT_FILE = (JobKind.EXTRACT, JobKind.REPROCESS)


def create(
    kind: JobKind,
    *,
    name: str,
    created_by: UUID | None,
    job_id: UUID | None = None,
    **values: object,
) -> IngestionJob:
    """Create a job, and emit its `REQUESTED` event.

    `name` is the name of the uploaded file, the connector, the source job or the command. `values`
    are other columns of the job. The caller must have locked the source job of an extraction.
    """
    job = IngestionJob(
        id=job_id or uuid7(), kind=kind.value, name=name, created_by=created_by, **values
    )
    db.session().add(job)
    _emit_requested(job)
    return job


def create_crawl(connector_id: UUID, *, name: str, created_by: UUID | None) -> IngestionJob:
    """Create a job that crawls a connector, and emit its `REQUESTED` event.

    `name` is the name of the connector. The caller must have locked the connector. Raises 409
    `conflict` with `details.job_id` if another crawl of the connector is queued or running.
    """
    _check_no_active_crawl(connector_id)
    return create(JobKind.CRAWL, name=name, created_by=created_by, connector_id=connector_id)


def _check_no_active_crawl(connector_id: UUID) -> None:
    if active_ids := records.list_active_crawl_ids(connector_id):
        message = "A crawl of this connector is already queued or running. Wait until it ends."
        raise errors.conflict(message, job_id=str(active_ids[0]))


def cancel_crawls(connector_id: UUID | None = None) -> None:
    """Cancel the queued and running crawls of a connector; None selects all connectors."""
    for job_id in records.list_active_crawl_ids(connector_id):
        job = records.lock(job_id)
        if job is not None and change_status(job, JobStatus.CANCELLED):
            end(job)


def cancel(job_id: UUID) -> IngestionJob:
    """Cancel a queued or running job; a run of the job stops after the current batch.

    Created documents are kept. Raises 404 if the job does not exist, and 409 `conflict` with
    `details.state` if the job has ended.
    """
    job = _lock_job(job_id, JobStatus.CANCELLED, "cancelled")
    change_status(job, JobStatus.CANCELLED)
    end(job)
    return job


def retry(job_id: UUID) -> IngestionJob:
    """Retry an ended job: queue its failed documents, and the documents that it did not reach.

    Raises 404 if the job does not exist, and 409 `conflict` with `details.state` if its status does
    not allow a retry, with `details.missing` if the uploaded file has been deleted, or with
    `details.job_id` if another crawl of the connector is queued or running.
    """
    job = _lock_job(job_id, JobStatus.QUEUED, "retried")
    if job.kind == JobKind.CRAWL and job.connector_id is not None:
        ports.lock_connector.get()(job.connector_id)
        _check_no_active_crawl(job.connector_id)
    elif job.kind not in _KINDS_WITHOUT_FILE and job.source_key is None:
        raise errors.conflict(
            "The uploaded file was deleted a week after the job ended. Import it again.",
            missing="file",
        )
    _restart(job)
    _emit_requested(job)
    return job


def _restart(job: IngestionJob) -> None:
    """Restart an ended job: queue it again, so that its next run starts with document number 1.

    Of the documents that the job has already handled, only the failed documents are retried.
    """
    change_status(job, JobStatus.QUEUED)
    job.retried_until = max(job.retried_until, job.next_number)
    job.next_offset, job.next_number = 0, 1
    if job.kind in _KINDS_WITHOUT_FILE:
        # There may be new documents. With the old total, `settle` would complete the job as soon as
        # the failed documents have been processed.
        job.total = None
    job.error = job.started_at = job.finished_at = None


def _lock_job(job_id: UUID, new_status: JobStatus, participle: str) -> IngestionJob:
    """Lock a job whose status may change to `new_status`, and return it.

    Raises 404 if the job does not exist, and 409 `conflict` with `details.state` if its status may
    not change. The error message then contains `participle`, for example "retried".
    """
    job = errors.require_found(records.lock(job_id))
    if new_status not in TRANSITIONS[JobStatus(job.status)]:
        raise errors.conflict(
            f"The job is {job.status.replace('_', ' ')}; it cannot be {participle}.",
            state=job.status,
        )
    return job


def _emit_requested(job: IngestionJob) -> None:
    payload: JobPayload = {"job_id": job.id, "kind": job.kind}
    events.emit(emitted_events.REQUESTED[JobKind(job.kind)], payload)
