"""Creation of the documents of ingestion jobs from files."""

from typing import NamedTuple
from uuid import UUID

from app.documents.artifacts import service as artifacts
from app.documents.artifacts.statuses import ArtifactStatus
from app.intake.ingestion_jobs.models import IngestionJob
from app.intake.ingestion_jobs.statuses import ItemStatus
from app.kit.errors import ApiError
from app.kit.storage import Staged


class Outcome(NamedTuple):
    """The outcome of a document; `error` is {code, message}."""

    status: ItemStatus
    artifact_id: UUID | None = None
    error: dict[str, str] | None = None


def build_failure(code: str, message: str) -> Outcome:
    """Return the outcome of a document that could not be created."""
    return Outcome(ItemStatus.FAILED, error={"code": code, "message": message})


def create_document(
    job: IngestionJob, number: int, staged: Staged, *, name: str, schema_id: UUID | None
) -> Outcome:
    """Create the document with this number from a staged file; another job then parses it.

    Raises 503 while the storage is not available. Other errors are returned as outcomes.
    """
    try:
        row = artifacts.create_from_file(
            staged=staged,
            file_name=name,
            declared=None,
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
        return build_failure(failure.code, failure.message)
    return Outcome(ItemStatus.PROCESSING, row["id"])


def _handle_duplicate(job: IngestionJob, number: int, artifact_id: UUID) -> Outcome:
    """Return the outcome for a file whose content already exists.

    A retry reprocesses the existing document if an earlier run of the job created it and it could
    not be parsed.
    """
    artifact = artifacts.get(artifact_id)
    is_retried = number < job.retried_until and artifact.ingestion_job_id == job.id
    if not is_retried or artifact.status != ArtifactStatus.FAILED or artifact.archived:
        return Outcome(ItemStatus.DUPLICATE, artifact_id)
    artifacts.reprocess(artifact_id, revision=None, by=job.created_by)
    return Outcome(ItemStatus.PROCESSING, artifact_id)
