"""Import a stored file: read it batch by batch, each of which is one transaction."""

from collections.abc import Callable, Iterator, Sequence
from time import perf_counter
from typing import BinaryIO
from uuid import UUID

from app.documents.artifacts import service as artifacts
from app.documents.artifacts.service import NewText
from app.engines.imports import READERS, ImportFileError, Position, Reader, Record
from app.intake.bulk_import.service.archives import import_archive
from app.intake.bulk_import.service.documents import MemberError, build_document, check_storable
from app.intake.ingestion_jobs import service as ingestion_jobs
from app.intake.ingestion_jobs.models import IngestionJob
from app.intake.ingestion_jobs.service import ItemRow
from app.intake.ingestion_jobs.statuses import ItemStatus
from app.kit import container

BATCH_RECORDS = artifacts.MAX_BATCH
BATCH_BYTES = 4 * 1024 * 1024
"""A batch ends after the record with which it has this size."""

Checkpoint = Callable[[], None]


def run_import(job_id: UUID, checkpoint: Checkpoint) -> None:
    """Import the rest of a job's file, and end the job; do nothing if it has ended.

    `checkpoint` commits each batch, or raises if this run must stop; the next run continues after
    the last batch that was committed.
    """
    job = ingestion_jobs.start(job_id)
    if job is None:
        return
    checkpoint()
    assert job.source_key is not None
    assert job.format is not None
    with container.current().storage.open(job.source_key) as file:
        try:
            if job.format in READERS:
                completed = _import_records(job, READERS[job.format], file, checkpoint)
            else:
                completed = import_archive(job, file, checkpoint)
        except ImportFileError as failure:
            ingestion_jobs.fail(job_id, code="validation_error", message=str(failure))
            return
    if completed:
        ingestion_jobs.finish(job_id)


def _import_records(
    job: IngestionJob, reader: Reader, file: BinaryIO, checkpoint: Checkpoint
) -> bool:
    """Import the records from the job's position; return False if the job ended meanwhile."""
    if job.total is None:
        if not ingestion_jobs.set_total(job.id, reader.count(file)):
            return False
        checkpoint()
    records = reader.read(file, Position(job.next_offset, job.next_number))
    for batch in _split_batches(records):
        numbers = ingestion_jobs.begin_batch(job.id, batch[0].number, batch[-1].number)
        if numbers is None:
            return False
        _import_batch(job, batch, [record for record in batch if record.number in numbers])
        checkpoint()
    return True


def _split_batches(records: Iterator[Record]) -> Iterator[list[Record]]:
    """Yield the records in lists of limited length and size."""
    batch: list[Record] = []
    size = 0
    for record in records:
        batch.append(record)
        size += record.size
        if len(batch) == BATCH_RECORDS or size >= BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _import_batch(job: IngestionJob, batch: Sequence[Record], chosen: Sequence[Record]) -> None:
    """Create the documents of the `chosen` records of a batch, and record it."""
    began = perf_counter()
    results = [_build(job, record) for record in chosen]
    outcomes = iter(
        artifacts.create_from_texts(
            [result for result in results if isinstance(result, NewText)],
            created_by=job.created_by,
            ingestion_job_id=job.id,
        )
    )
    final = [next(outcomes) if isinstance(result, NewText) else result for result in results]
    seconds = round((perf_counter() - began) / max(1, len(chosen)), 6)
    items = [
        _build_item(job, record, outcome, seconds)
        for record, outcome in zip(chosen, final, strict=True)
    ]
    end = batch[-1].next
    ingestion_jobs.record_batch(job, items, offset=end.offset, number=end.number)


def _build(job: IngestionJob, record: Record) -> NewText | artifacts.Outcome:
    if record.members is None:
        assert record.error is not None
        return artifacts.Outcome(None, error=record.error)
    schema_id = job.options["schema_id"]
    try:
        return build_document(
            record.members,
            file_name=job.name,
            number=record.number,
            schema_id=None if schema_id is None else UUID(schema_id),
        )
    except MemberError as failure:
        return artifacts.Outcome(None, error=("unprocessable", str(failure)))


def _build_item(
    job: IngestionJob, record: Record, outcome: artifacts.Outcome, seconds: float
) -> ItemRow:
    status, error = ItemStatus.CREATED if outcome.is_new else ItemStatus.DUPLICATE, None
    if outcome.error is not None:
        code, message = outcome.error
        status = ItemStatus.FAILED
        error = {"code": code, "message": check_storable(message, replace=True)}
    uri = f"{job.name}#{record.number}"
    return ItemRow(record.number, uri, status.value, outcome.artifact_id, error, seconds)
