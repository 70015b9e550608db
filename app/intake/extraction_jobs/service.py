"""Extractions: jobs that predict the tags of all documents that an ingestion job created."""

from collections.abc import Callable
from uuid import UUID

from app.intake.extraction_jobs import queries
from app.intake.extraction_jobs.queries import CreatedItem
from app.intake.ingestion_jobs import service as ingestion_jobs
from app.intake.ingestion_jobs.models import IngestionJob
from app.intake.ingestion_jobs.service import ItemRow
from app.intake.ingestion_jobs.statuses import ENDED, ItemStatus, JobKind, JobStatus
from app.kit import errors
from app.workflow.predictions import service as predictions
from app.workflow.predictions.service import RequestOutcome

BATCH_SIZE = 100

Checkpoint = Callable[[], None]


def request_extraction(job_id: UUID, *, created_by: UUID | None) -> IngestionJob:
    """Request an extraction of a job's documents, or return the extraction that is active.

    Raises 404, and 409 `conflict` with `details.kind` if the job is itself an extraction, or with
    `details.state` if the job has not ended.
    """
    source = queries.lock_job(job_id)
    if source is None:
        raise errors.not_found()
    if source.kind == JobKind.EXTRACT:
        message = "This job is an extraction. Extract from the job that created the documents."
        raise errors.conflict(message, kind=source.kind)
    active_extraction = queries.find_active_extraction(job_id)
    if active_extraction is not None:
        return active_extraction
    if JobStatus(source.status) not in ENDED:
        message = f"The job is {source.status.replace('_', ' ')}; wait until it has ended."
        raise errors.conflict(message, state=source.status)
    return ingestion_jobs.create_extraction(
        job_id, name=source.name, total=source.created, created_by=created_by
    )


def run_extraction(job_id: UUID, checkpoint: Checkpoint) -> None:
    """Run an extraction: request its remaining predictions; do nothing if it has ended.

    `checkpoint` commits each batch, or raises if this run must stop; the next run continues after
    the last batch that was committed. The job ends when the last prediction has ended.
    """
    job = ingestion_jobs.start(job_id)
    if job is None:
        return
    source_id = UUID(job.options["source_job_id"])
    checkpoint()
    while batch := queries.list_created_items(source_id, int(job.cursor or 0), BATCH_SIZE):
        first_number = job.next_number
        numbers = ingestion_jobs.begin_batch(job.id, first_number, first_number + len(batch) - 1)
        if numbers is None:
            return
        _request_predictions(job, batch, numbers)
        checkpoint()
    ingestion_jobs.finish(job_id)


def _request_predictions(job: IngestionJob, batch: list[CreatedItem], numbers: set[int]) -> None:
    numbered_items = [
        (number, item)
        for number, item in enumerate(batch, start=job.next_number)
        if number in numbers
    ]
    outcomes = predictions.request_many(
        [item.artifact_id for _, item in numbered_items],
        requested_by=job.created_by,
        ingestion_job_id=job.id,
    )
    items = [
        _build_item(number, item, outcome)
        for (number, item), outcome in zip(numbered_items, outcomes, strict=True)
    ]
    next_number = job.next_number + len(batch)
    cursor = str(batch[-1].number)
    ingestion_jobs.record_batch(job, items, next_number=next_number, cursor=cursor)


def _build_item(number: int, item: CreatedItem, outcome: RequestOutcome) -> ItemRow:
    status = ItemStatus.PROCESSING if outcome.error is None else ItemStatus.FAILED
    return ItemRow(number, item.uri, status.value, item.artifact_id, outcome.error, 0.0)
