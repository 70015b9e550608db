"""Background job that finishes the deletion of schemas."""

from uuid import UUID

from app.kit import jobs
from app.kit.jobs import Job
from app.schemas.artifact_schemas.service import deleting


@jobs.handler(deleting.DELETE_JOB, queue="bulk", resumable=True, max_attempts=10)
def delete_schema(job: Job) -> None:
    """Remove a deleted schema from its documents, then delete its predictions and its row."""
    deleting.finish_deletion(UUID(job.args["schema_id"]), job.checkpoint)
