"""Extractions: jobs that predict the tags of all documents that an ingestion job created."""

from collections.abc import Sequence
from uuid import UUID

from app.intake.ingestion_jobs.models import IngestionJob
from app.intake.ingestion_jobs.queries import records
from app.intake.ingestion_jobs.queries.records import ItemRow, JobDocument
from app.intake.ingestion_jobs.service import requests
from app.intake.ingestion_jobs.service import running as ingestion_jobs
from app.intake.ingestion_jobs.statuses import ENDED_STATUSES, ItemStatus, JobKind, JobStatus
from app.kit import errors
from app.kit.db import Checkpoint
from app.workflow.predictions.service import requesting
from app.workflow.predictions.service.requesting import QueueOutcome

BATCH_SIZE = 100


def request_extraction(job_id: UUID, *, created_by: UUID | None) -> IngestionJob:
    """Request an extraction from a job's documents, or return the job's active extraction.

    Raises 404 if the job does not exist, and 409 `conflict` with `details.kind` if the job is an
    extraction, or with `details.state` if the job has not ended or its documents are still being
    processed.
    """
    source_job = errors.require_found(records.lock(job_id))
    if source_job.kind == JobKind.EXTRACT:
        message = "This job is an extraction. Extract from the job that created the documents."
        raise errors.conflict(message, kind=source_job.kind)
    active_extraction = records.find_active_extraction(job_id)
    if active_extraction is not None:
        return active_extraction
    if JobStatus(source_job.status) not in ENDED_STATUSES:
        message = f"The job is {source_job.status.replace('_', ' ')}; wait until it has ended."
        raise errors.conflict(message, state=source_job.status)
    if records.has_processing_items(job_id):
        # The job was cancelled or failed, but documents that it created are still being parsed.
        message = "Documents of the job are still being processed; wait until they are ready."
        raise errors.conflict(message, state=source_job.status)
    return requests.create(
        JobKind.EXTRACT,
        name=source_job.name,
        created_by=created_by,
        options={"source_job_id": str(job_id)},
        total=source_job.created,
    )


def run_extraction(job_id: UUID, checkpoint: Checkpoint) -> None:
    """Run an extraction: request its remaining predictions; do nothing if it has ended.

    `checkpoint` commits each batch, or raises if this run must stop; the next run continues after
    the last batch that was committed. The job ends when the last prediction has ended.
    """
    ingestion_jobs.run_steps(job_id, checkpoint, _retry_failed_items, _handle_new_items)


def _retry_failed_items(job: IngestionJob, checkpoint: Checkpoint) -> bool:
    """Request again the predictions that failed in an earlier run; return False if the job ended.

    The items are read from this job, because the source job may have created other documents since
    the earlier run.
    """
    for batch, end in ingestion_jobs.iterate_failed_batches(job, BATCH_SIZE):
        if ingestion_jobs.begin_batch(job.id, job.next_number, end - 1) is None:
            return False
        _request_predictions(job, batch, end, job.cursor)
        checkpoint()
    return True


def _handle_new_items(job: IngestionJob, checkpoint: Checkpoint) -> bool:
    """Request predictions for the source job's documents after the cursor.

    Returns False if the job ended.
    """
    source_job_id = UUID(job.options["source_job_id"])
    while batch := records.list_documents(
        source_job_id, ItemStatus.CREATED, first=int(job.cursor or 0) + 1, limit=BATCH_SIZE
    ):
        end = job.next_number + len(batch)
        if ingestion_jobs.begin_batch(job.id, job.next_number, end - 1) is None:
            return False
        numbered_documents = enumerate(batch, start=job.next_number)
        documents = [document._replace(number=number) for number, document in numbered_documents]
        _request_predictions(job, documents, end, str(batch[-1].number))
        checkpoint()
    return True


def _request_predictions(
    job: IngestionJob, documents: Sequence[JobDocument], next_number: int, cursor: str | None
) -> None:
    items = [(number, uri, id_) for number, uri, id_ in documents if id_ is not None]
    outcomes = requesting.request_many(
        [artifact_id for _, _, artifact_id in items],
        requested_by=job.created_by,
        ingestion_job_id=job.id,
    )
    rows = [_build_item(*item, outcome) for item, outcome in zip(items, outcomes, strict=True)]
    ingestion_jobs.record_batch(job, rows, next_number=next_number, cursor=cursor)


def _build_item(number: int, uri: str, artifact_id: UUID, outcome: QueueOutcome) -> ItemRow:
    status = ItemStatus.PROCESSING if outcome.error is None else ItemStatus.FAILED
    return ItemRow(number, uri, status.value, artifact_id, outcome.error, 0.0)
