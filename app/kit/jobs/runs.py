"""Metrics and log entries of each run of a handler."""

from collections.abc import Sequence

from app.kit import metrics
from app.kit.jobs.handlers import Job
from app.kit.logging import get_logger

log = get_logger(__name__)


def record_run(jobs: Sequence[Job], function: str, outcome: str, seconds: float) -> None:
    """Count the jobs of one run, and log it.

    A completed run that no request caused is logged at debug level, because such runs recur every
    few seconds.
    """
    metrics.JOBS.labels(function, outcome).inc(len(jobs))
    is_routine = outcome == "completed" and jobs[0].request_id is None
    write = log.debug if is_routine else log.info
    write("job.ran", function=function, outcome=outcome, count=len(jobs), seconds=round(seconds, 4))
