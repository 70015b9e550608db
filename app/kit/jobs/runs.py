"""Execution of claimed jobs: calls to handlers, outcomes, metrics and log lines."""

import random
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, TypeVar

import orjson
from flask import Flask
from sqlalchemy import text

from app.kit import audit, db, events, metrics, tenancy
from app.kit.jobs import claims
from app.kit.jobs.claims import ClaimedJob
from app.kit.jobs.faults import is_fault
from app.kit.jobs.handlers import HANDLERS, Handler, Job, LostLease, Retry, Yielded, stopping
from app.kit.jobs.renewals import keep_renewed
from app.kit.leases import Lease
from app.kit.logging import bind_job, get_logger

log = get_logger(__name__)
T = TypeVar("T")

MAX_INTERRUPTIONS = 10
"""The number of worker crashes after which a job fails, because it probably causes the crashes."""
_BACKOFF_SECONDS = (1, 5, 30, 120, 600)
_FAULT_BACKOFF_SECONDS = (0.5, 1, 2, 5, 10, 30)
_FAULTS_PER_LOGGED_ERROR = 10
"""Every tenth consecutive fault of a job is logged as an error, and the others as warnings."""
_UNKNOWN_FUNCTION_SECONDS = 60
"""The delay before a job whose function this release does not know is claimed again."""
_MAX_ERROR_LENGTH = 2000
# The new jobs keep the creation time, because it determines which webhooks get the events. They
# start with one attempt or with the fault count of the original job, and therefore run alone.
_SPLIT = text(
    """
    INSERT INTO jobs
        (id, organization_id, queue, function, args, request_id, event_id, created_at,
         attempts, faults)
    SELECT gen_random_uuid(), organization_id, queue, :function, event, request_id,
           CAST(event ->> 'event_id' AS uuid), created_at, :attempts, :faults
    FROM jobs CROSS JOIN unnest(CAST(:events AS jsonb[])) AS event
    WHERE id = :id
    """
)


def run(app: Flask, queue: str, claimed_jobs: Sequence[ClaimedJob]) -> None:
    """Run the jobs of one claim, and record their outcome in the database."""
    first_job = claimed_jobs[0]
    lease = Lease(first_job.lease_token, tuple(job.id for job in claimed_jobs))
    job_handler = HANDLERS.get(first_job.function)
    if job_handler is None:
        # A newer release may have added the function.
        log.error("job.unknown_function", function=first_job.function)
        _write_outcome(lambda: claims.requeue(lease, delay=_UNKNOWN_FUNCTION_SECONDS, error=None))
        return
    jobs = [
        _build_job(job_handler, job, queue, lease, args)
        for job in claimed_jobs
        for args in (job.args["events"] if job_handler.single_event_handler else [job.args])
    ]
    if first_job.interruptions >= MAX_INTERRUPTIONS:
        error = f"The worker process died {first_job.interruptions} times while it ran this job."
        if not _split_group(job_handler, first_job, lease, error):
            _fail_job(job_handler, jobs[0], error)
        return
    started_at = time.perf_counter()
    outcome = _call_handler(app, job_handler, jobs, claimed_jobs)
    _record_run(jobs, job_handler.name, outcome, time.perf_counter() - started_at)


def _record_run(jobs: Sequence[Job], function: str, outcome: str, seconds: float) -> None:
    """Add the jobs of one run to the metrics, and log the run.

    A completed run that was not caused by a request is logged at debug level, because such runs
    recur every few seconds.
    """
    metrics.JOBS.labels(function, outcome).inc(len(jobs))
    is_routine = outcome == "completed" and jobs[0].request_id is None
    write = log.debug if is_routine else log.info
    write("job.ran", function=function, outcome=outcome, count=len(jobs), seconds=round(seconds, 4))


def _build_job(
    job_handler: Handler, claimed_job: ClaimedJob, queue: str, lease: Lease, args: dict[str, Any]
) -> Job:
    return Job(
        id=claimed_job.id,
        organization_id=claimed_job.organization_id,
        queue=queue,
        args=args,
        attempt=claimed_job.attempts + 1,
        lease=lease,
        request_id=claimed_job.request_id,
        created_at=claimed_job.created_at,
        resumable=job_handler.resumable,
    )


def _call_handler(
    app: Flask, job_handler: Handler, jobs: list[Job], claimed_jobs: Sequence[ClaimedJob]
) -> str:
    """Call the handler, record the outcome, and return the name of the outcome for the metrics."""
    lease = jobs[0].lease
    assert job_handler.function is not None
    try:
        with _bind_context(job_handler, jobs[0]), keep_renewed(app, lease):
            job_handler.function(
                jobs if job_handler.batch or job_handler.single_event_handler else jobs[0]
            )
            _commit_outcome(lease)
    except LostLease:
        db.session().rollback()
        return "lost"
    except Yielded:
        _write_outcome(lambda: claims.requeue(lease, delay=0, error=None, has_progressed=True))
        return "yielded"
    except Exception as failure:  # noqa: BLE001 - every job needs an outcome
        db.session().rollback()
        if is_fault(failure):
            _requeue_after_fault(job_handler, jobs, claimed_jobs, failure)
            return "fault"
        if _split_group(job_handler, claimed_jobs[0], lease, _describe_failure(failure)):
            return "split"
        return _record_error(job_handler, jobs, failure)
    return "completed"


def _commit_outcome(lease: Lease) -> None:
    """Commit the handler's work together with the outcome.

    Raises LostLease if another worker has the lease.
    """
    if not claims.finish(lease):
        raise LostLease
    db.session().commit()


def _requeue_after_fault(
    job_handler: Handler, jobs: list[Job], claimed_jobs: Sequence[ClaimedJob], failure: Exception
) -> None:
    """Requeue or split jobs after a platform fault, without counting an attempt."""
    faults = claimed_jobs[0].faults + 1
    delays = _FAULT_BACKOFF_SECONDS
    # A random delay, so that jobs that failed together are not retried together.
    delay = delays[min(faults, len(delays)) - 1] * random.uniform(0.5, 1.5)  # noqa: S311 - no secret
    write = log.error if faults % _FAULTS_PER_LOGGED_ERROR == 0 else log.warning
    write("job.fault", function=job_handler.name, faults=faults, error=_describe_failure(failure))
    lease, error = jobs[0].lease, _describe_failure(failure)
    if faults >= claims.FAULTS_BEFORE_ISOLATION and _split_group(
        job_handler, claimed_jobs[0], lease, error, faults=faults
    ):
        return
    _write_outcome(lambda: claims.requeue(lease, delay=delay, error=error, faults=1))


def _record_error(job_handler: Handler, jobs: list[Job], failure: Exception) -> str:
    """Count an attempt for each job, and requeue it or mark it as failed. Return the outcome."""
    if not isinstance(failure, Retry):
        log.error("job.error", function=job_handler.name, exc_info=failure)
    error = _describe_failure(failure)
    outcome = "retried"
    for job in jobs:
        if job_handler.max_attempts is not None and job.attempt >= job_handler.max_attempts:
            outcome = "given_up"
            _fail_job(job_handler, job, error)
            continue
        delay: float = _BACKOFF_SECONDS[min(job.attempt, len(_BACKOFF_SECONDS)) - 1]
        if isinstance(failure, Retry):
            delay = max(delay, failure.min_delay)
        lease = Lease(job.lease.token, (job.id,))
        _write_outcome(partial(claims.requeue, lease, delay=delay, error=error, attempts=1))
    return outcome


def _split_group(
    job_handler: Handler, claimed_job: ClaimedJob, lease: Lease, error: str, *, faults: int = 0
) -> bool:
    """Split a job with several events (`events.emit_many`) into one job for each event.

    One row for several events costs the database much less than a row for each event. But an event
    that causes errors or faults must not affect the other events. The new jobs start with `faults`
    consecutive faults, or with one attempt if `faults` is 0. Returns False and does nothing if the
    handler's jobs do not have several events.
    """
    if job_handler.single_event_handler is None:
        return False
    log.warning("job.split", function=job_handler.name, job=str(claimed_job.id), error=error)
    values = {
        "function": job_handler.single_event_handler,
        "events": [orjson.dumps(event).decode() for event in claimed_job.args["events"]],
        "id": claimed_job.id,
        "attempts": 0 if faults else 1,
        "faults": faults,
    }

    def write() -> None:
        if claims.finish(lease):
            db.session().execute(_SPLIT, values)

    _write_outcome(write)
    return True


def _fail_job(job_handler: Handler, job: Job, error: str) -> None:
    """Mark a job as failed, and call `on_failure`. `failures` reports the job to operators."""
    lease = Lease(job.lease.token, (job.id,))

    def write() -> bool:
        failed = claims.fail(lease, error)
        if failed and job_handler.on_failure is not None:
            _call_on_failure(job_handler, job, error)
        return failed

    if _write_outcome(write):
        metrics.JOBS_FAILED.labels(job_handler.name).inc()
        log.error("job.given_up", function=job_handler.name, job=str(job.id), error=error)


def _call_on_failure(job_handler: Handler, job: Job, error: str) -> None:
    """Call `on_failure`. Log its errors, so that the job is still marked as failed.

    Platform faults are raised.
    """
    assert job_handler.on_failure is not None
    try:
        with _bind_context(job_handler, job), db.session().begin_nested():
            job_handler.on_failure(job, error)
    except Exception as failure:
        if is_fault(failure):
            raise
        log.exception("job.on_failure_failed", function=job_handler.name)


def _write_outcome(write: Callable[[], T]) -> T | None:
    """Run `write` in a transaction. After platform faults, retry for at most the time of a lease.

    `write` checks the lease, so nothing is overwritten if the lease expires meanwhile. Returns the
    result of `write`, or None if it did not succeed.
    """
    deadline = time.monotonic() + claims.JOB_LEASES.lease_seconds
    while True:
        try:
            with (
                tenancy.across_organizations(reason="writes outcomes of any organization's jobs"),
                db.transaction(),
            ):
                return write()
        except Exception as failure:
            if not is_fault(failure):
                log.exception("job.outcome_lost")
                return None
            if time.monotonic() > deadline or stopping.is_set():
                log.warning("job.outcome_not_written", error=_describe_failure(failure))
                return None
        stopping.wait(random.uniform(0.1, 1.0))  # noqa: S311 - no secret


def _describe_failure(failure: BaseException) -> str:
    return f"{type(failure).__name__}: {failure}"[:_MAX_ERROR_LENGTH]


@contextmanager
def _bind_context(job_handler: Handler, job: Job) -> Iterator[None]:
    """Bind the job's organization, request id and actor in a `with` block."""
    events.set_request_id(job.request_id)
    bind_job(str(job.id), job.request_id, str(job.organization_id or ""))
    name = job_handler.name
    with audit.bind_actor("system", None, name, operation=name, request_id=job.request_id):
        if job.organization_id is not None:
            with tenancy.organization(job.organization_id):
                yield
        else:
            with tenancy.across_organizations(reason="the job belongs to no organization"):
                yield
