"""The allow-list of job functions, and what a running job may do."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from time import monotonic
from typing import Any
from uuid import UUID

from flask import Flask

from app.kit import db, events, tenancy
from app.kit.jobs import claims
from app.kit.jobs.claims import Lease
from app.kit.jobs.queues import QUEUES

TURN_SECONDS = 5.0
"""A resumable job that ran so long yields to other due jobs of its queue."""


class LostLease(Exception):  # noqa: N818 - a signal, not a fault
    """Another worker holds the lease: what this run did must not be committed."""


class TurnOver(Exception):  # noqa: N818 - a signal, not a fault
    """The job yields: it is queued again, behind what is due, and counts no attempt."""


class Retry(Exception):  # noqa: N818 - a signal, not a fault
    """Run the job again after its back-off; the message is kept as its error."""


@dataclass(frozen=True, slots=True)
class Job:
    """A running job, as its handler sees it.

    `attempt` counts the runs that ended in an error, and this one. `created_at` is when the
    transaction that enqueued the job began, by the database's clock. `lease` is that of the whole
    run, which has several jobs in a batch.
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
        """Commit what was done so far. Call it before a slow part: no transaction stays open.

        Raises:
            LostLease: another worker runs this job; nothing was committed.
            TurnOver: the work was committed, and other jobs come first now.
        """
        if not self.lock_lease():
            db.session().rollback()
            raise LostLease
        db.session().commit()
        if self.resumable and monotonic() - self.started > TURN_SECONDS and self._others_wait():
            raise TurnOver

    def lock_lease(self) -> bool:
        """Return whether the lease is still this run's; then it stays so until the commit."""
        return claims.lock(self.lease)

    def _others_wait(self) -> bool:
        with tenancy.across_organizations(reason="asks whether any organization's job waits"):
            waiting = bool(claims.list_due_queues([self.queue]))
            db.session().rollback()
        return waiting


Failure = Callable[[Job, str], None]
Reopen = Callable[[dict[str, Any]], None]


@dataclass(frozen=True)
class Handler:
    """A declared handler.

    Attributes:
        name: the name that the job's row carries.
        queue: one of `QUEUES`.
        batch: whether it takes many jobs at once.
        resumable: whether the next run continues what a checkpoint committed. Such a job yields
            to others after `TURN_SECONDS`.
        max_attempts: how many runs may end in an error before the job is given up; None: it never
            is. Faults of the database, the storage and the queue do not count.
        on_failure: called with the job and the error when it is given up, in that transaction.
        on_retry: called with the job's args before an operator has a given-up job run again, in
            that transaction and with the organization bound. Undoes what `on_failure` did.
        retryable: whether an operator can have a given-up job run again.
    """

    name: str
    function: Callable[..., None]
    queue: str = "default"
    batch: bool = False
    resumable: bool = False
    max_attempts: int | None = 5
    on_failure: Failure | None = None
    on_retry: Reopen | None = None
    retryable: bool = True


@dataclass(frozen=True)
class Periodic:
    """Work that is due every `every` seconds, counted from the epoch."""

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
) -> Callable[[Any], Any]:
    """Declare a job function `name` (`feature.verb`).

    It gets one `Job`, or with `batch` all jobs of a claim, which belong to one organization. It
    runs with the job's organization bound and in a transaction that is committed after it. It may
    run twice. `listens` names events that enqueue it; then `args` is {event_id, name, data}. The
    other arguments are the attributes of `Handler`.
    """
    assert queue in QUEUES, f"no worker for the queue {queue}"

    def declare(function: Any) -> Any:
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
        for event in listens:
            events.subscribe(event, name, queue)
        return function

    return declare


def periodic(name: str, *, every: int) -> None:
    """Let the handler `name` run every `every` seconds, once however many schedulers there are."""
    SCHEDULE[name] = Periodic(name, every, name)


Claims = list[list[Any]]
"""Batches, each the one argument (JSON) of one message; a batch has one item per claimed row."""


@dataclass(frozen=True)
class DueSource:
    """Rows with due times of their own (deliveries), claimed by the relay beside the jobs.

    `claim()` runs in a transaction across organizations. Each batch goes as one message to `queue`,
    where one process of its own calls the function at the dotted path `function` with it. That
    process calls `start(app)` first and `stop(seconds)` at its end; `settle(seconds)` waits until
    everything accepted is done and returns whether it is. `depth()` returns the number of due rows
    and the age of the oldest in seconds; from `late_after` seconds on the queue is behind.
    """

    name: str
    queue: str
    function: str
    claim: Callable[[], Claims]
    start: Callable[[Flask], object]
    stop: Callable[[float], None]
    settle: Callable[[float], bool]
    depth: Callable[[], tuple[int, float]]
    late_after: float = 60.0


SOURCES: list[DueSource] = []
"""Registered by features; the relay asks each in turn."""
