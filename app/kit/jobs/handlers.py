"""The allow-list of job functions, and what a running one may do."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from sqlalchemy import text

from app.kit import db, events

QUEUES = ("default", "documents", "exports")
"""Every queue that handlers may name; each has a worker (see `app.kit.jobs.worker`)."""


class LostLease(Exception):  # noqa: N818 - a signal, not a fault
    """The lease went to somebody else: what this run did must not be committed."""


class Retry(Exception):  # noqa: N818 - a signal, not a fault
    """Try the job again after its back-off; the message is kept as its error."""


@dataclass(frozen=True, slots=True)
class Job:
    """A running job, as its handler sees it."""

    id: UUID
    organization_id: UUID | None
    args: dict[str, Any]
    attempt: int
    lease_token: UUID
    request_id: str | None

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


@dataclass
class DueSource:
    """Rows with due times of their own (deliveries), claimed by the relay beside the jobs.

    `claim(limit)` runs in a transaction across organizations and returns batches of
    (queue, function path, argument list), each ready to enqueue.
    """

    name: str
    claim: Callable[[], list[list[Any]]]
    queue: str
    function: str
    depth: Callable[[], tuple[int, float]] = field(default=lambda: (0, 0.0))


SOURCES: list[DueSource] = []
"""Registered by features; the relay asks each in turn."""
