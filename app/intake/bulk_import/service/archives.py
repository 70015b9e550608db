"""Import of ZIP archives: each file becomes a document, and another job parses the document."""

from time import perf_counter
from typing import BinaryIO
from uuid import UUID

from app.engines.imports.archives import Archive, ArchiveEntry, DamagedEntryError
from app.intake.ingestion_jobs.models import IngestionJob
from app.intake.ingestion_jobs.queries.records import ItemRow
from app.intake.ingestion_jobs.service import running as ingestion_jobs
from app.intake.ingestion_jobs.service.documents import ItemOutcome, build_failure, create_document
from app.intake.ingestion_jobs.statuses import ItemStatus
from app.kit import container
from app.kit.db import Checkpoint
from app.kit.storage import StagedFile, TooLarge


def import_archive(job: IngestionJob, file: BinaryIO, checkpoint: Checkpoint) -> bool:
    """Import an archive: create a document from each file. Returns False if the job has ended.

    Each file is imported in a separate transaction. Raises ImportFileError if the archive is
    damaged or has too many files.
    """
    with Archive(file, job.size_bytes or 0) as archive:
        if job.total is None:
            if not ingestion_jobs.set_total(job.id, len(archive.entries)):
                return False
            checkpoint()
        for entry in archive.entries[job.next_number - 1 :]:
            if not _import_entry(job, archive, entry, checkpoint):
                return False
            checkpoint()
    return True


def _import_entry(
    job: IngestionJob, archive: Archive, entry: ArchiveEntry, checkpoint: Checkpoint
) -> bool:
    """Create a document from a file, and record its outcome. Returns False if the job has ended."""
    started_at = perf_counter()
    numbers = ingestion_jobs.begin_batch(job.id, entry.number, entry.number)
    if numbers is None:
        return False
    items: list[ItemRow] = []
    if numbers:
        # Unpacking may take a long time, so the job's lock is released meanwhile.
        checkpoint()
        with container.current().storage.stage(container.settings().max_upload_bytes) as staged:
            entry_outcome = _unpack_entry(archive, entry, staged)
            if ingestion_jobs.begin_batch(job.id, entry.number, entry.number) is None:
                return False
            outcome = entry_outcome or create_document(
                job, entry.number, staged, name=entry.name, schema_id=get_default_schema_id(job)
            )
        seconds = round(perf_counter() - started_at, 6)
        items = [outcome.build_item(entry.number, f"{job.name}/{entry.path}", seconds)]
    ingestion_jobs.record_batch(job, items, next_offset=0, next_number=entry.number + 1)
    return True


def _unpack_entry(archive: Archive, entry: ArchiveEntry, staged: StagedFile) -> ItemOutcome | None:
    """Unpack a file to `staged`; return None, or an outcome if it cannot become a document."""
    if entry.is_ignored:
        return ItemOutcome(ItemStatus.SKIPPED)
    if entry.error is not None:
        return build_failure(*entry.error)
    try:
        for chunk in archive.read(entry):
            staged.write(chunk)
    except DamagedEntryError:
        return build_failure("unreadable", "The file is damaged.")
    except TooLarge as failure:
        message = f"The file is larger than {failure.limit} bytes."
        return build_failure("payload_too_large", message)
    return None


def get_default_schema_id(job: IngestionJob) -> UUID | None:
    """Return the id of the schema for records and files that specify no schema, or None."""
    schema_id = job.options["schema_id"]
    return None if schema_id is None else UUID(schema_id)
