"""Runs of ingestion jobs: start, batches and end.

Each batch is one transaction, which stores the created documents, their items, and the position at
which the next batch starts. After a run has been killed, the next run continues at this position.
Therefore, no document is created twice.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from uuid import UUID

from app.intake.ingestion_jobs import emitted_events
from app.intake.ingestion_jobs.emitted_events import EndedPayload, JobPayload
from app.intake.ingestion_jobs.models import IngestionJob
from app.intake.ingestion_jobs.queries import records, settling
from app.intake.ingestion_jobs.queries.records import ItemRow, JobDocument
from app.intake.ingestion_jobs.service import ports
from app.intake.ingestion_jobs.statuses import TRANSITIONS, ItemStatus, JobKind, JobStatus
from app.kit import db, events
from app.kit.db import Checkpoint

_STORAGE_FAILURE = ("service_unavailable", "The uploaded file could not be read.")
_FAILURES = {
    **dict.fromkeys(("StorageUnavailable", "StorageFull"), _STORAGE_FAILURE),
    "NotStored": ("content_missing", "The uploaded file is missing from the storage."),
}
_SOURCE_OPTION = "source"
"""The option of a crawl that identifies the source to which the job's position belongs."""
_UNKNOWN_FAILURE = ("internal_error", "The job failed after several attempts. Retry it later.")


def change_status(job: IngestionJob, status: JobStatus) -> bool:
    """Change the status of a locked job; return False if its current status does not allow it."""
    if status not in TRANSITIONS[JobStatus(job.status)]:
        return False
    job.status = status.value
    return True


def start(job_id: UUID) -> IngestionJob | None:
    """Start or continue a job and return it, or None if the job has ended or does not exist."""
    job = records.lock(job_id)
    if job is None or not change_status(job, JobStatus.RUNNING):
        return None
    job.started_at = job.started_at or db.utc_now()
    return job


def run_steps(
    job_id: UUID, checkpoint: Checkpoint, *steps: Callable[[IngestionJob, Checkpoint], bool]
) -> None:
    """Start or continue a job, run its steps and finish it; do nothing if the job has ended.

    Each step handles documents in batches, and commits each batch with `checkpoint`. A step returns
    False if the job has ended. A step that a previous run has completed must do nothing.
    """
    job = start(job_id)
    if job is None:
        return
    checkpoint()
    if all(step(job, checkpoint) for step in steps):
        finish(job_id)


def iterate_failed_batches(job: IngestionJob, size: int) -> Iterator[tuple[list[JobDocument], int]]:
    """Yield the failed documents of an earlier run in batches of at most `size` documents.

    Each batch comes with the number from which the next batch starts. The last batch may be empty.
    The caller must record a batch, which changes `job.next_number`, before it reads the next batch.
    """
    while job.next_number < job.retried_until:
        batch = records.list_documents(
            job.id, ItemStatus.FAILED, first=job.next_number, last=job.retried_until - 1, limit=size
        )
        yield batch, batch[-1].number + 1 if len(batch) == size else job.retried_until


def set_source(job: IngestionJob, source: str) -> None:
    """Store which source a locked crawl lists; clear a position that belongs to another source.

    `source` is a digest of the settings of the source.
    """
    # Crawls that an earlier release has started store no source, and keep their position.
    if job.options.get(_SOURCE_OPTION, source) != source:
        job.cursor = None
    job.options = {**job.options, _SOURCE_OPTION: source}


def set_total(job_id: UUID, total: int) -> bool:
    """Set the total number of a job's documents; return whether the job is running."""
    job = _lock_running_job(job_id)
    if job is not None:
        job.total = total
    return job is not None


def end_transaction_and_check_running(job_id: UUID) -> bool:
    """End the transaction, and return whether a job is running.

    A crawl then waits for its source, and no transaction may be open during this wait.
    """
    status = records.get_status(job_id)
    db.checkpoint()
    return status == JobStatus.RUNNING


def begin_batch(job_id: UUID, first: int, last: int) -> set[int] | None:
    """Lock a job, and return the numbers from `first` to `last` that the run must handle.

    These are the numbers of new documents and of documents that failed in an earlier run. Returns
    None if the job is not running, or if another run has handled the batch.
    """
    job = _lock_running_job(job_id)
    if job is None or job.next_number != first:
        return None
    numbers = set(range(max(first, job.retried_until), last + 1))
    if first < job.retried_until:
        numbers |= records.find_failed_numbers(job_id, first, min(last, job.retried_until - 1))
    return numbers


def record_batch(
    job: IngestionJob,
    items: Sequence[ItemRow],
    *,
    next_number: int,
    next_offset: int = 0,
    cursor: str | None = None,
    unchanged_count: int = 0,
) -> None:
    """Record the outcomes of a batch, and the position of the next batch.

    Args:
        job: the locked job.
        items: the outcomes of the documents in the batch.
        next_number: the number of the next document.
        next_offset: the byte at which the next document starts in the file.
        cursor: the new value of `IngestionJob.cursor`; None keeps the previous value.
        unchanged_count: the number of documents that a crawl did not read because they have not
            changed.
    """
    retried_until = job.retried_until
    retried_count = sum(item.number < retried_until for item in items)
    outcomes = Counter(item.status for item in items)
    # Documents that are retried were already counted as found and failed.
    job.found += len(items) - retried_count + unchanged_count
    job.created += outcomes[ItemStatus.CREATED]
    job.duplicate += outcomes[ItemStatus.DUPLICATE]
    job.skipped += outcomes[ItemStatus.SKIPPED] + unchanged_count
    job.failed += outcomes[ItemStatus.FAILED] - retried_count
    job.next_offset, job.next_number = next_offset, next_number
    job.cursor = cursor or job.cursor
    job.updated_at = db.utc_now()
    records.save_items(job.id, items)


def finish(job_id: UUID) -> bool:
    """Record that a job's source has been read completely; return False if the job is not running.

    Completes the job, unless documents are still being processed. In that case, the job stays
    running and `ingestion_job.read` is emitted, so that `settle` completes the job later.
    """
    job = _lock_running_job(job_id)
    if job is None:
        return False
    job.total = job.next_number - 1
    if records.has_processing_items(job_id):
        payload: JobPayload = {"job_id": job.id, "kind": job.kind}
        events.emit(emitted_events.READ, payload)
    else:
        _complete_job(job)
    return True


def settle_documents(kinds: Sequence[JobKind], artifact_ids: Sequence[UUID]) -> None:
    """Settle the jobs with these `kinds` that wait for documents whose processing has ended.

    Stores the documents' outcomes, and completes jobs that wait for no other documents. `kinds` may
    contain only `extract` and `reprocess`.
    """
    for job_id in settling.list_waiting_job_ids(kinds, artifact_ids):
        settle(job_id, artifact_ids)


def settle(job_id: UUID, artifact_ids: Sequence[UUID] | None = None) -> bool:
    """Settle a job: store the outcomes of processed documents, and complete the job if possible.

    If `artifact_ids` is set, only these documents are settled; this is only allowed for jobs that
    extract or reprocess. Returns True if the function must be called again later, because documents
    are still being processed.
    """
    job = records.lock(job_id)
    if job is None or job.status == JobStatus.QUEUED:
        return False
    created_count, failed_count = settling.settle_items(job, artifact_ids)
    job.created += created_count
    job.failed += failed_count
    is_read = job.total is not None and job.next_number > job.total
    if records.has_processing_items(job_id):
        return is_read or job.status != JobStatus.RUNNING
    if is_read and job.status == JobStatus.RUNNING:
        _complete_job(job)
    return False


def _complete_job(job: IngestionJob) -> None:
    status = JobStatus.COMPLETED_WITH_ERRORS if job.failed else JobStatus.COMPLETED
    change_status(job, status)
    end(job)


def fail(job_id: UUID, *, code: str, message: str) -> bool:
    """Mark a job as failed, with `code` and `message` as its error.

    Returns False, and changes nothing, if the job has ended.
    """
    job = records.lock(job_id)
    if job is None or not change_status(job, JobStatus.FAILED):
        return False
    job.error = {"code": code, "message": message}
    end(job)
    return True


def fail_after_attempts(job_id: UUID, cause: str) -> None:
    """Mark a job as failed after its last attempt.

    `cause` begins with the name of the exception. Clients do not see the cause.
    """
    code, message = _FAILURES.get(cause.partition(":")[0], _UNKNOWN_FAILURE)
    fail(job_id, code=code, message=message)


def reopen(job_id: UUID) -> None:
    """Reopen a failed job that an operator retries: queue it again from its last position.

    A crawl stays failed if another crawl of the connector is queued or running.
    """
    job = records.lock(job_id)
    if job is None or _has_other_crawl(job):
        return
    if change_status(job, JobStatus.QUEUED):
        job.error = job.finished_at = None


def _has_other_crawl(job: IngestionJob) -> bool:
    if job.kind != JobKind.CRAWL or job.connector_id is None:
        return False
    ports.lock_connector.get()(job.connector_id)
    return any(id_ != job.id for id_ in records.list_active_crawl_ids(job.connector_id))


def end(job: IngestionJob) -> None:
    """End a job with a final status: set its end time, and emit `ingestion_job.ended`."""
    job.finished_at = db.utc_now()
    payload: EndedPayload = {
        "job_id": job.id,
        "kind": job.kind,
        "status": job.status,
        "counts": job.counts,
    }
    events.emit(emitted_events.ENDED, payload)


def _lock_running_job(job_id: UUID) -> IngestionJob | None:
    job = records.lock(job_id)
    return job if job is not None and job.status == JobStatus.RUNNING else None
