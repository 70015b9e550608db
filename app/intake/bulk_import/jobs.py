"""The job that imports an uploaded file."""

from typing import Any
from uuid import UUID

from app.intake.bulk_import import service
from app.intake.ingestion_jobs import emitted_events
from app.intake.ingestion_jobs import service as ingestion_jobs
from app.intake.ingestion_jobs.statuses import JobKind
from app.kit import container, jobs
from app.kit.jobs import Job


def _fail_import(job: Job, error: str) -> None:
    ingestion_jobs.fail_after_attempts(UUID(job.args["data"]["job_id"]), error)


def _reopen_import(args: dict[str, Any]) -> None:
    ingestion_jobs.reopen(UUID(args["data"]["job_id"]))


@jobs.handler(
    "bulk_import.run",
    queue="imports",
    listens=(emitted_events.REQUESTED,),
    resumable=True,
    on_failure=_fail_import,
    on_retry=_reopen_import,
)
def run_import(job: Job) -> None:
    """Import an uploaded file, or continue an interrupted import."""
    if job.args["data"]["kind"] != JobKind.IMPORT:
        return
    # The import writes texts and their search index, and must not use the disk reserve.
    container.current().reserve.check()
    service.run_import(UUID(job.args["data"]["job_id"]), job.checkpoint)
