"""Background jobs that create, parse, recognize, index and delete documents, and sweep files."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any
from uuid import UUID

from app.documents.artifacts import emitted_events
from app.documents.artifacts.queries import updating
from app.documents.artifacts.service import (
    attaching,
    bulk,
    cleaning,
    parsing,
    recognizing,
    reprocessing,
)
from app.documents.artifacts.statuses import OcrStatus
from app.identity.organizations import service as organizations
from app.kit import container, db, jobs
from app.kit.jobs import Job
from app.kit.logging import get_logger
from app.kit.storage import NotStored, StorageUnavailable

log = get_logger(__name__)

_MISSING_RETRY_PERIOD = timedelta(days=1)
"""The age up to which a job is retried if the document's file is missing. The file was stored
before the job was created, so an outage of the storage is more likely than a deletion."""


def _retry_recent_job(job: Job, error: NotStored) -> None:
    """Raise StorageUnavailable, so that the job is retried, unless the job is older than a day."""
    if db.utc_now() - job.created_at < _MISSING_RETRY_PERIOD:
        raise StorageUnavailable(f"the file is missing: {error}") from error


def _mark_failed(job: Job, _error: str) -> None:
    message = (
        "The document could not be read: every attempt failed with an internal error. Reprocess it,"
        " or upload another file."
    )
    parsing.mark_failed(UUID(job.args["data"]["artifact_id"]), "crashed", message)


def _reopen_document(args: dict[str, Any]) -> None:
    # Does nothing if the document is archived, has tag sets, or has another status.
    updating.reopen_failed([UUID(args["data"]["artifact_id"])])


@jobs.handler(
    "artifacts.parse",
    queue="documents",
    events=(emitted_events.CREATED, emitted_events.REPROCESSED),
    max_attempts=3,
    on_failure=_mark_failed,
    on_retry=_reopen_document,
)
def parse_artifact(job: Job) -> None:
    """Parse the text and pages of a document that was created or must be reprocessed."""
    # Parsing writes to the database. The check prevents the job from using up the disk space that
    # is kept in reserve.
    container.current().reserve.check()
    artifact_id = UUID(job.args["data"]["artifact_id"])
    try:
        parsing.parse(artifact_id, job.checkpoint)
    except NotStored as missing:
        _retry_recent_job(job, missing)
        message = (
            "The file is missing from the storage. Delete the artifact, and upload the file again."
        )
        parsing.mark_failed(artifact_id, "content_missing", message)


@jobs.handler(parsing.ATTACH_JOB, queue="documents", max_attempts=3, resumable=True)
def create_attached_documents(job: Job) -> None:
    """Create documents from the attachments of an email, or from the emails of a mailbox."""
    container.current().reserve.check()
    artifact_id = UUID(job.args["artifact_id"])
    try:
        attaching.create_documents(artifact_id, job.checkpoint_at, int(job.position or 0))
    except NotStored as missing:
        # If the email was deleted while it was read, the next run has nothing to do.
        _retry_recent_job(job, missing)
        log.warning("artifact.attachments_missing", artifact=job.args["artifact_id"])


def _finish_failed_recognition(job: Job, _error: str) -> None:
    recognizing.finish_recognition(UUID(job.args["artifact_id"]), OcrStatus.FAILED)


@jobs.handler(
    parsing.RECOGNIZE_JOB,
    queue="ocr",
    max_attempts=3,
    resumable=True,
    on_failure=_finish_failed_recognition,
    retryable=False,
)
def recognize_artifact(job: Job) -> None:
    """Recognize the text on the image pages of a document."""
    container.current().reserve.check()
    artifact_id = UUID(job.args["artifact_id"])
    try:
        recognizing.recognize(artifact_id, job.checkpoint)
    except NotStored as missing:
        _retry_recent_job(job, missing)
        recognizing.finish_recognition(artifact_id, OcrStatus.FAILED)


@jobs.handler(
    "artifacts.delete_content",
    queue="bulk",
    events=(emitted_events.DELETED,),
    batch=True,
    max_attempts=10,
)
def delete_content(batch: Sequence[Job]) -> None:
    """Delete the files and page images of deleted documents, unless a new document uses them."""
    digests = [job.args["data"]["sha256"] for job in batch]
    cleaning.delete_contents(digests, batch[0].checkpoint)


@jobs.handler("artifacts.sweep", queue="maintenance", resumable=True, every=3600)
def sweep_files(job: Job) -> None:
    """Delete files that belong to no document, and old page images."""
    cleaning.sweep(job.checkpoint_at, job.position or "")


@jobs.handler("artifacts.index", queue="maintenance", resumable=True, every=60)
def index_documents(job: Job) -> None:
    """Index documents again after the indexing method has changed."""
    reprocessing.index_backlog(job.checkpoint)


@jobs.handler("artifacts.start_retention", every=86_400)
def start_retention(_job: Job) -> None:
    """Enqueue a retention job for each organization with a limited retention time."""
    organization_ids = organizations.list_ids_with_retention()
    jobs.enqueue_for_organizations("artifacts.retain", organization_ids, key_prefix="retain")


@jobs.handler("artifacts.retain", queue="bulk", resumable=True)
def apply_retention(job: Job) -> None:
    """Delete an organization's documents that are older than its retention time."""
    assert job.organization_id is not None
    # Read the current value: the setting may have changed since the job was enqueued.
    days = organizations.get_retention_days(job.organization_id)
    if days is not None:
        bulk.delete_expired_documents(days, job.checkpoint)
