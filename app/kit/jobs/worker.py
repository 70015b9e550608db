"""Runs the jobs of a queue: claims the next one, calls its handler, and writes the outcome."""

import random
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from flask import Flask, current_app
from sqlalchemy.exc import SQLAlchemyError

from app.kit import audit, container, db, events, metrics, tenancy
from app.kit.jobs import claims, slots, turns
from app.kit.jobs.claims import Claimed, Lease
from app.kit.jobs.faults import is_fault
from app.kit.jobs.handlers import HANDLERS, Handler, Job, LostLease, Retry, TurnOver
from app.kit.jobs.leases import keeper
from app.kit.jobs.queues import GROUPS, QUEUES, Queue, list_queues
from app.kit.jobs.runs import record_run
from app.kit.logging import bind_job, get_logger

log = get_logger(__name__)

SLICE_SECONDS = 20.0
"""So long a fork goes on with further jobs; then its memory is given back."""
MAX_INTERRUPTIONS = 10
"""A job whose worker died so often is given up: it is likely what kills them."""
_BACKOFF_SECONDS = (1, 5, 30, 120, 600)
_FAULT_BACKOFF_SECONDS = (0.5, 1, 2, 5, 10, 30)
_FAULTS_UNTIL_ERROR = 10
_UNKNOWN_FUNCTION_SECONDS = 60
_ERROR_LENGTH = 2000
_LOOK_SECONDS = 0.1

stopping = threading.Event()
"""Set when this process is told to end: it starts no further job."""


def drain(group_name: str) -> None:
    """Run what is due in a group's queues until nothing is, or for `SLICE_SECONDS`.

    RQ calls it by name.
    """
    group = GROUPS.get(group_name)
    if group is None:
        log.error("job.unknown_group", group=group_name)
        return
    app: Flask = current_app._get_current_object()  # type: ignore[attr-defined]  # noqa: SLF001
    if group.forking:
        _serve(app, list_queues(group)[0], time.monotonic() + SLICE_SECONDS)
    else:
        _serve_side_by_side(app, list_queues(group))


def _serve(app: Flask, queue: Queue, ends_at: float) -> int:
    """Run jobs until none can be claimed; return how many there were."""
    count = 0
    try:
        while (
            time.monotonic() < ends_at and not stopping.is_set() and (ran := run_next(app, queue))
        ):
            count += ran
    except SQLAlchemyError as failure:
        db.session().rollback()
        log.warning("job.claim_failed", queue=queue.name, error=type(failure).__name__)
    return count


def _serve_side_by_side(app: Flask, queues: Sequence[Queue]) -> None:
    """Fill the queues' slots with threads for as long as something is due or under way.

    This thread alone looks what is due, so that idle slots cost nothing. It goes on while a thread
    does: a long job of one queue must not hold up the others.
    """
    names = [queue.name for queue in queues]
    free = {queue.name: threading.Semaphore(queue.slots) for queue in queues}
    under_way: set[threading.Thread] = set()
    in_vain = threading.Event()

    def serve(queue: Queue) -> None:
        try:
            with app.app_context():
                if not _serve(app, queue, float("inf")):
                    in_vain.set()
        finally:
            free[queue.name].release()

    while True:
        for name in () if stopping.is_set() else _list_due(names):
            if free[name].acquire(blocking=False):
                thread = threading.Thread(target=serve, args=(QUEUES[name],), name=f"jobs-{name}")
                under_way.add(thread)
                thread.start()
        under_way = {thread for thread in under_way if thread.is_alive()}
        if in_vain.is_set():
            # What is due is only that of organizations which have their quota.
            in_vain.clear()
            stopping.wait(_LOOK_SECONDS)
        if not under_way:
            return
        next(iter(under_way)).join(_LOOK_SECONDS)


def _list_due(names: Sequence[str]) -> list[str]:
    everything = tenancy.across_organizations(reason="looks for every organization's due jobs")
    try:
        with everything, db.transaction():
            return claims.list_due_queues(names)
    except SQLAlchemyError as failure:
        log.warning("job.look_failed", error=type(failure).__name__)
        return []


def run_next(app: Flask, queue: Queue) -> int:
    """Claim and run what the next turn of `queue` has; return how many jobs that were."""
    jobs = _claim(queue)
    if jobs:
        run(app, queue.name, jobs)
    return len(jobs)


def _claim(queue: Queue) -> list[Claimed]:
    """Lease what the next turn has."""
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


def run(app: Flask, queue: str, claimed: Sequence[Claimed]) -> None:
    """Run jobs of one claim, and write what became of them."""
    first = claimed[0]
    lease = Lease(first.lease_token, tuple(job.id for job in claimed))
    declared = HANDLERS.get(first.function)
    if declared is None:
        # A newer release may know it.
        log.error("job.unknown_function", function=first.function)
        _persist(lambda: claims.requeue(lease, delay=_UNKNOWN_FUNCTION_SECONDS, error=None))
        return
    jobs = [_job_of(declared, job, queue, lease) for job in claimed]
    if first.interruptions >= MAX_INTERRUPTIONS:
        _give_up(declared, jobs[0], "The worker died each time it ran this.")
        return
    started = time.perf_counter()
    outcome = _call(app, declared, jobs, claimed)
    record_run(jobs, declared.name, outcome, time.perf_counter() - started)


def _job_of(declared: Handler, claimed: Claimed, queue: str, lease: Lease) -> Job:
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


def _call(app: Flask, declared: Handler, jobs: list[Job], claimed: Sequence[Claimed]) -> str:
    """Call the handler; return how it ended, as the metric names it."""
    lease = jobs[0].lease
    try:
        with _scope(declared, jobs[0]), keeper(app).hold(lease):
            declared.function(jobs if declared.batch else jobs[0])
            _finish(lease)
    except LostLease:
        db.session().rollback()
        return "lost"
    except TurnOver:
        _persist(lambda: claims.requeue(lease, delay=0, error=None))
        return "yielded"
    except Exception as failure:  # noqa: BLE001 - whatever a handler does, its job has an outcome
        db.session().rollback()
        if is_fault(failure):
            _wait_out(declared, jobs, claimed, failure)
            return "fault"
        return _note_error(declared, jobs, failure)
    return "completed"


def _finish(lease: Lease) -> None:
    """Commit what the handler did, with the end of its jobs. Raises LostLease."""
    if not claims.finish(lease):
        raise LostLease
    db.session().commit()


def _wait_out(
    declared: Handler, jobs: list[Job], claimed: Sequence[Claimed], failure: Exception
) -> None:
    """Queue jobs again after a fault of the platform, which counts no attempt."""
    faults = claimed[0].faults + 1
    steps = _FAULT_BACKOFF_SECONDS
    # Full jitter, so that what failed together does not come back together.
    delay = steps[min(faults, len(steps)) - 1] * random.uniform(0.5, 1.5)  # noqa: S311 - no secret
    level = log.error if faults % _FAULTS_UNTIL_ERROR == 0 else log.warning
    level("job.fault", function=declared.name, faults=faults, error=_describe(failure))
    lease = jobs[0].lease
    _persist(lambda: claims.requeue(lease, delay=delay, error=_describe(failure), faults=1))


def _note_error(declared: Handler, jobs: list[Job], failure: Exception) -> str:
    """Count an attempt of each job: it is queued again, or given up."""
    if not isinstance(failure, Retry):
        log.error("job.error", function=declared.name, exc_info=failure)
    error = _describe(failure)
    outcome = "retried"
    for job in jobs:
        if declared.max_attempts is not None and job.attempt >= declared.max_attempts:
            outcome = "given_up"
            _give_up(declared, job, error)
            continue
        delay = _BACKOFF_SECONDS[min(job.attempt, len(_BACKOFF_SECONDS)) - 1]
        lease = Lease(job.lease.token, (job.id,))
        _persist(lambda: claims.requeue(lease, delay=delay, error=error, attempts=1))  # noqa: B023
    return outcome


def _give_up(declared: Handler, job: Job, error: str) -> None:
    """Mark a job as failed and tell its feature; operators learn of it (`failures`)."""
    lease = Lease(job.lease.token, (job.id,))

    def write() -> bool:
        failed = claims.fail(lease, error)
        if failed and declared.on_failure is not None:
            _call_on_failure(declared, job, error)
        return failed

    if _persist(write):
        metrics.JOBS_GIVEN_UP.labels(declared.name).inc()
        log.error("job.given_up", function=declared.name, job=str(job.id), error=error)


def _call_on_failure(declared: Handler, job: Job, error: str) -> None:
    """Tell the feature. What goes wrong there must not keep the job from ending."""
    assert declared.on_failure is not None
    try:
        with _scope(declared, job), db.session().begin_nested():
            declared.on_failure(job, error)
    except Exception as failure:
        if is_fault(failure):
            raise
        log.exception("job.on_failure_failed", function=declared.name)


def _persist(write: Callable[[], Any]) -> Any:
    """Run `write` in a transaction, and again as long as the database does not answer.

    The lease runs out meanwhile, so nothing is written that another worker has decided. Returns
    what `write` returned, None when it could not be written.
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
def _scope(declared: Handler, job: Job) -> Iterator[None]:
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
