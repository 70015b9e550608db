"""The registry of job functions, and the interface of a running job."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from threading import Event
from time import monotonic
from typing import Any, TypeVar
from uuid import UUID

from flask import Flask

from app.kit import db, events, metrics, tenancy
from app.kit.events import AnyEventName
from app.kit.jobs import claims, progress
from app.kit.jobs.queues import QUEUES
from app.kit.leases import Lease

stopping = Event()
"""A `threading.Event` that is set when this process must stop and must start no more jobs."""
YIELD_AFTER_SECONDS = 5.0
"""The time in seconds after which a resumable job yields to other due jobs in its queue."""


class LostLease(Exception):  # noqa: N818 - a signal, not an error
    """Another worker has the lease, so this run must not commit."""


class Yielded(Exception):  # noqa: N818 - a signal, not an error
    """The job stops early, because other due jobs must run or the process must stop.

    It is requeued without counting an attempt.
    """


class Retry(Exception):  # noqa: N818 - a signal, not an error
    """A handler raises this to run the job again after a delay. The job's row stores the message.

    `min_delay` is in seconds. The job waits longer if the backoff for its attempt is longer.
    """

    def __init__(self, message: str, *, min_delay: float = 0) -> None:
        super().__init__(message)
        self.min_delay = min_delay


@dataclass(frozen=True, slots=True)
class Job:
    """A running job, as its handler sees it.

    `attempt` is the number of this attempt, beginning with 1. `created_at` is the time at which the
    transaction that enqueued the job began, according to the database clock. `lease` belongs to the
    whole run, which includes all jobs of a batch. `started_at` is the `time.monotonic()` value at
    which the run began.
    """

    id: UUID
    organization_id: UUID | None
    queue: str
    args: dict[str, Any]
    attempt: int
    lease: Lease
    request_id: str | None
    created_at: datetime
    resumable: bool = False
    started_at: float = field(default_factory=monotonic)

    def checkpoint(self) -> None:
        """Commit the work so far. Call this before slow work, so that no transaction stays open.

        Raises:
            LostLease: another worker has the job. Nothing was committed.
            Yielded: the work was committed, and other due jobs must run first, or this process must
                stop. Only resumable jobs yield.
        """
        if not self.lock_lease():
            db.session().rollback()
            raise LostLease
        db.session().commit()
        if self.resumable and (stopping.is_set() or self._must_yield()):
            raise Yielded

    @property
    def progress(self) -> dict[str, Any] | None:
        """Return the value that an earlier run passed to `store_progress`, or None."""
        stored_progress: dict[str, Any] | None = self.args.get(progress.PROGRESS)
        return stored_progress

    @property
    def position(self) -> str | None:
        """Return the position that an earlier run passed to `checkpoint_at`, or None."""
        return None if self.progress is None else str(self.progress["position"])

    def checkpoint_at(self, position: str) -> None:
        """Commit like `checkpoint`, and store the position from which the next run continues."""
        self.store_progress({"position": position})
        self.checkpoint()

    def store_progress(self, value: dict[str, Any]) -> bool:
        """Store `value` as the `progress` of the next run, in the running transaction.

        Returns False if the job was restarted with `enqueue_or_restart`. In this case, nothing was
        stored, `args` contains the new args, and the run must start over.

        Raises:
            LostLease: another worker has the job.
        """
        restart_id = self.args.get(progress.RESTART_ID)
        args = progress.store(self.id, self.lease.token, restart_id, value)
        if args is None:
            raise LostLease
        self.args.clear()
        self.args.update(args)
        return bool(args.get(progress.RESTART_ID) == restart_id)

    def lock_lease(self) -> bool:
        """Lock the rows of the lease for update. Return whether this run still has the lease."""
        return claims.JOB_LEASES.lock(self.lease)

    def _must_yield(self) -> bool:
        is_long = monotonic() - self.started_at > YIELD_AFTER_SECONDS
        return is_long and self._has_other_due_jobs()

    def _has_other_due_jobs(self) -> bool:
        with tenancy.across_organizations(reason="checks for due jobs of any organization"):
            has_due = bool(claims.list_due_queues([self.queue]))
            db.session().rollback()
        return has_due


F = TypeVar("F", bound=Callable[..., object])
FailureCallback = Callable[[Job, str], None]
RetryCallback = Callable[[dict[str, Any]], None]


@dataclass(frozen=True, kw_only=True)
class Handler:
    """The handler for the jobs named `name` (`feature.verb`). Use it as a decorator: `@handler(…)`.

    The decorated function receives one `Job`, or with `batch` a list of jobs of one organization.
    It runs with the organization bound, in a transaction that is committed afterwards. It may run
    twice for the same job.

    Attributes:
        name: the value of `function` in the rows of its jobs.
        function: the Python function that runs the jobs; None until the decorator is applied.
        queue: one of `QUEUES`.
        events: the events that enqueue a job. The `args` of such a job contain `event_id`, `name`
            and `data`. With `batch`, events that are emitted together become jobs of a second
            handler, `…_many`. A worker of an older release, which does not have that handler,
            requeues such a job.
        batch: whether the function takes a list of jobs.
        single_event_handler: the name of the handler for jobs with one event, if the jobs of this
            handler have several events. The function then receives one `Job` for each event.
        resumable: whether the next run continues from the last checkpoint. A resumable job yields
            to other jobs after `YIELD_AFTER_SECONDS`.
        max_attempts: the number of errors after which the job fails, or None for no limit. Faults
            of the database, the storage and the queue do not count.
        on_failure: function that is called with the job and the error when a job fails, in the same
            transaction.
        on_retry: function that undoes what `on_failure` did. It is called with the args of a failed
            job before an operator retries it, in the same transaction and with the organization
            bound.
        retryable: whether an operator may retry a failed job.
        every: the seconds between two due times of a periodic job (see `SCHEDULE`), or None. The
            job runs once at each due time, regardless of the number of relays, unless its previous
            run is unfinished.
    """

    name: str = field(kw_only=False)
    function: Callable[..., object] | None = None
    queue: str = "default"
    events: Sequence[AnyEventName] = ()
    batch: bool = False
    single_event_handler: str | None = None
    resumable: bool = False
    max_attempts: int | None = 5
    on_failure: FailureCallback | None = None
    on_retry: RetryCallback | None = None
    retryable: bool = True
    every: int | None = None

    def __post_init__(self) -> None:
        assert self.queue in QUEUES, f"unknown queue {self.queue}"

    def __call__(self, function: F) -> F:
        """Register the handler with `function`, its events and its schedule; return `function`.

        For a batch handler, also register a second handler for jobs with several events.
        """
        HANDLERS[self.name] = replace(self, function=function)
        group_function = f"{self.name}_many" if self.batch and self.events else None
        if group_function is not None:
            HANDLERS[group_function] = Handler(
                group_function,
                function=function,
                queue=self.queue,
                single_event_handler=self.name,
                max_attempts=None,
            )
        if self.every is not None:
            SCHEDULE[self.name] = self.every
        for event in self.events:
            events.subscribe(event, self.name, self.queue, group_function=group_function)
        if self.max_attempts is not None:
            metrics.JOBS_FAILED.show_at_start(self.name)
        return function


handler = Handler
"""An alias of `Handler`, for use as a decorator."""
HANDLERS: dict[str, Handler] = {}
"""The registered handlers by name."""
SCHEDULE: dict[str, int] = {}
"""The periodic jobs: the names of their handlers, and the seconds between two due times. A job is
due whenever the Unix time is a multiple of these seconds."""

Batches = list[list[Any]]
"""Batches of claimed rows. Each batch is sent as the JSON argument of one message."""


@dataclass(frozen=True)
class DueSource:
    """A table of due rows, such as webhook deliveries, that the relay claims in addition to jobs.

    Attributes:
        name: name of the process that handles the rows.
        queue: RQ queue to which the relay sends each batch as one message.
        function: dotted path of the function that the process calls with each batch.
        claim: function that claims due rows and returns them in batches. It is called in a
            transaction, with all organizations bound.
        start: function that is called with the app when the process starts.
        stop: function that is called with a timeout in seconds when the process stops.
        wait_until_handled: function that is called with a timeout in seconds, waits until all
            accepted rows are handled, and returns whether all were handled in time.
        measure_backlog: function that returns the number of due rows, and the age of the oldest
            due row in seconds.
        late_after: age in seconds above which the queue is late.
    """

    name: str
    queue: str
    function: str
    claim: Callable[[], Batches]
    start: Callable[[Flask], object]
    stop: Callable[[float], None]
    wait_until_handled: Callable[[float], bool]
    measure_backlog: Callable[[], tuple[int, float]]
    late_after: float = 60.0


SOURCES: list[DueSource] = []
"""The due sources that features have registered."""
