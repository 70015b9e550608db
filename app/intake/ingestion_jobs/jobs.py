"""Background jobs that complete ingestion jobs after parsing, and delete uploaded files."""

from datetime import timedelta
from typing import Any
from uuid import UUID

from app.intake.ingestion_jobs import emitted_events
from app.intake.ingestion_jobs.service import cleaning, running
from app.intake.ingestion_jobs.statuses import JobKind
from app.kit import db, jobs
from app.kit.jobs import Job

EXPIRE_INTERVAL_SECONDS = 600
SWEEP_INTERVAL_SECONDS = 86_400
SETTLE_INTERVAL = timedelta(seconds=2)
SLOW_SETTLE_INTERVAL = timedelta(minutes=10)
"""The interval between two checks of an extraction or a reprocessing. Events usually update these
jobs. The checks find documents for which no event was emitted, for example because their schema was
deleted."""


@jobs.handler("ingestion_jobs.settle", events=(emitted_events.READ, emitted_events.ENDED))
def settle(job: Job) -> None:
    """Settle a job: store the outcomes of processed documents, and complete the job if possible.

    Runs again later if documents are still being processed.
    """
    data: dict[str, Any] = job.args["data"]
    is_slow = data["kind"] in (JobKind.EXTRACT, JobKind.REPROCESS)
    if running.settle(UUID(data["job_id"])):
        jobs.enqueue(
            "ingestion_jobs.settle",
            {"data": data},
            organization_id=job.organization_id,
            due_at=db.utc_now() + (SLOW_SETTLE_INTERVAL if is_slow else SETTLE_INTERVAL),
        )


@jobs.handler(
    "ingestion_jobs.expire", queue="maintenance", resumable=True, every=EXPIRE_INTERVAL_SECONDS
)
def delete_expired_files(job: Job) -> None:
    """Delete uploaded files whose jobs ended more than a week ago."""
    while cleaning.delete_expired_files():
        job.checkpoint()


@jobs.handler(
    "ingestion_jobs.sweep", queue="maintenance", resumable=True, every=SWEEP_INTERVAL_SECONDS
)
def sweep_files(job: Job) -> None:
    """Sweep the storage: delete uploaded files that belong to no job."""
    cleaning.delete_unused_files(job.checkpoint_at, job.position)
