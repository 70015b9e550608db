"""The job that requests the predictions of an extraction."""

from typing import Any
from uuid import UUID

from app.intake.extraction_jobs import service
from app.intake.ingestion_jobs import emitted_events
from app.intake.ingestion_jobs import service as ingestion_jobs
from app.intake.ingestion_jobs.statuses import JobKind
from app.kit import jobs
from app.kit.jobs import Job


def _fail(job: Job, error: str) -> None:
    ingestion_jobs.fail_after_attempts(UUID(job.args["data"]["job_id"]), error)


def _reopen(args: dict[str, Any]) -> None:
    ingestion_jobs.reopen(UUID(args["data"]["job_id"]))


@jobs.handler(
    "extraction_jobs.run",
    queue="imports",
    listens=(emitted_events.REQUESTED,),
    resumable=True,
    on_failure=_fail,
    on_retry=_reopen,
)
def run_extraction(job: Job) -> None:
    """Request the predictions of an extraction; continue where an interrupted run ended."""
    if job.args["data"]["kind"] == JobKind.EXTRACT:
        service.run_extraction(UUID(job.args["data"]["job_id"]), job.checkpoint)
