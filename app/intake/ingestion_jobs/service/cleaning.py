"""Storage keys for the uploaded files of ingestion jobs, and deletion of these files."""

from datetime import timedelta
from uuid import UUID

from app.intake.ingestion_jobs.queries import records
from app.kit import container, db, tenancy
from app.kit.db import PositionCheckpoint

RETENTION = timedelta(days=7)
"""The time for which an uploaded file is kept after its job has ended, for retries."""
MIN_UNUSED_AGE = timedelta(hours=1)
"""The minimum age of an unused file to delete; younger files may belong to open transactions."""
_BATCH_SIZE = 100


def build_source_key(organization_id: UUID, job_id: UUID) -> str:
    """Build the storage key for a job's uploaded file."""
    return f"{_build_folder(organization_id)}/{job_id}"


def _build_folder(organization_id: UUID) -> str:
    return f"organizations/{organization_id}/imports"


def delete_expired_files() -> int:
    """Delete a batch of expired files in all organizations, and return how many were deleted."""
    batch = records.lock_expired_jobs(RETENTION, _BATCH_SIZE)
    for job in batch:
        assert job.source_key is not None
        container.current().storage.delete(job.source_key)
        job.source_key = None
    return len(batch)


def delete_unused_files(checkpoint: PositionCheckpoint, position: str | None = None) -> None:
    """Delete uploaded files that belong to no job.

    A process that is killed before it has committed a new job leaves an unused file. Checks the
    organizations whose ids follow `position`, or all organizations if it is None. Calls
    `checkpoint` with the id of each organization that was checked.
    """
    last_id = None if position is None else UUID(position)
    for organization_id in records.list_organization_ids(last_id):
        _delete_unused_files_in(organization_id)
        checkpoint(str(organization_id))


def _delete_unused_files_in(organization_id: UUID) -> None:
    storage = container.current().storage
    max_modified_at = db.utc_now() - MIN_UNUSED_AGE
    entries = storage.list(_build_folder(organization_id))
    keys = {entry.key for entry in entries if entry.modified_at < max_modified_at}
    if not keys:
        return
    with tenancy.organization(organization_id):
        unused_keys = keys - records.find_source_keys(keys)
    for key in unused_keys:
        storage.delete(key)
