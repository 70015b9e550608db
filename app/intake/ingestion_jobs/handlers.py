"""Registration of the handlers that run ingestion jobs: one for each `JobKind`."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

from app.intake.ingestion_jobs import emitted_events
from app.intake.ingestion_jobs.service.running import fail_after_attempts, reopen
from app.intake.ingestion_jobs.statuses import JobKind
from app.kit import jobs
from app.kit.db import Checkpoint
from app.kit.jobs import Job


def register_run(
    kind: JobKind,
    name: str,
    run: Callable[[UUID, Checkpoint], None],
    *,
    queue: str = "imports",
    on_failure: Callable[[UUID, str], None] = fail_after_attempts,
) -> None:
    """Register `run` as the job handler `name`, which runs all ingestion jobs with this `kind`.

    `run` receives the id of the ingestion job and a checkpoint function. The next run continues
    from the last checkpoint. `on_failure` receives the id, and the error of the last attempt; it
    must mark the ingestion job as failed.
    """

    def handle(job: Job) -> None:
        run(_get_job_id(job.args), job.checkpoint)

    jobs.handler(
        name,
        queue=queue,
        events=(emitted_events.REQUESTED[kind],),
        resumable=True,
        on_failure=lambda job, error: on_failure(_get_job_id(job.args), error),
        on_retry=lambda args: reopen(_get_job_id(args)),
    )(handle)


def _get_job_id(args: dict[str, Any]) -> UUID:
    return UUID(args["data"]["job_id"])
