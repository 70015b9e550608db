"""The worker, which claims due jobs from the queues of a group and runs them (`runs`)."""

import threading
import time
from collections.abc import Sequence

from flask import Flask, current_app
from sqlalchemy.exc import SQLAlchemyError

from app.kit import container, db, metrics, tenancy
from app.kit.jobs import claims, slots, turns
from app.kit.jobs.claims import ClaimedJob
from app.kit.jobs.handlers import HANDLERS, stopping
from app.kit.jobs.queues import GROUPS, QUEUES, Queue, count_local_slots, list_queues
from app.kit.jobs.runs import run
from app.kit.logging import get_logger

log = get_logger(__name__)

SLICE_SECONDS = 20.0
"""The time in seconds after which a fork starts no more jobs and exits, to release memory."""
_POLL_SECONDS = 0.1


def drain(group_name: str) -> None:
    """Run due jobs from a group's queues until no due job is left.

    A fork stops after `SLICE_SECONDS`. RQ calls this function by name.
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
    """Run jobs until no job can be claimed or `ends_at` has passed. Return whether any job ran."""
    any_ran = False
    try:
        while time.monotonic() < ends_at and not stopping.is_set() and run_next(app, queue):
            any_ran = True
    except SQLAlchemyError as failure:
        db.session().rollback()
        log.warning("job.claim_failed", queue=queue.name, error=type(failure).__name__)
    return any_ran


def _run_in_threads(app: Flask, queues: Sequence[Queue]) -> None:
    """Run jobs in a thread for each slot until no job is due and no thread is running.

    Only the calling thread checks for due jobs, so that idle slots cost nothing. It keeps checking
    while any thread is running, because a long job in one queue must not delay other queues.
    """
    names = [queue.name for queue in queues]
    job_workers = container.settings().job_workers
    free_slots = {
        queue.name: threading.Semaphore(count_local_slots(queue, job_workers)) for queue in queues
    }
    running: set[threading.Thread] = set()
    claimed_nothing = threading.Event()

    def run_queue(queue: Queue) -> None:
        try:
            with app.app_context():
                if not _run_until_empty(app, queue, float("inf")):
                    claimed_nothing.set()
        finally:
            free_slots[queue.name].release()

    while True:
        for name in () if stopping.is_set() else _list_due_queues(names):
            if free_slots[name].acquire(blocking=False):
                thread = threading.Thread(
                    target=run_queue, args=(QUEUES[name],), name=f"jobs-{name}"
                )
                running.add(thread)
                thread.start()
        running = {thread for thread in running if thread.is_alive()}
        if claimed_nothing.is_set():
            # The due jobs belong to organizations that have used up their quota.
            claimed_nothing.clear()
            stopping.wait(_POLL_SECONDS)
        if not running:
            return
        next(iter(running)).join(_POLL_SECONDS)


def _list_due_queues(names: Sequence[str]) -> list[str]:
    scope = tenancy.across_organizations(reason="finds every organization's due jobs")
    try:
        with scope, db.transaction():
            return claims.list_due_queues(names)
    except SQLAlchemyError as failure:
        log.warning("job.look_failed", error=type(failure).__name__)
        return []


def run_next(app: Flask, queue: Queue) -> int:
    """Claim and run the next job or batch from `queue`, and return how many jobs ran."""
    jobs = _claim_jobs(queue)
    if jobs:
        run(app, queue.name, jobs)
    return len(jobs)


def _claim_jobs(queue: Queue) -> list[ClaimedJob]:
    quota = slots.get_quota(queue, container.current().redis)
    batch_functions = [job_handler.name for job_handler in HANDLERS.values() if job_handler.batch]
    last_served_key = turns.get_last_served_key(queue.name)
    with (
        tenancy.across_organizations(reason="claims every organization's jobs in turn"),
        db.transaction(),
    ):
        jobs = claims.claim(
            queue.name,
            last_served_key=last_served_key,
            quota=quota,
            batch_functions=batch_functions,
        )
    if jobs:
        turns.set_last_served_key(queue.name, claims.get_fairness_key(jobs[0]))
        metrics.LEASE_EXPIRIES.labels(queue.name).inc(sum(job.expired for job in jobs))
    return jobs
