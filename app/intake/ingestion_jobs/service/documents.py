"""Creation of documents from files for ingestion jobs."""

from typing import NamedTuple
from uuid import UUID

from app.documents.artifacts.service import creating, reading, reprocessing
from app.documents.artifacts.statuses import ArtifactStatus
from app.intake.ingestion_jobs.models import IngestionJob
from app.intake.ingestion_jobs.queries.records import ItemRow
from app.intake.ingestion_jobs.statuses import ItemStatus
from app.kit.errors import ApiError
from app.kit.storage import StagedFile

_FILE_FIELDS = frozenset(("file", "name"))
"""Errors with one of these values of `field` are final, because the same file always causes them.
Other errors, such as a deleted schema or a limit of the plan, may not occur in another attempt."""


class ItemOutcome(NamedTuple):
    """The outcome of a document. `error` has `code` and `message`, or is None without an error.

    `is_final` is false if another attempt with the same file may have another outcome.
    """

    status: ItemStatus
    artifact_id: UUID | None = None
    error: dict[str, str] | None = None
    is_final: bool = True

    def build_item(self, number: int, uri: str, seconds: float) -> ItemRow:
        """Build the item to store for the document with this number and URI."""
        return ItemRow(number, uri, self.status.value, self.artifact_id, self.error, seconds)


def build_failure(code: str, message: str, *, is_final: bool = True) -> ItemOutcome:
    """Build the outcome of a document that could not be created, with its error."""
    error = {"code": code, "message": message}
    return ItemOutcome(ItemStatus.FAILED, error=error, is_final=is_final)


def create_document(
    job: IngestionJob, number: int, staged: StagedFile, *, name: str, schema_id: UUID | None
) -> ItemOutcome:
    """Create document `number` of a job from a staged file; another job parses the document.

    Raises 503 while the storage is not available. Other errors are returned as outcomes.
    """
    try:
        row = creating.create_from_file(
            staged=staged,
            file_name=name,
            declared_media_type=None,
            schema_id=schema_id,
            created_by=job.created_by,
            connector_id=job.connector_id,
            ingestion_job_id=job.id,
        )
    except ApiError as failure:
        if failure.code == "service_unavailable":
            raise
        if failure.code == "artifact_duplicate" and failure.details is not None:
            return _handle_duplicate(job, number, UUID(failure.details["artifact_id"]))
        is_final = failure.field in _FILE_FIELDS
        return build_failure(failure.code, failure.message, is_final=is_final)
    return ItemOutcome(ItemStatus.PROCESSING, row["id"])


def _handle_duplicate(job: IngestionJob, number: int, artifact_id: UUID) -> ItemOutcome:
    """Handle a file whose content already exists, and return the file's outcome.

    If an earlier run of the job created the existing document and the document could not be parsed,
    a retry reprocesses it.
    """
    artifact = reading.get(artifact_id)
    is_retried = number < job.retried_until and artifact.ingestion_job_id == job.id
    if not is_retried or artifact.status != ArtifactStatus.FAILED or artifact.archived:
        return ItemOutcome(ItemStatus.DUPLICATE, artifact_id)
    reprocessing.reprocess(artifact_id, revision=None, by=job.created_by)
    return ItemOutcome(ItemStatus.PROCESSING, artifact_id)
