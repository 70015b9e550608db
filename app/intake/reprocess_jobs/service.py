"""Jobs that reprocess one document on request, or the failed documents of an organization.

Each batch is one transaction, which queues documents for parsing and stores their items. An item is
`processing` until its document has been parsed. After a run has been killed, the next run continues
after the last batch.
"""

from datetime import datetime
from typing import Any
from uuid import UUID

from app.documents.artifacts.service import reprocessing
from app.documents.artifacts.service.reprocessing import FailedSelection
from app.intake.ingestion_jobs.models import IngestionJob
from app.intake.ingestion_jobs.queries import settling
from app.intake.ingestion_jobs.queries.records import ItemRow
from app.intake.ingestion_jobs.service import requests
from app.intake.ingestion_jobs.service import running as ingestion_jobs
from app.intake.ingestion_jobs.statuses import ItemStatus, JobKind, JobStatus
from app.kit import db, jobs, tenancy
from app.kit.db import Checkpoint

SETTLE_JOB = "reprocess_jobs.settle"
BATCH_SIZE = 1000
_JOB_NAME = "flask artifacts reprocess"
"""The name of the jobs that the command of this name creates. Commands are not translated."""
_NOT_REPROCESSABLE_ERROR = {
    "code": "conflict",
    "message": "The document is archived or has tag sets; it cannot be reprocessed.",
}


def create_for_document(artifact_id: UUID, *, name: str, created_by: UUID | None) -> None:
    """Create the job that tracks a document that the caller has queued for parsing.

    The job is running; its only item is the document. `name` is the name of the document.
    """
    job = IngestionJob(
        kind=JobKind.REPROCESS.value,
        name=name,
        created_by=created_by,
        status=JobStatus.RUNNING.value,
        started_at=db.utc_now(),
    )
    db.session().add(job)
    db.session().flush()
    item = ItemRow(1, name, ItemStatus.PROCESSING.value, artifact_id, None, 0.0)
    ingestion_jobs.record_batch(job, [item], next_number=2)
    ingestion_jobs.finish(job.id)


def create_for_failed_documents(selection: FailedSelection) -> IngestionJob:
    """Create a job that reprocesses the failed documents that match `selection`.

    Archived documents and documents with tag sets are omitted.
    """
    filters = {name: _convert_to_json(value) for name, value in selection._asdict().items()}
    options = {"failed": filters}
    return requests.create(JobKind.REPROCESS, name=_JOB_NAME, created_by=None, options=options)


def _convert_to_json(value: str | datetime | None) -> str | None:
    return value.isoformat() if isinstance(value, datetime) else value


def run_reprocess(job_id: UUID, checkpoint: Checkpoint) -> None:
    """Run a reprocessing job: queue its remaining documents for parsing; ignore an ended job.

    `checkpoint` commits each batch, or raises if this run must stop; the next run continues after
    the last batch that was committed. The job ends when the last document has been parsed.
    """
    ingestion_jobs.run_steps(job_id, checkpoint, _retry_failed_items, _handle_selected_documents)


def _retry_failed_items(job: IngestionJob, checkpoint: Checkpoint) -> bool:
    """Reprocess the documents that failed in an earlier run; return False if the job ended."""
    for batch, end in ingestion_jobs.iterate_failed_batches(job, BATCH_SIZE):
        if ingestion_jobs.begin_batch(job.id, job.next_number, end - 1) is None:
            return False
        artifact_ids = [item.artifact_id for item in batch if item.artifact_id is not None]
        reprocessing.reprocess_failed(artifact_ids, by=job.created_by)
        # Documents with other statuses have been reprocessed in the meantime, or were deleted.
        blocked_ids = reprocessing.find_failed_ids(artifact_ids)
        rows = [
            _build_item(number, uri, artifact_id, is_blocked=artifact_id in blocked_ids)
            for number, uri, artifact_id in batch
        ]
        ingestion_jobs.record_batch(job, rows, next_number=end)
        checkpoint()
    return True


def _handle_selected_documents(job: IngestionJob, checkpoint: Checkpoint) -> bool:
    """Reprocess the selected documents after the job's cursor; return False if the job ended."""
    if "failed" not in job.options:
        return True
    selection = _parse_selection(job.options["failed"])
    if job.total is None:
        total = job.next_number - 1 + reprocessing.count_failed_documents(selection)
        if not ingestion_jobs.set_total(job.id, total):
            return False
        checkpoint()
    while batch := reprocessing.list_failed_documents(selection, _parse_cursor(job), BATCH_SIZE):
        first = job.next_number
        if ingestion_jobs.begin_batch(job.id, first, first) is None:
            return False
        # Other requests may have reprocessed, archived or deleted some documents by now.
        queued_ids = reprocessing.reprocess_failed([document.id for document in batch], by=None)
        documents = [document for document in batch if document.id in queued_ids]
        rows = [
            _build_item(number, document.name, document.id)
            for number, document in enumerate(documents, start=first)
        ]
        cursor = f"{batch[-1].created_at.isoformat()} {batch[-1].id}"
        ingestion_jobs.record_batch(job, rows, next_number=first + len(rows), cursor=cursor)
        checkpoint()
    return True


def _build_item(
    number: int, uri: str, artifact_id: UUID | None, *, is_blocked: bool = False
) -> ItemRow:
    status = ItemStatus.FAILED if is_blocked else ItemStatus.PROCESSING
    error = _NOT_REPROCESSABLE_ERROR if is_blocked else None
    return ItemRow(number, uri, status.value, artifact_id, error, 0.0)


def _parse_selection(filters: dict[str, Any]) -> FailedSelection:
    return FailedSelection(
        filters["failure_code"],
        _parse_time(filters["created_after"]),
        _parse_time(filters["created_before"]),
    )


def _parse_time(value: str | None) -> datetime | None:
    return None if value is None else datetime.fromisoformat(value)


def _parse_cursor(job: IngestionJob) -> tuple[datetime, UUID] | None:
    if job.cursor is None:
        return None
    created_at, _, artifact_id = job.cursor.partition(" ")
    return datetime.fromisoformat(created_at), UUID(artifact_id)


def request_outcome_update(artifact_id: UUID) -> None:
    """Enqueue the job that stores the outcome of a document, if a job waits for the document."""
    if settling.list_waiting_job_ids([JobKind.REPROCESS], [artifact_id]):
        jobs.enqueue(
            SETTLE_JOB,
            {"data": {"artifact_id": str(artifact_id)}},
            organization_id=tenancy.current_organization_id(),
        )
