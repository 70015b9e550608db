"""The registry of job functions, and the interface of a running job."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from time import monotonic
from typing import Any, TypeVar
from uuid import UUID

from flask import Flask

from app.kit import db, events, tenancy
from app.kit.jobs import claims
from app.kit.jobs.claims import Lease
from app.kit.jobs.queues import QUEUES

TURN_SECONDS = 5.0
"""A resumable job that has run this long yields to other due jobs of its queue."""


class LostLease(Exception):  # noqa: N818 - a signal, not an error
    """Another worker has the lease, so this run must not commit."""


class Yielded(Exception):  # noqa: N818 - a signal, not an error
    """The job yields to other due jobs. It is requeued without counting an attempt."""


class Retry(Exception):  # noqa: N818 - a signal, not an error
    """Raised by a handler to run the job again after a delay. Its message becomes the error."""


@dataclass(frozen=True, slots=True)
class Job:
    """A running job, as its handler sees it.

    `attempt` is the number of this attempt, beginning with 1. `created_at` is when the transaction
    that enqueued the job began, by the clock of the database. `lease` belongs to the whole run,
    which includes all jobs of a batch.
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
    started: float = field(default_factory=monotonic)

    def checkpoint(self) -> None:
        """Commit. Call it before slow work, so that no transaction stays open meanwhile.

        Raises:
            LostLease: another worker has the job; nothing was committed.
            Yielded: the work was committed; other due jobs run first.
        """
        if not self.lock_lease():
            db.session().rollback()
            raise LostLease
        db.session().commit()
        if self.resumable and monotonic() - self.started > TURN_SECONDS and self._has_others_due():
            raise Yielded

    def lock_lease(self) -> bool:
        """Lock the lease until the commit, and return whether this run still has it."""
        return claims.lock(self.lease)

    def _has_others_due(self) -> bool:
        with tenancy.across_organizations(reason="checks for due jobs of any organization"):
            has_due = bool(claims.list_due_queues([self.queue]))
            db.session().rollback()
        return has_due


F = TypeVar("F", bound=Callable[..., object])
Failure = Callable[[Job, str], None]
Reopen = Callable[[dict[str, Any]], None]


@dataclass(frozen=True)
class Handler:
    """A declared handler.

    Attributes:
        name: the value of `function` in the rows of its jobs.
        queue: one of `QUEUES`.
        batch: whether it takes a list of jobs.
        single: set if each job of this handler has several events: the name of the handler of jobs
            with one event. `runs` passes the events as a list of jobs.
        resumable: whether the next run continues from the last checkpoint. A resumable job yields
            to other jobs after `TURN_SECONDS`.
        max_attempts: the number of errors after which the job fails; None for no limit. Faults of
            the database, the storage and the queue do not count.
        on_failure: called with the job and the error when a job fails, in the same transaction.
        on_retry: called with the args of a failed job before an operator retries it, in the same
            transaction and with the organization bound. Undoes what `on_failure` did.
        retryable: whether an operator may retry a failed job.
    """

    name: str
    function: Callable[..., object]
    queue: str = "default"
    batch: bool = False
    single: str | None = None
    resumable: bool = False
    max_attempts: int | None = 5
    on_failure: Failure | None = None
    on_retry: Reopen | None = None
    retryable: bool = True


@dataclass(frozen=True)
class Periodic:
    """A handler that is due whenever the Unix time is a multiple of `every` seconds."""

    name: str
    every: int
    function: str


HANDLERS: dict[str, Handler] = {}
SCHEDULE: dict[str, Periodic] = {}


def handler(
    name: str,
    *,
    queue: str = "default",
    listens: Sequence[str] = (),
    batch: bool = False,
    resumable: bool = False,
    max_attempts: int | None = 5,
    on_failure: Failure | None = None,
    on_retry: Reopen | None = None,
    retryable: bool = True,
) -> Callable[[F], F]:
    """Declare a job function `name` (`feature.verb`).

    The function gets one `Job`, or with `batch` a list of jobs of one organization. It runs with
    the organization bound, in a transaction that is committed afterwards. It may run twice for the
    same job. `listens` names events that enqueue it; then `args` is {event_id, name, data}. With
    `batch`, events that are emitted together become jobs of a second function, `…_many`; workers of
    a release that does not know it leave its jobs to other workers. The other arguments are
    attributes of `Handler`.
    """
    assert queue in QUEUES, f"unknown queue {queue}"

    def declare(function: F) -> F:
        HANDLERS[name] = Handler(
            name=name,
            function=function,
            queue=queue,
            batch=batch,
            resumable=resumable,
            max_attempts=max_attempts,
            on_failure=on_failure,
            on_retry=on_retry,
            retryable=retryable,
        )
        _subscribe(HANDLERS[name], listens)
        return function

    return declare


def _subscribe(job_handler: Handler, listens: Sequence[str]) -> None:
    """Subscribe a handler; for a batch handler, also register one for jobs with several events."""
    name, queue = job_handler.name, job_handler.queue
    group_name = f"{name}_many" if job_handler.batch and listens else None
    if group_name is not None:
        HANDLERS[group_name] = Handler(
            name=group_name,
            function=job_handler.function,
            queue=queue,
            single=name,
            max_attempts=None,
        )
    for event in listens:
        events.subscribe(event, name, queue, group_function=group_name)


def periodic(name: str, *, every: int) -> None:
    """Run the handler `name` every `every` seconds, once regardless of the number of relays."""
    SCHEDULE[name] = Periodic(name, every, name)


Batches = list[list[Any]]
"""Batches of claimed rows. Each batch is the only argument (JSON) of one message."""


@dataclass(frozen=True)
class DueSource:
    """A table of due rows, such as webhook deliveries, that the relay claims in addition to jobs.

    Attributes:
        name: name of the process that handles the rows.
        queue: RQ queue to which the relay sends each batch as one message.
        function: dotted path of the function that the process calls with each batch.
        claim: claims due rows, in a transaction with access to all organizations.
        start: called with the app when the process starts.
        stop: called with a number of seconds when the process ends.
        settle: waits at most a number of seconds until all accepted rows are handled, and returns
            whether all are handled.
        depth: returns the number of due rows, and the age of the oldest row in seconds.
        late_after: age in seconds from which the queue is late.
    """

    name: str
    queue: str
    function: str
    claim: Callable[[], Batches]
    start: Callable[[Flask], object]
    stop: Callable[[float], None]
    settle: Callable[[float], bool]
    depth: Callable[[], tuple[int, float]]
    late_after: float = 60.0


SOURCES: list[DueSource] = []
"""The due sources that features have registered."""
