"""Import a stored file: read it batch by batch, each of which is one transaction."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from time import perf_counter
from typing import BinaryIO, NamedTuple
from uuid import UUID

from app.documents.artifacts import service as artifacts
from app.documents.artifacts.service import Outcome, PreparedText
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
_Result = PreparedText | Outcome


class _Source(NamedTuple):
    """The name of the file, and the id of the schema of records that name none."""

    name: str
    schema_id: str | None


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


class _Batch(NamedTuple):
    """Records of a file; `results` has a prepared text, or an error, for each that is new."""

    records: list[Record]
    results: dict[int, _Result]


def _import_records(
    job: IngestionJob, reader: Reader, file: BinaryIO, checkpoint: Checkpoint
) -> bool:
    """Import the records from the job's position; return False if the job ended meanwhile."""
    if job.total is None:
        if not ingestion_jobs.set_total(job.id, reader.count(file)):
            return False
        checkpoint()
    records = reader.read(file, Position(job.next_offset, job.next_number))
    source = _Source(job.name, job.options["schema_id"])
    batches = _prepare_batches(source, _split_batches(records), job.retried_until)
    for batch in _read_ahead(batches):
        first, last = batch.records[0], batch.records[-1]
        numbers = ingestion_jobs.begin_batch(job.id, first.number, last.number)
        if numbers is None:
            return False
        _import_batch(job, source, batch, numbers)
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


def _prepare_batches(
    source: _Source, batches: Iterator[list[Record]], retried_until: int
) -> Iterator[_Batch]:
    """Parse the texts of new records; which earlier ones are tried again is not known yet."""
    for records in batches:
        new = [record for record in records if record.number >= retried_until]
        yield _Batch(records, {record.number: _prepare(source, record) for record in new})


def _read_ahead(batches: Iterator[_Batch]) -> Iterator[_Batch]:
    """Yield the batches, and prepare the next one while the database is busy with this one."""
    with ThreadPoolExecutor(1, "import") as pool:
        following = pool.submit(next, batches, None)
        while (batch := following.result()) is not None:
            following = pool.submit(next, batches, None)
            yield batch


def _import_batch(job: IngestionJob, source: _Source, batch: _Batch, numbers: set[int]) -> None:
    """Create the documents of the records with these numbers, and record the batch."""
    began = perf_counter()
    chosen = [record for record in batch.records if record.number in numbers]
    results = [batch.results.get(record.number) or _prepare(source, record) for record in chosen]
    outcomes = iter(
        artifacts.create_from_texts(
            [result for result in results if isinstance(result, PreparedText)],
            created_by=job.created_by,
            ingestion_job_id=job.id,
        )
    )
    final = [next(outcomes) if isinstance(result, PreparedText) else result for result in results]
    seconds = round((perf_counter() - began) / max(1, len(chosen)), 6)
    items = [
        _build_item(source, record, outcome, seconds)
        for record, outcome in zip(chosen, final, strict=True)
    ]
    end = batch.records[-1].next
    ingestion_jobs.record_batch(job, items, offset=end.offset, number=end.number)


def _prepare(source: _Source, record: Record) -> _Result:
    if record.members is None:
        assert record.error is not None
        return Outcome(None, error=record.error)
    try:
        document = build_document(
            record.members,
            file_name=source.name,
            number=record.number,
            schema_id=None if source.schema_id is None else UUID(source.schema_id),
        )
    except MemberError as failure:
        return Outcome(None, error=("unprocessable", str(failure)))
    return artifacts.prepare_text(document)


def _build_item(source: _Source, record: Record, outcome: Outcome, seconds: float) -> ItemRow:
    status, error = ItemStatus.CREATED if outcome.is_new else ItemStatus.DUPLICATE, None
    if outcome.error is not None:
        code, message = outcome.error
        status = ItemStatus.FAILED
        error = {"code": code, "message": check_storable(message, replace=True)}
    uri = f"{source.name}#{record.number}"
    return ItemRow(record.number, uri, status.value, outcome.artifact_id, error, seconds)
