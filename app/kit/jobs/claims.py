"""SQL that claims jobs, renews their leases, and writes their outcomes.

A lease begins when the run begins, so no lease expires while a job waits. In each queue, the
organizations take turns; within an organization, jobs run in the order of their due times. Every
statement uses the primary key or an index of unfinished jobs and never reads finished ones. All
functions need access to all organizations.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import CursorResult, Result, TextClause, text

from app.kit import db

LEASE_SECONDS = 30
"""The duration of a lease. `leases` renews it while the job runs."""
BATCH = 100
"""The maximum number of jobs in a batch."""
FAULTS_IN_BATCH = 3
"""A job with this many consecutive faults runs alone, because it may be their cause."""
TURN = """(
CASE
    WHEN organization_id IS NULL THEN '00000000-0000-0000-0000-000000000000'::uuid
    ELSE organization_id
END)"""
"""The turn of a job in SQL: its organization. Jobs without an organization share the zero UUID.

This is an expression of the index `ix_jobs_by_turn`. PostgreSQL would not use an index on
`coalesce`, which is not leakproof, under row-level security.
"""
IN_TURNS = "due_at < 'infinity'"
"""The condition of `ix_jobs_by_turn`, which statements repeat in order to use this index.

The two indexes of unfinished jobs have different conditions, so that PostgreSQL cannot choose the
wrong one. If no job was unfinished when the statistics were collected, PostgreSQL estimates that
reading a whole index costs nothing, and could choose either.
"""
IS_DUE = "due_at > '-infinity' AND due_at <= now()"
"""The condition of due jobs, for statements that use `ix_jobs_by_due`; see `IN_TURNS`."""

_IS_FREE = "(leased_until IS NULL OR leased_until <= now())"
_IS_READY = f"{IN_TURNS} AND due_at <= now() AND {_IS_FREE}"
_IS_FRESH = "(leased_until IS NULL AND attempts = 0 AND interruptions = 0 AND faults < :faults)"
_IS_IN_QUEUE = f"queue = :queue AND {IN_TURNS}"
# `turns` has all turns in order, starting at :first; each turn is one look-up in the index. `lap`
# is 1 for turns before :first. `busy` has the turns that have used up their quota.
_TURNS = f"""
    WITH RECURSIVE busy AS MATERIALIZED (
        SELECT {TURN} AS turn FROM jobs WHERE queue = :queue AND leased_until > now()
        GROUP BY 1 HAVING count(DISTINCT lease_token) >= :quota
    ), turns AS (
        (SELECT * FROM (
            (SELECT {TURN} AS turn, 0 AS lap FROM jobs
             WHERE {_IS_IN_QUEUE} AND {TURN} >= :first ORDER BY 1 LIMIT 1)
            UNION ALL
            (SELECT {TURN}, 1 FROM jobs
             WHERE {_IS_IN_QUEUE} AND {TURN} < :first ORDER BY 1 LIMIT 1)) AS start
         ORDER BY lap LIMIT 1)
        UNION ALL
        SELECT following.* FROM turns CROSS JOIN LATERAL (
            SELECT * FROM (
                (SELECT {TURN} AS turn, turns.lap FROM jobs
                 WHERE {_IS_IN_QUEUE} AND {TURN} > turns.turn AND (turns.lap = 0 OR {TURN} < :first)
                 ORDER BY 1 LIMIT 1)
                UNION ALL
                (SELECT {TURN}, 1 FROM jobs
                 WHERE turns.lap = 0 AND {_IS_IN_QUEUE} AND {TURN} < :first ORDER BY 1 LIMIT 1)
            ) AS next ORDER BY lap LIMIT 1) AS following
    )
"""  # noqa: S608 - consists of constants

# An expired lease counts as an interruption, unless the database restarted after the last renewal.
_CLAIM = text(
    f"""
    {_TURNS}, chosen AS (
        SELECT turns.turn, head.* FROM turns CROSS JOIN LATERAL (
            SELECT function, {_IS_FRESH} AS fresh FROM jobs
            WHERE queue = :queue AND {TURN} = turns.turn AND {_IS_READY}
            ORDER BY due_at LIMIT 1) AS head
        WHERE turns.turn NOT IN (SELECT turn FROM busy) LIMIT 1
    ), taken AS (
        SELECT head.* FROM chosen CROSS JOIN LATERAL (
            SELECT id, leased_until FROM jobs
            WHERE queue = :queue AND {TURN} = chosen.turn AND {_IS_READY}
              AND function = chosen.function AND {_IS_FRESH} = chosen.fresh
            ORDER BY due_at
            LIMIT CASE WHEN chosen.fresh AND chosen.function = ANY(CAST(:batched AS text[]))
                       THEN :batch ELSE 1 END
            FOR UPDATE SKIP LOCKED) AS head
    )
    UPDATE jobs SET
        status = 'running', lease_token = (SELECT gen_random_uuid()),
        leased_until = now() + make_interval(secs => :lease),
        interruptions = interruptions + CASE
            WHEN taken.leased_until > pg_postmaster_start_time() + make_interval(secs => :lease)
            THEN 1 ELSE 0 END
    FROM taken WHERE jobs.id = taken.id
    RETURNING jobs.id, organization_id, function, args, attempts, interruptions, faults,
              lease_token, request_id, created_at, taken.leased_until IS NOT NULL AS expired
    """  # noqa: S608 - consists of constants
)
# The limit keeps PostgreSQL from a join with all jobs of the queue.
_IS_CLAIMABLE = text(
    f"""
    {_TURNS}
    SELECT EXISTS (
        SELECT FROM turns CROSS JOIN LATERAL (
            SELECT FROM jobs WHERE queue = :queue AND {TURN} = turns.turn AND {_IS_READY}
            ORDER BY due_at LIMIT 1) AS head
        WHERE turns.turn NOT IN (SELECT turn FROM busy))
    """  # noqa: S608 - consists of constants
)
_DUE_QUEUES = text(
    f"""
    SELECT name FROM unnest(CAST(:queues AS text[])) AS name
    WHERE EXISTS (SELECT FROM jobs WHERE queue = name AND {IS_DUE} AND {_IS_FREE})
    """  # noqa: S608 - consists of constants
)
_ASYNC_COMMIT = text("SET LOCAL synchronous_commit = off")
_LOCK = text(
    "SELECT count(*) FROM (SELECT FROM jobs WHERE id = ANY(CAST(:ids AS uuid[]))"
    " AND lease_token = :token FOR UPDATE) AS leased"
)


def _build_lease_update(change: str) -> TextClause:
    """Return an UPDATE of the rows that still have the lease."""
    return text(
        f"UPDATE jobs SET {change}"  # noqa: S608 - constants of this module
        " WHERE id = ANY(CAST(:ids AS uuid[])) AND lease_token = :token"
    )


_RELEASE_LEASE = "leased_until = NULL, lease_token = NULL"
_RENEW = _build_lease_update("leased_until = now() + make_interval(secs => :lease)")
_FINISH = _build_lease_update(
    "status = 'completed', due_at = NULL, finished_at = now(), error = NULL, unique_key = NULL,"
    f" {_RELEASE_LEASE}"
)
_REQUEUE = _build_lease_update(
    "status = 'queued', due_at = now() + make_interval(secs => :delay), error = :error,"
    " attempts = attempts + :attempts,"
    f" faults = CASE WHEN :faults > 0 THEN faults + :faults ELSE 0 END, {_RELEASE_LEASE}"
)
_FAIL = _build_lease_update(
    "status = 'failed', due_at = NULL, finished_at = now(), error = :error, unique_key = NULL,"
    f" {_RELEASE_LEASE}"
)


@dataclass(frozen=True, slots=True)
class ClaimedJob:
    """A leased job.

    `attempts` counts runs that ended in an error, `interruptions` counts runs whose lease expired,
    and `faults` counts the latest consecutive runs that ended in a fault of the platform. `expired`
    is whether the job was taken over from another worker. All jobs of a claim share one
    `lease_token`.
    """

    id: UUID
    organization_id: UUID | None
    function: str
    args: dict[str, Any]
    attempts: int
    interruptions: int
    faults: int
    lease_token: UUID
    request_id: str | None
    created_at: datetime
    expired: bool


@dataclass(frozen=True, slots=True)
class Lease:
    """The lease token of one run, and the ids of its jobs."""

    token: UUID
    ids: tuple[UUID, ...]


def claim(queue: str, *, after: UUID, quota: int, batched: Sequence[str]) -> list[ClaimedJob]:
    """Lease the next job of `queue`, or the next batch of one function and organization.

    Args:
        queue: the name of the queue.
        after: the turn that was served last (`get_turn`). The search starts at the next turn by id
            and wraps around.
        quota: the maximum number of concurrent runs of one organization in this queue.
        batched: the functions that take batches.

    Returns:
        The leased jobs; an empty list if no job can be claimed.
    """
    # If a crash of the database loses a claim, the job is simply claimed again.
    db.session().execute(_ASYNC_COMMIT)
    values = {
        "queue": queue,
        "first": UUID(int=after.int + 1),
        "quota": quota,
        "batched": list(batched),
        "batch": BATCH,
        "faults": FAULTS_IN_BATCH,
        "lease": LEASE_SECONDS,
    }
    return [ClaimedJob(**row._mapping) for row in db.session().execute(_CLAIM, values)]  # noqa: SLF001


BEFORE_ALL = UUID(int=0)
"""The value of `after` with which `claim` starts at the first organization."""


def get_turn(job: ClaimedJob) -> UUID:
    """Return the turn of a job: its organization, or the turn that jobs without one share."""
    return job.organization_id or UUID(int=0)


def is_claimable(queue: str, *, quota: int) -> bool:
    """Return whether `claim` would return a job, given the running jobs of each organization."""
    values = {"queue": queue, "quota": quota, "first": UUID(int=0)}
    return bool(db.session().scalar(_IS_CLAIMABLE, values))


def list_due_queues(queues: Sequence[str]) -> list[str]:
    """Return the queues among `queues` that have a due job which is not running."""
    return list(db.session().scalars(_DUE_QUEUES, {"queues": list(queues)}))


def lock(lease: Lease) -> bool:
    """Lock the rows of a run, and return whether all rows still have its lease."""
    return bool(db.session().scalar(_LOCK, _build_parameters(lease)) == len(lease.ids))


def renew(lease: Lease) -> None:
    """Extend a lease to `LEASE_SECONDS` from now."""
    db.session().execute(_ASYNC_COMMIT)
    db.session().execute(_RENEW, {"lease": LEASE_SECONDS, **_build_parameters(lease)})


def finish(lease: Lease) -> bool:
    """Mark the jobs of a run as completed; return whether all jobs still had its lease."""
    return _get_row_count(db.session().execute(_FINISH, _build_parameters(lease))) == len(lease.ids)


def requeue(
    lease: Lease, *, delay: float, error: str | None, attempts: int = 0, faults: int = 0
) -> None:
    """Requeue jobs after `delay` seconds, and add to their counts; `faults=0` resets `faults`."""
    values = {"delay": delay, "error": error, "attempts": attempts, "faults": faults}
    db.session().execute(_REQUEUE, {**values, **_build_parameters(lease)})


def fail(lease: Lease, error: str) -> bool:
    """Mark the jobs of a run as failed, and return whether a job still had its lease."""
    return (
        _get_row_count(db.session().execute(_FAIL, {"error": error, **_build_parameters(lease)}))
        > 0
    )


def _build_parameters(lease: Lease) -> dict[str, Any]:
    return {"ids": [str(job_id) for job_id in lease.ids], "token": lease.token}


def _get_row_count(result: Result[Any]) -> int:
    assert isinstance(result, CursorResult)
    return result.rowcount
