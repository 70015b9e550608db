"""The allow-list of job functions, and what a running one may do."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from flask import Flask
from sqlalchemy import text

from app.kit import db, events, metrics, tenancy

QUEUES = ("default", "mail", "documents", "exports")
"""Every queue that handlers may name; each has a worker (see `app.kit.jobs.worker`)."""


class LostLease(Exception):  # noqa: N818 - a signal, not a fault
    """The lease went to somebody else: what this run did must not be committed."""


class Retry(Exception):  # noqa: N818 - a signal, not a fault
    """Try the job again after its back-off; the message is kept as its error."""


@dataclass(frozen=True, slots=True)
class Job:
    """A running job, as its handler sees it.

    `created_at` is when the transaction that enqueued it began, by the database's clock.
    """

    id: UUID
    organization_id: UUID | None
    args: dict[str, Any]
    attempt: int
    lease_token: UUID
    request_id: str | None
    created_at: datetime

    def checkpoint(self) -> None:
        """Commit what was done so far, if the lease is still this run's; raises LostLease.

        Call it before a slow part, so that no transaction stays open over it.
        """
        held = db.session().execute(_HELD, {"id": self.id, "token": self.lease_token}).first()
        if held is None:
            db.session().rollback()
            raise LostLease
        db.session().commit()


_HELD = text("SELECT 1 FROM jobs WHERE id = :id AND lease_token = :token FOR UPDATE")

Function = Callable[[Job], None]
BatchFunction = Callable[[Sequence[Job]], None]
Failure = Callable[[Job, str], None]


@dataclass(frozen=True)
class Handler:
    """A declared handler. `lease_seconds` is renewed while it runs."""

    name: str
    queue: str
    function: Callable[..., None]
    batch: bool
    lease_seconds: int
    max_attempts: int
    on_failure: Failure | None


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
    lease_seconds: int = 60,
    max_attempts: int = 5,
    on_failure: Failure | None = None,
) -> Callable[[Any], Any]:
    """Declare a job function `name` (`feature.verb`).

    It gets one `Job`, or with `batch` all jobs of a claim that belong to one organization. It runs
    with the job's organization bound and in a transaction that is committed after it. `listens`
    names events it hears: then `args` is {event_id, name, data}. An exception is retried with
    back-off up to `max_attempts` runs; then `on_failure(job, error)` runs in a transaction.
    """
    assert queue in QUEUES, f"no worker for the queue {queue}"

    def declare(function: Any) -> Any:
        HANDLERS[name] = Handler(
            name, queue, function, batch, lease_seconds, max_attempts, on_failure
        )
        for event in listens:
            events.listen(event, name, queue)
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
    all that was handed over is done and says whether it is. `depth()`: due rows, and the age of the
    oldest in seconds.
    """

    name: str
    queue: str
    function: str
    claim: Callable[[], Claims]
    start: Callable[[Flask], object]
    stop: Callable[[float], None]
    settle: Callable[[float], bool]
    depth: Callable[[], tuple[int, float]]


SOURCES: list[DueSource] = []
"""Registered by features; the relay asks each in turn."""

_DEPTHS = text(
    "SELECT queue, count(*) AS depth, extract(epoch FROM now() - min(due_at)) AS age"
    " FROM jobs WHERE due_at <= now() GROUP BY queue"
)


def readings() -> list[metrics.QueueReading]:
    """Every queue's due rows and the age of the oldest, for the metrics."""
    with tenancy.across_organizations(reason="metrics count every organization's work"):
        found = {row.queue: (row.depth, float(row.age)) for row in db.session().execute(_DEPTHS)}
        found |= {source.queue: source.depth() for source in SOURCES}
    names = [*QUEUES, *(source.queue for source in SOURCES)]
    return [metrics.QueueReading(name, *found.get(name, (0, 0.0))) for name in names]


metrics.register_collector("queues", readings)
