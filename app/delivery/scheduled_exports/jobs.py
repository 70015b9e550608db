"""Jobs that start due runs of scheduled exports and deliver their files."""

from typing import Any
from uuid import UUID

from app.delivery.exports.emitted_events import RUN_COMPLETED
from app.delivery.scheduled_exports.service import delivering, starting
from app.kit import jobs
from app.kit.jobs import Job

SCHEDULE_INTERVAL_SECONDS = 15
MAX_ATTEMPTS = 10
"""The maximum number of delivery attempts. With the delays, they take about an hour in total."""


@jobs.handler("scheduled_exports.start_due", resumable=True, every=SCHEDULE_INTERVAL_SECONDS)
def start_due_runs(job: Job) -> None:
    """Start all due runs of scheduled exports, one batch per transaction."""
    while starting.start_due_runs():
        job.checkpoint()


@jobs.handler("scheduled_exports.finish_run", events=(RUN_COMPLETED,))
def finish_run(job: Job) -> None:
    """Finish a run whose file is only for download, or queue the delivery of the file."""
    job_id = _get_job_id(job.args["data"])
    # If an earlier file could not be delivered, the file from a retry of the export is delivered.
    delivering.reopen(job_id)
    delivering.finish_run_or_enqueue_delivery(job_id)


def _get_job_id(args: dict[str, Any]) -> UUID:
    return UUID(args["job_id"])


@jobs.handler(
    delivering.DELIVER_JOB,
    queue="export_deliveries",
    max_attempts=MAX_ATTEMPTS,
    on_failure=lambda job, _error: delivering.fail(_get_job_id(job.args)),
    on_retry=lambda args: delivering.reopen(_get_job_id(args)),
)
def deliver(job: Job) -> None:
    """Deliver the file of a run to the run's destination, and mark the run as delivered."""
    delivering.deliver(job, _get_job_id(job.args))
