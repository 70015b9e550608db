"""Import a ZIP archive: each file becomes a document, which a job of the documents parses."""

from collections.abc import Callable
from time import perf_counter
from typing import BinaryIO, NamedTuple
from uuid import UUID

from app.documents.artifacts import service as artifacts
from app.documents.artifacts.statuses import ArtifactStatus
from app.engines.imports import Archive, DamagedError, Entry
from app.intake.ingestion_jobs import service as ingestion_jobs
from app.intake.ingestion_jobs.models import IngestionJob
from app.intake.ingestion_jobs.service import ItemRow
from app.intake.ingestion_jobs.statuses import ItemStatus
from app.kit import container
from app.kit.errors import ApiError
from app.kit.storage import Staged, TooLarge

Checkpoint = Callable[[], None]


def import_archive(job: IngestionJob, file: BinaryIO, checkpoint: Checkpoint) -> bool:
    """Create a document from each file of an archive; return False if the job ended meanwhile.

    Each file is a transaction of its own. Raises ImportFileError.
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
    job: IngestionJob, archive: Archive, entry: Entry, checkpoint: Checkpoint
) -> bool:
    began = perf_counter()
    numbers = ingestion_jobs.begin_batch(job.id, entry.number, entry.number)
    if numbers is None:
        return False
    items: list[ItemRow] = []
    if numbers:
        # Unpacking may take long; nobody should wait for the job's lock meanwhile.
        checkpoint()
        with container.current().storage.stage(container.settings().max_upload_bytes) as staged:
            problem = _find_problem(archive, entry, staged)
            if ingestion_jobs.begin_batch(job.id, entry.number, entry.number) is None:
                return False
            outcome = problem or _create(job, entry, staged)
        items = [_build_item(job, entry, outcome, round(perf_counter() - began, 6))]
    ingestion_jobs.record_batch(job, items, offset=0, number=entry.number + 1)
    return True


class _Outcome(NamedTuple):
    status: ItemStatus
    artifact_id: UUID | None = None
    error: tuple[str, str] | None = None


def _find_problem(archive: Archive, entry: Entry, staged: Staged) -> _Outcome | None:
    """Unpack a file; return its outcome if it cannot become a document."""
    if entry.is_ignored:
        return _Outcome(ItemStatus.SKIPPED)
    if entry.error is not None:
        return _Outcome(ItemStatus.FAILED, error=entry.error)
    try:
        for chunk in archive.read(entry):
            staged.write(chunk)
    except DamagedError:
        return _Outcome(ItemStatus.FAILED, error=("unreadable", "The file is damaged."))
    except TooLarge as failure:
        message = f"The file is larger than {failure.limit} bytes."
        return _Outcome(ItemStatus.FAILED, error=("payload_too_large", message))
    return None


def _create(job: IngestionJob, entry: Entry, staged: Staged) -> _Outcome:
    schema_id = job.options["schema_id"]
    try:
        row = artifacts.create_from_file(
            staged=staged,
            file_name=entry.name,
            declared=None,
            schema_id=None if schema_id is None else UUID(schema_id),
            created_by=job.created_by,
            ingestion_job_id=job.id,
        )
    except ApiError as failure:
        if failure.code == "service_unavailable":
            raise
        if failure.code == "artifact_duplicate" and failure.details is not None:
            return _reuse(job, entry, UUID(failure.details["artifact_id"]))
        return _Outcome(ItemStatus.FAILED, error=(failure.code, failure.message))
    return _Outcome(ItemStatus.PROCESSING, row["id"])


def _reuse(job: IngestionJob, entry: Entry, artifact_id: UUID) -> _Outcome:
    """Return the outcome of a file whose content exists already.

    A retry reads again what an earlier run of the job created and the documents could not read.
    """
    artifact = artifacts.get(artifact_id)
    is_retried = entry.number < job.retried_until and artifact.ingestion_job_id == job.id
    if not is_retried or artifact.status != ArtifactStatus.FAILED or artifact.archived:
        return _Outcome(ItemStatus.DUPLICATE, artifact_id)
    artifacts.reprocess(artifact_id, revision=None, by=job.created_by)
    return _Outcome(ItemStatus.PROCESSING, artifact_id)


def _build_item(job: IngestionJob, entry: Entry, outcome: _Outcome, seconds: float) -> ItemRow:
    error = None
    if outcome.error is not None:
        code, message = outcome.error
        error = {"code": code, "message": message}
    uri = f"{job.name}/{entry.path}"
    status = outcome.status.value
    return ItemRow(entry.number, uri, status, outcome.artifact_id, error, seconds)
