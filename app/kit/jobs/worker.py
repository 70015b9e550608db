"""The worker, which claims due jobs from the queues of a group and runs them (`runs`)."""

import mmap
import threading
import time
from collections.abc import Sequence
from uuid import UUID

from flask import Flask, current_app
from sqlalchemy.exc import SQLAlchemyError

from app.kit import container, db, metrics, tenancy
from app.kit.jobs import claims, slots
from app.kit.jobs.claims import ClaimedJob
from app.kit.jobs.handlers import HANDLERS, stopping
from app.kit.jobs.queues import GROUPS, QUEUES, Queue, count_local_slots, list_queues
from app.kit.jobs.runs import run
from app.kit.logging import get_logger

log = get_logger(__name__)

SLICE_SECONDS = 20.0
"""The time in seconds after which a fork starts no more jobs and exits, to release memory."""
SLOW_SECONDS = 30.0
"""The time in seconds after which a job uses a spare slot, if its queue has spare slots."""
_POLL_SECONDS = 0.1
_KEY_BYTES = 16
# The round-robin position of each queue, shared by all worker processes of this machine: the
# fairness key that the queue served last. The parent process imports this module, and so maps the
# memory, before it forks. A partial write is harmless, because any value is a valid position.
_last_served_keys = mmap.mmap(-1, _KEY_BYTES * len(QUEUES))
_key_offsets = {name: _KEY_BYTES * number for number, name in enumerate(QUEUES)}


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


def _run_until_empty(app: Flask, queue: Queue, ends_at: float) -> None:
    """Run jobs until no job can be claimed or `ends_at` has passed."""
    while time.monotonic() < ends_at and not stopping.is_set() and _try_run_next(app, queue):
        pass


def _try_run_next(app: Flask, queue: Queue) -> int:
    """Call `run_next`, and return its result, or 0 after a database error, which is logged."""
    try:
        return run_next(app, queue)
    except SQLAlchemyError as failure:
        db.session().rollback()
        log.warning("job.claim_failed", queue=queue.name, error=type(failure).__name__)
        return 0


class _QueueThreads:
    """The threads that run the jobs of one queue, one thread for each used slot.

    After SLOW_SECONDS, a job uses a spare slot, if the queue has spare slots. Such a job
    probably waits for a slow host, and must not delay the jobs of other organizations. A thread
    sets `claimed_nothing` if it could not claim any job.
    """

    def __init__(self, app: Flask, queue: Queue, claimed_nothing: threading.Event) -> None:
        self._app = app
        self._queue = queue
        self._claimed_nothing = claimed_nothing
        self._slots = count_local_slots(queue, container.settings().job_workers)
        self._started_at: dict[threading.Thread, float] = {}

    def list_running(self) -> list[threading.Thread]:
        """Return the threads that are running."""
        return list(self._started_at)

    def start(self) -> None:
        """Start a thread that runs due jobs, if a slot is free."""
        now = time.monotonic()
        start_times = list(self._started_at.values())
        if self._queue.spare_slots:
            start_times = [at for at in start_times if now - at < SLOW_SECONDS]
        is_full = len(self._started_at) >= self._slots + self._queue.spare_slots
        if is_full or len(start_times) >= self._slots:
            return
        thread = threading.Thread(target=self._run, name=f"jobs-{self._queue.name}")
        self._started_at[thread] = now
        thread.start()

    def _run(self) -> None:
        thread = threading.current_thread()
        try:
            with self._app.app_context():
                self._run_jobs(thread)
        finally:
            del self._started_at[thread]

    def _run_jobs(self, thread: threading.Thread) -> None:
        """Run jobs until no job can be claimed, or until a slow job has ended."""
        is_first = True
        while not stopping.is_set():
            started_at = self._started_at[thread] = time.monotonic()
            if not _try_run_next(self._app, self._queue):
                if is_first:
                    self._claimed_nothing.set()
                return
            if self._queue.spare_slots and time.monotonic() - started_at >= SLOW_SECONDS:
                return
            is_first = False


def _run_in_threads(app: Flask, queues: Sequence[Queue]) -> None:
    """Run jobs in a thread for each slot until no job is due and no thread is running.

    Only the calling thread checks for due jobs, so that idle slots cost nothing. It keeps checking
    while any thread is running, because a long job in one queue must not delay other queues.
    """
    claimed_nothing = threading.Event()
    queue_threads = {queue.name: _QueueThreads(app, queue, claimed_nothing) for queue in queues}
    while True:
        for name in () if stopping.is_set() else _list_due_queues(list(queue_threads)):
            queue_threads[name].start()
        running_threads = [t for threads in queue_threads.values() for t in threads.list_running()]
        if claimed_nothing.is_set():
            # The due jobs belong to organizations that have used up their quota.
            claimed_nothing.clear()
            stopping.wait(_POLL_SECONDS)
        if not running_threads:
            return
        running_threads[0].join(_POLL_SECONDS)


def _list_due_queues(names: Sequence[str]) -> list[str]:
    scope = tenancy.across_organizations(reason="finds every organization's due jobs")
    try:
        with scope, db.transaction():
            return claims.list_due_queues(names)
    except SQLAlchemyError as failure:
        log.warning("job.due_check_failed", error=type(failure).__name__)
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
    with (
        tenancy.across_organizations(reason="claims every organization's jobs in turn"),
        db.transaction(),
    ):
        jobs = claims.claim(
            queue.name,
            last_served_key=get_last_served_key(queue.name),
            quota=quota,
            batch_functions=batch_functions,
        )
    if jobs:
        set_last_served_key(queue.name, claims.get_fairness_key(jobs[0]))
        metrics.LEASE_EXPIRIES.labels(queue.name).inc(sum(job.lease_expired for job in jobs))
    return jobs


def get_last_served_key(queue: str) -> UUID:
    """Return the fairness key (`claims.get_fairness_key`) that `queue` served last."""
    offset = _key_offsets[queue]
    return UUID(bytes=_last_served_keys[offset : offset + _KEY_BYTES])


def set_last_served_key(queue: str, key: UUID) -> None:
    """Store `key` as the fairness key that `queue` served last."""
    offset = _key_offsets[queue]
    _last_served_keys[offset : offset + _KEY_BYTES] = key.bytes
