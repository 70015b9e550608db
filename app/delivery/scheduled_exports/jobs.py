"""Jobs of scheduled exports: start what is due, and deliver the files."""

from typing import Any
from uuid import UUID

from app.delivery.scheduled_exports.service import delivering, starting
from app.kit import jobs
from app.kit.jobs import Job

SCHEDULE_EVERY = 15
MAX_ATTEMPTS = 10
"""The attempts at a delivery. With the delays of jobs, they take about an hour."""


@jobs.handler("scheduled_exports.start_due", resumable=True)
def start_due_runs(job: Job) -> None:
    """Start the runs that are due."""
    while starting.start_due_runs():
        job.checkpoint()


def _get_job_id(args: dict[str, Any]) -> UUID | None:
    """Return the export job of an event, or None if no schedule has created it."""
    data = args["data"]
    return UUID(data["job_id"]) if data["scheduled_export_id"] else None


def _fail(job: Job, error: str) -> None:  # noqa: ARG001 - clients do not see the error
    job_id = _get_job_id(job.args)
    if job_id is not None:
        delivering.fail(job_id)


def _reopen(args: dict[str, Any]) -> None:
    job_id = _get_job_id(args)
    if job_id is not None:
        delivering.reopen(job_id)


@jobs.handler(
    "scheduled_exports.deliver",
    queue="export_deliveries",
    listens=("export.completed",),
    max_attempts=MAX_ATTEMPTS,
    on_failure=_fail,
    on_retry=_reopen,
)
def deliver(job: Job) -> None:
    """Deliver the file of a run."""
    job_id = _get_job_id(job.args)
    if job_id is not None:
        delivering.deliver(job, job_id)


jobs.periodic("scheduled_exports.start_due", every=SCHEDULE_EVERY)
