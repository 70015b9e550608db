"""Import of stored files in batches; each batch is one transaction."""

import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from time import perf_counter
from typing import BinaryIO, NamedTuple
from uuid import UUID

from app.documents.artifacts.service import creating_many as artifacts
from app.documents.artifacts.service.creating_many import Outcome, PreparedText
from app.engines.imports import READERS
from app.engines.imports.encodings import open_as_utf8
from app.engines.imports.records import ImportFileError, Position, Reader, Record
from app.intake.bulk_import.service.archives import get_default_schema_id, import_archive
from app.intake.bulk_import.service.documents import RecordError, build_document, check_storable
from app.intake.bulk_import.service.labels import (
    CheckedLabels,
    LabelChecker,
    LabelsAs,
    RecordLabels,
    create_tag_sets,
    pop_labels,
)
from app.intake.ingestion_jobs.models import IngestionJob
from app.intake.ingestion_jobs.queries.records import ItemRow
from app.intake.ingestion_jobs.service import running as ingestion_jobs
from app.intake.ingestion_jobs.statuses import ItemStatus
from app.kit import container
from app.kit.db import Checkpoint

BATCH_RECORDS = artifacts.MAX_BATCH_SIZE
BATCH_BYTES = 4 * 1024 * 1024
"""The size in bytes at which a batch is complete. The last record may make the batch larger."""

_SWITCH_INTERVAL_SECONDS = 0.0002


class _ImportSettings(NamedTuple):
    """The settings for an import: file name, default schema, and how to import labels."""

    name: str
    schema_id: UUID | None
    labels_as: LabelsAs


class _Document(NamedTuple):
    """A prepared text with its labels; `checked_labels` is None if no labels were validated."""

    prepared: PreparedText
    labels: RecordLabels
    checked_labels: CheckedLabels | None = None


_PreparedRecord = _Document | Outcome


def run_import(job_id: UUID, checkpoint: Checkpoint) -> None:
    """Import the remaining records of a job's file, and end the job; ignore a job that has ended.

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
                reader = READERS[job.format]
                is_completed = _import_records(job, reader, open_as_utf8(file), checkpoint)
            else:
                is_completed = import_archive(job, file, checkpoint)
        except ImportFileError as failure:
            ingestion_jobs.fail(job_id, code="validation_error", message=str(failure))
            return
    if is_completed:
        ingestion_jobs.finish(job_id)


class _Batch(NamedTuple):
    """A batch of records, and the records that were prepared in advance, by record number."""

    records: list[Record]
    prepared_records: dict[int, _PreparedRecord]


def _import_records(
    job: IngestionJob, reader: Reader, file: BinaryIO, checkpoint: Checkpoint
) -> bool:
    """Import all records from the job's position; return False if the job ended before that."""
    if job.total is None:
        if not ingestion_jobs.set_total(job.id, reader.count(file)):
            return False
        checkpoint()
    records = reader.read(file, Position(job.next_offset, job.next_number))
    settings = _read_settings(job)
    batches = _prepare_batches(settings, _split_batches(records), job.retried_until)
    with _use_short_switch_interval():
        for batch in _prefetch_batches(batches):
            first, last = batch.records[0], batch.records[-1]
            numbers = ingestion_jobs.begin_batch(job.id, first.number, last.number)
            if numbers is None:
                return False
            _import_batch(job, settings, batch, numbers)
            checkpoint()
    return True


@contextmanager
def _use_short_switch_interval() -> Iterator[None]:
    """Use a short interval for switching between Python threads.

    With the default interval, the importing thread waits up to 5 ms after each response of the
    database, until the thread that parses the next batch releases the interpreter.
    """
    interval = sys.getswitchinterval()
    sys.setswitchinterval(_SWITCH_INTERVAL_SECONDS)
    try:
        yield
    finally:
        sys.setswitchinterval(interval)


def _split_batches(records: Iterator[Record]) -> Iterator[list[Record]]:
    """Split records into batches, each with a limited number of records and a limited size."""
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
    settings: _ImportSettings, batches: Iterator[list[Record]], retried_until: int
) -> Iterator[_Batch]:
    """Yield batches in which new records are prepared.

    An earlier run has handled the records with numbers below `retried_until`. If such a record has
    failed, it is prepared later, when it is imported again.
    """
    for records in batches:
        new_records = [record for record in records if record.number >= retried_until]
        yield _Batch(
            records, {record.number: _prepare_record(settings, record) for record in new_records}
        )


def _prefetch_batches(batches: Iterator[_Batch]) -> Iterator[_Batch]:
    """Yield the batches; prepare the next batch while the current batch is being imported."""
    with ThreadPoolExecutor(1, "import") as pool:
        future = pool.submit(next, batches, None)
        while (batch := future.result()) is not None:
            future = pool.submit(next, batches, None)
            yield batch


def _read_settings(job: IngestionJob) -> _ImportSettings:
    return _ImportSettings(job.name, get_default_schema_id(job), LabelsAs(job.options["labels"]))


def _import_batch(
    job: IngestionJob, settings: _ImportSettings, batch: _Batch, numbers: set[int]
) -> None:
    """Import those records of a batch whose numbers are in `numbers`, and record the outcomes."""
    started_at = perf_counter()
    records = [record for record in batch.records if record.number in numbers]
    prepared_records = [
        batch.prepared_records.get(record.number) or _prepare_record(settings, record)
        for record in records
    ]
    outcomes = _create_documents(job, settings, _check_labels(prepared_records))
    seconds = round((perf_counter() - started_at) / max(1, len(records)), 6)
    items = [
        _build_item(settings, record, outcome, seconds)
        for record, outcome in zip(records, outcomes, strict=True)
    ]
    end = batch.records[-1].next
    ingestion_jobs.record_batch(job, items, next_offset=end.offset, next_number=end.number)


def _check_labels(records: list[_PreparedRecord]) -> list[_PreparedRecord]:
    """Validate the labels of each record; a record with invalid labels becomes a failed outcome."""
    checker = LabelChecker()
    checked_records: list[_PreparedRecord] = []
    for record in records:
        if isinstance(record, Outcome) or not record.labels or record.prepared.parsed is None:
            checked_records.append(record)
            continue
        labels = checker.check(record.prepared, record.labels)
        checked_records.append(
            labels if isinstance(labels, Outcome) else record._replace(checked_labels=labels)
        )
    return checked_records


def _create_documents(
    job: IngestionJob, settings: _ImportSettings, records: list[_PreparedRecord]
) -> list[Outcome]:
    """Create the documents with their tag sets, and return an outcome for each record."""
    documents = [record for record in records if isinstance(record, _Document)]
    outcomes = artifacts.create_from_texts(
        [document.prepared for document in documents],
        created_by=job.created_by,
        ingestion_job_id=job.id,
    )
    create_tag_sets(
        [
            (outcome.artifact_id, document.checked_labels)
            for document, outcome in zip(documents, outcomes, strict=True)
            if outcome.is_new and outcome.artifact_id and document.checked_labels
        ],
        accepted=settings.labels_as is LabelsAs.ACCEPTED,
        author_id=job.created_by,
    )
    remaining_outcomes = iter(outcomes)
    return [
        next(remaining_outcomes) if isinstance(record, _Document) else record for record in records
    ]


def _prepare_record(settings: _ImportSettings, record: Record) -> _PreparedRecord:
    if record.content is None:
        assert record.error is not None
        return Outcome(None, error=record.error)
    labels = pop_labels(record.content, settings.labels_as)
    try:
        document = build_document(
            record.content.properties,
            file_name=settings.name,
            number=record.number,
            schema_id=settings.schema_id,
        )
    except RecordError as failure:
        return Outcome(None, error=("unprocessable", str(failure)))
    return _Document(artifacts.prepare_text(replace(document, is_labeled=bool(labels))), labels)


def _build_item(
    settings: _ImportSettings, record: Record, outcome: Outcome, seconds: float
) -> ItemRow:
    status, error = ItemStatus.CREATED if outcome.is_new else ItemStatus.DUPLICATE, None
    if outcome.error is not None:
        code, message = outcome.error
        status = ItemStatus.FAILED
        error = {"code": code, "message": check_storable(message, replace=True)}
    uri = f"{settings.name}#{record.number}"
    return ItemRow(record.number, uri, status.value, outcome.artifact_id, error, seconds)
