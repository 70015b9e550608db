"""Jobs that reprocess documents, and store the outcomes."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from app.intake.ingestion_jobs import emitted_events
from app.intake.ingestion_jobs import service as ingestion_jobs
from app.intake.ingestion_jobs.statuses import JobKind
from app.intake.reprocess_jobs import service
from app.kit import jobs
from app.kit.jobs import Job


def _fail_reprocess(job: Job, error: str) -> None:
    if job.args["data"]["kind"] == JobKind.REPROCESS:
        ingestion_jobs.fail_after_attempts(UUID(job.args["data"]["job_id"]), error)


def _reopen_reprocess(args: dict[str, Any]) -> None:
    if args["data"]["kind"] == JobKind.REPROCESS:
        ingestion_jobs.reopen(UUID(args["data"]["job_id"]))


@jobs.handler(
    "reprocess_jobs.run",
    queue="imports",
    listens=(emitted_events.REQUESTED,),
    resumable=True,
    on_failure=_fail_reprocess,
    on_retry=_reopen_reprocess,
)
def run_reprocess(job: Job) -> None:
    """Queue the documents of a job for parsing, or continue an interrupted run."""
    if job.args["data"]["kind"] == JobKind.REPROCESS:
        service.run_reprocess(UUID(job.args["data"]["job_id"]), job.checkpoint)


@jobs.handler(service.SETTLE_JOB, batch=True)
def settle(batch: Sequence[Job]) -> None:
    """Settle the jobs of reprocessed documents that were parsed."""
    artifact_ids = {UUID(job.args["data"]["artifact_id"]) for job in batch}
    ingestion_jobs.settle_documents((JobKind.REPROCESS,), sorted(artifact_ids))
