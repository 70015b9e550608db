"""Durable background jobs: PostgreSQL stores them, and RQ wakes the workers.

A job is a row with a function, arguments and a due time. This module has the table and the
functions that enqueue jobs. The relay (`relay`) wakes workers when their queues have due jobs. A
worker (`worker`) claims a job under a lease (`claims`), runs its handler (`runs`), and writes the
outcome only if it still has the lease. `handlers` is the registry of job functions. `queues`
defines the queues and their slots.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple
from uuid import UUID

import orjson
from sqlalchemy import ForeignKey, Index, func, text
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Mapped, mapped_column

from app.kit import db, events, leases
from app.kit.encryption import build_encryption_info
from app.kit.ids import uuid7
from app.kit.jobs import encrypted_args, handlers, progress
from app.kit.jobs.claims import FAIRNESS_KEY, IS_UNFINISHED
from app.kit.jobs.handlers import Job, LostLease, Retry, handler
from app.kit.leases import LeaseColumns

__all__ = ["Job", "LostLease", "Retry", "handler"]


class JobRow(LeaseColumns, db.Base):
    """A job. `status` is queued, running, completed, failed or discarded.

    `due_at` is null for jobs that are finished. Due times and leases use the database clock.
    `attempts` counts the runs that ended in an error. `interruptions` counts the runs whose lease
    expired, usually because the worker died. `faults` counts the latest consecutive runs that ended
    in a platform fault, such as an outage of the database (see the module `faults`). `reported_at`
    is the time at which the failure was reported to operators.
    """

    __tablename__ = "jobs"
    __table_args__ = (
        # `claims.IS_UNFINISHED` explains why these two conditions differ.
        Index("ix_jobs_by_due", "queue", "due_at", postgresql_where=text("due_at > '-infinity'")),
        Index(
            "ix_jobs_by_turn",
            "queue",
            text(FAIRNESS_KEY),
            "due_at",
            postgresql_where=text(IS_UNFINISHED),
        ),
        Index(
            "ix_jobs_leased",
            "queue",
            "leased_until",
            postgresql_where=text(leases.HAS_LEASE),
        ),
        Index("ix_jobs_failed", "finished_at", postgresql_where=text("status = 'failed'")),
        Index(
            "uq_jobs_unique_key",
            "unique_key",
            unique=True,
            postgresql_where=text("unique_key IS NOT NULL"),
        ),
        Index(
            "ix_jobs_finished_at", "finished_at", postgresql_where=text("finished_at IS NOT NULL")
        ),
    )

    id: Mapped[UUID] = mapped_column(primary_key=True, default=uuid7)
    organization_id: Mapped[UUID | None] = mapped_column(
        ForeignKey("organizations.id", ondelete="CASCADE")
    )
    event_id: Mapped[UUID | None]
    queue: Mapped[str]
    function: Mapped[str]
    args: Mapped[dict[str, Any]] = mapped_column(info=build_encryption_info(encrypted_args.KEY))
    unique_key: Mapped[str | None]
    request_id: Mapped[str | None]
    status: Mapped[str] = mapped_column(server_default="queued")
    due_at: Mapped[datetime | None] = mapped_column(server_default=func.now())
    attempts: Mapped[int] = mapped_column(server_default="0")
    interruptions: Mapped[int] = mapped_column(server_default="0")
    faults: Mapped[int] = mapped_column(server_default="0")
    error: Mapped[str | None]
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())
    finished_at: Mapped[datetime | None]
    reported_at: Mapped[datetime | None]


_CANCEL_QUEUED = text(
    "DELETE FROM jobs WHERE unique_key = :unique_key AND status = 'queued' AND lease_token IS NULL"
    " RETURNING args, greatest(extract(epoch FROM due_at - now()), 0)::float8"
)
_ENQUEUE_MANY = text(
    """
    INSERT INTO jobs (id, organization_id, queue, function, args, request_id)
    SELECT id, organization_id, :queue, :function, args, :request_id
    FROM unnest(CAST(:ids AS uuid[]), CAST(:organizations AS uuid[]), CAST(:args AS jsonb[]))
        AS job (id, organization_id, args)
    """
)


def enqueue(
    function: str,
    args: dict[str, Any],
    *,
    organization_id: UUID | None,
    unique_key: str | None = None,
    due_at: datetime | None = None,
    delay: float = 0,
    queue: str | None = None,
) -> bool:
    """Enqueue a job in the current transaction.

    The job is due at `due_at` or, if it is None, in `delay` seconds. `queue` overrides the
    handler's queue. Returns False, and enqueues nothing, if there is an unfinished job with the
    same `unique_key`.
    """
    values: dict[str, Any] = {
        "id": uuid7(),
        "organization_id": organization_id,
        "queue": queue or handlers.HANDLERS[function].queue,
        "function": function,
        "args": args,
        "unique_key": unique_key,
        "request_id": events.get_request_id(),
    }
    if due_at is not None:
        values["due_at"] = due_at
    elif delay:
        values["due_at"] = func.now() + timedelta(seconds=delay)
    statement = insert(JobRow).values(**values).on_conflict_do_nothing().returning(JobRow.id)
    return db.session().execute(statement).first() is not None


def enqueue_for_organizations(
    function: str, organization_ids: Iterable[UUID], *, key_prefix: str | None = None
) -> None:
    """Enqueue a job without arguments for each organization, unless it has an unfinished one.

    The unique key consists of `key_prefix`, by default the name of the function, and the id.
    """
    for organization_id in organization_ids:
        unique_key = f"{key_prefix or function}:{organization_id}"
        enqueue(function, {}, organization_id=organization_id, unique_key=unique_key)


class CancelledJob(NamedTuple):
    """The arguments of a cancelled job, and the seconds after which it would have been due."""

    args: dict[str, Any]
    delay: float


def cancel_queued(unique_key: str) -> CancelledJob | None:
    """Delete the queued job with this `unique_key` in the current transaction, and return it.

    Returns None if there is no such job, or if it is running.
    """
    return db.find_row(CancelledJob, _CANCEL_QUEUED, {"unique_key": unique_key})


def replace_queued(
    function: str,
    args: dict[str, Any],
    *,
    organization_id: UUID | None,
    unique_key: str,
    due_at: datetime | None = None,
) -> None:
    """Enqueue a job, and delete the queued job with the same `unique_key` if there is one.

    Runs in the current transaction. If a job with this key is running, the new job is enqueued
    without the key.
    """
    cancel_queued(unique_key)
    options: dict[str, Any] = {"organization_id": organization_id, "due_at": due_at}
    if not enqueue(function, args, unique_key=unique_key, **options):
        enqueue(function, args, **options)


def enqueue_or_restart(
    function: str, args: dict[str, Any], *, organization_id: UUID, unique_key: str
) -> None:
    """Enqueue a job in the current transaction, or restart the unfinished job with `unique_key`.

    A restarted job gets the new `args` and loses its progress. A running job detects the restart
    when it calls `Job.store_progress`, which it must also call in its last transaction.
    """
    args = {**args, progress.RESTART_ID: str(uuid7())}
    # The job may finish between the two statements. Then it is enqueued at the second attempt.
    while not enqueue(function, args, organization_id=organization_id, unique_key=unique_key):
        if progress.restart(unique_key, args, events.get_request_id()):
            return


def enqueue_many(
    function: str,
    work: Sequence[tuple[UUID | None, dict[str, Any]]],
    *,
    queue: str | None = None,
) -> None:
    """Enqueue several jobs in one statement, in the current transaction.

    `work` lists the organization id and the arguments of each job. `queue` overrides the handler's
    queue.
    """
    if not work:
        return
    organizations, args = zip(*work, strict=True)
    values = {
        "queue": queue or handlers.HANDLERS[function].queue,
        "function": function,
        "request_id": events.get_request_id(),
        "ids": [str(uuid7()) for _ in work],
        "organizations": [None if org_id is None else str(org_id) for org_id in organizations],
        "args": [orjson.dumps(job_args).decode() for job_args in args],
    }
    db.session().execute(_ENQUEUE_MANY, values)
