"""The worker: claims jobs of a queue, calls their handlers, and writes the outcomes."""

import random
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TypeVar

from flask import Flask, current_app
from sqlalchemy.exc import SQLAlchemyError

from app.kit import audit, container, db, events, metrics, tenancy
from app.kit.jobs import claims, slots, turns
from app.kit.jobs.claims import ClaimedJob, Lease
from app.kit.jobs.faults import is_fault
from app.kit.jobs.handlers import HANDLERS, Handler, Job, LostLease, Retry, Yielded
from app.kit.jobs.leases import get_renewer
from app.kit.jobs.queues import GROUPS, QUEUES, Queue, list_queues
from app.kit.jobs.runs import record_run
from app.kit.logging import bind_job, get_logger

log = get_logger(__name__)
T = TypeVar("T")

SLICE_SECONDS = 20.0
"""A fork starts no further job after this time, so that its memory is released."""
MAX_INTERRUPTIONS = 10
"""A job whose worker died this often fails, because it probably causes the crashes."""
_BACKOFF_SECONDS = (1, 5, 30, 120, 600)
_FAULT_BACKOFF_SECONDS = (0.5, 1, 2, 5, 10, 30)
_FAULTS_UNTIL_ERROR = 10
_UNKNOWN_FUNCTION_SECONDS = 60
_ERROR_LENGTH = 2000
_POLL_SECONDS = 0.1

stopping = threading.Event()
"""Set when this process must stop. It then starts no further job."""


def drain(group_name: str) -> None:
    """Run due jobs of a group's queues until none is left; in a fork, for `SLICE_SECONDS`.

    RQ calls this function by name.
    """
    group = GROUPS.get(group_name)
    if group is None:
        log.error("job.unknown_group", group=group_name)
        return
    app: Flask = current_app._get_current_object()  # type: ignore[attr-defined]  # noqa: SLF001
    if group.forking:
        _run_until_empty(app, list_queues(group)[0], time.monotonic() + SLICE_SECONDS)
    else:
        _run_in_threads(app, list_queues(group))


def _run_until_empty(app: Flask, queue: Queue, ends_at: float) -> bool:
    """Run jobs until none can be claimed, and return whether any ran."""
    any_ran = False
    try:
        while time.monotonic() < ends_at and not stopping.is_set() and run_next(app, queue):
            any_ran = True
    except SQLAlchemyError as failure:
        db.session().rollback()
        log.warning("job.claim_failed", queue=queue.name, error=type(failure).__name__)
    return any_ran


def _run_in_threads(app: Flask, queues: Sequence[Queue]) -> None:
    """Fill the slots of the queues with threads until nothing is due and no thread runs.

    Only this thread checks for due jobs, so that idle slots cost nothing. It continues while any
    thread runs: a long job of one queue must not delay the others.
    """
    names = [queue.name for queue in queues]
    free_slots = {queue.name: threading.Semaphore(queue.slots) for queue in queues}
    running: set[threading.Thread] = set()
    found_nothing = threading.Event()

    def run_queue(queue: Queue) -> None:
        try:
            with app.app_context():
                if not _run_until_empty(app, queue, float("inf")):
                    found_nothing.set()
        finally:
            free_slots[queue.name].release()

    while True:
        for name in () if stopping.is_set() else _list_due(names):
            if free_slots[name].acquire(blocking=False):
                thread = threading.Thread(
                    target=run_queue, args=(QUEUES[name],), name=f"jobs-{name}"
                )
                running.add(thread)
                thread.start()
        running = {thread for thread in running if thread.is_alive()}
        if found_nothing.is_set():
            # The due jobs belong to organizations that have used up their quota.
            found_nothing.clear()
            stopping.wait(_POLL_SECONDS)
        if not running:
            return
        next(iter(running)).join(_POLL_SECONDS)


def _list_due(names: Sequence[str]) -> list[str]:
    scope = tenancy.across_organizations(reason="finds every organization's due jobs")
    try:
        with scope, db.transaction():
            return claims.list_due_queues(names)
    except SQLAlchemyError as failure:
        log.warning("job.look_failed", error=type(failure).__name__)
        return []


def run_next(app: Flask, queue: Queue) -> int:
    """Claim and run the jobs of the next turn of `queue`, and return how many they were."""
    jobs = _claim(queue)
    if jobs:
        run(app, queue.name, jobs)
    return len(jobs)


def _claim(queue: Queue) -> list[ClaimedJob]:
    quota = slots.get_quota(queue, container.current().redis)
    batched = [declared.name for declared in HANDLERS.values() if declared.batch]
    after = turns.get_last(queue.name)
    with (
        tenancy.across_organizations(reason="claims every organization's jobs in turn"),
        db.transaction(),
    ):
        jobs = claims.claim(queue.name, after=after, quota=quota, batched=batched)
    if jobs:
        turns.set_last(queue.name, claims.turn_of(jobs[0]))
        metrics.LEASE_EXPIRIES.labels(queue.name).inc(sum(job.expired for job in jobs))
    return jobs


def run(app: Flask, queue: str, claimed: Sequence[ClaimedJob]) -> None:
    """Run the jobs of one claim, and write their outcome."""
    first = claimed[0]
    lease = Lease(first.lease_token, tuple(job.id for job in claimed))
    declared = HANDLERS.get(first.function)
    if declared is None:
        # A newer release may have added it.
        log.error("job.unknown_function", function=first.function)
        _write_outcome(lambda: claims.requeue(lease, delay=_UNKNOWN_FUNCTION_SECONDS, error=None))
        return
    jobs = [_build_job(declared, job, queue, lease) for job in claimed]
    if first.interruptions >= MAX_INTERRUPTIONS:
        _fail(declared, jobs[0], "The worker process died each time it ran this job.")
        return
    started = time.perf_counter()
    outcome = _call(app, declared, jobs, claimed)
    record_run(jobs, declared.name, outcome, time.perf_counter() - started)


def _build_job(declared: Handler, claimed: ClaimedJob, queue: str, lease: Lease) -> Job:
    return Job(
        id=claimed.id,
        organization_id=claimed.organization_id,
        queue=queue,
        args=claimed.args,
        attempt=claimed.attempts + 1,
        lease=lease,
        request_id=claimed.request_id,
        created_at=claimed.created_at,
        resumable=declared.resumable,
    )


def _call(app: Flask, declared: Handler, jobs: list[Job], claimed: Sequence[ClaimedJob]) -> str:
    """Call the handler, write the outcome, and return it as the metrics name it."""
    lease = jobs[0].lease
    try:
        with _bind_context(declared, jobs[0]), get_renewer(app).renewing(lease):
            declared.function(jobs if declared.batch else jobs[0])
            _finish(lease)
    except LostLease:
        db.session().rollback()
        return "lost"
    except Yielded:
        _write_outcome(lambda: claims.requeue(lease, delay=0, error=None))
        return "yielded"
    except Exception as failure:  # noqa: BLE001 - every job needs an outcome
        db.session().rollback()
        if is_fault(failure):
            _requeue_after_fault(declared, jobs, claimed, failure)
            return "fault"
        return _record_error(declared, jobs, failure)
    return "completed"


def _finish(lease: Lease) -> None:
    """Commit the work of the handler together with the outcome. Raises LostLease."""
    if not claims.finish(lease):
        raise LostLease
    db.session().commit()


def _requeue_after_fault(
    declared: Handler, jobs: list[Job], claimed: Sequence[ClaimedJob], failure: Exception
) -> None:
    """Requeue jobs after a fault of the platform, without counting an attempt."""
    faults = claimed[0].faults + 1
    steps = _FAULT_BACKOFF_SECONDS
    # Full jitter, so that jobs that failed together are not retried together.
    delay = steps[min(faults, len(steps)) - 1] * random.uniform(0.5, 1.5)  # noqa: S311 - no secret
    level = log.error if faults % _FAULTS_UNTIL_ERROR == 0 else log.warning
    level("job.fault", function=declared.name, faults=faults, error=_describe(failure))
    lease = jobs[0].lease
    _write_outcome(lambda: claims.requeue(lease, delay=delay, error=_describe(failure), faults=1))


def _record_error(declared: Handler, jobs: list[Job], failure: Exception) -> str:
    """Count an attempt of each job, and requeue or fail it."""
    if not isinstance(failure, Retry):
        log.error("job.error", function=declared.name, exc_info=failure)
    error = _describe(failure)
    outcome = "retried"
    for job in jobs:
        if declared.max_attempts is not None and job.attempt >= declared.max_attempts:
            outcome = "given_up"
            _fail(declared, job, error)
            continue
        delay = _BACKOFF_SECONDS[min(job.attempt, len(_BACKOFF_SECONDS)) - 1]
        lease = Lease(job.lease.token, (job.id,))
        _write_outcome(partial(claims.requeue, lease, delay=delay, error=error, attempts=1))
    return outcome


def _fail(declared: Handler, job: Job, error: str) -> None:
    """Mark a job as failed and call `on_failure`. `failures` reports it to operators."""
    lease = Lease(job.lease.token, (job.id,))

    def write() -> bool:
        failed = claims.fail(lease, error)
        if failed and declared.on_failure is not None:
            _call_on_failure(declared, job, error)
        return failed

    if _write_outcome(write):
        metrics.JOBS_GIVEN_UP.labels(declared.name).inc()
        log.error("job.given_up", function=declared.name, job=str(job.id), error=error)


def _call_on_failure(declared: Handler, job: Job, error: str) -> None:
    """Call `on_failure`. Its errors are logged and do not prevent the job from failing."""
    assert declared.on_failure is not None
    try:
        with _bind_context(declared, job), db.session().begin_nested():
            declared.on_failure(job, error)
    except Exception as failure:
        if is_fault(failure):
            raise
        log.exception("job.on_failure_failed", function=declared.name)


def _write_outcome(write: Callable[[], T]) -> T | None:
    """Run `write` in a transaction, and retry while the database is unavailable.

    Writes check the lease, so nothing is overwritten if it expires meanwhile. Returns the result of
    `write`, or None if it did not succeed.
    """
    until = time.monotonic() + claims.LEASE_SECONDS
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
            if time.monotonic() > until or stopping.is_set():
                log.warning("job.outcome_left_to_lease", error=_describe(failure))
                return None
        stopping.wait(random.uniform(0.1, 1.0))  # noqa: S311 - no secret


def _describe(failure: BaseException) -> str:
    return f"{type(failure).__name__}: {failure}"[:_ERROR_LENGTH]


@contextmanager
def _bind_context(declared: Handler, job: Job) -> Iterator[None]:
    """Bind the job's organization, request and actor."""
    events.set_request_id(job.request_id)
    bind_job(str(job.id), job.request_id, str(job.organization_id or ""))
    name = declared.name
    with audit.acting("system", None, name, operation=name, request_id=job.request_id):
        if job.organization_id is not None:
            with tenancy.organization(job.organization_id):
                yield
        else:
            with tenancy.across_organizations(reason="the job belongs to no organization"):
                yield
