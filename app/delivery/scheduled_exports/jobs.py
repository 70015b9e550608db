"""Jobs of scheduled exports: start what is due, and deliver the files."""

from typing import Any
from uuid import UUID

from app.delivery.exports.service.running import RUN_COMPLETED
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


@jobs.handler("scheduled_exports.finish_run", listens=(RUN_COMPLETED,))
def finish_run(job: Job) -> None:
    """End a run whose file is downloaded here, or queue the delivery of its file."""
    job_id = _get_job_id(job.args["data"])
    # The file of a retry is delivered if the one before was not.
    delivering.reopen(job_id)
    delivering.finish_or_enqueue(job_id)


def _get_job_id(args: dict[str, Any]) -> UUID:
    return UUID(args["job_id"])


def _fail(job: Job, error: str) -> None:  # noqa: ARG001 - clients do not see the error
    delivering.fail(_get_job_id(job.args))


def _reopen(args: dict[str, Any]) -> None:
    delivering.reopen(_get_job_id(args))


@jobs.handler(
    delivering.DELIVER,
    queue="export_deliveries",
    max_attempts=MAX_ATTEMPTS,
    on_failure=_fail,
    on_retry=_reopen,
)
def deliver(job: Job) -> None:
    """Deliver the file of a run."""
    delivering.deliver(job, _get_job_id(job.args))


jobs.periodic("scheduled_exports.start_due", every=SCHEDULE_EVERY)
