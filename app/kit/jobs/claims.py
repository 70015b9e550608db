"""SQL of leases: which job runs next, who runs it, and what became of it.

A lease is taken in the statement that starts the run, so none expires while a job waits. Jobs of a
queue are claimed in turns by organization, within an organization in the order of their due times.
Every statement finds its rows by the primary key or by an index of unfinished jobs: none reads
finished ones. Callers see all organizations.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import TextClause, text

from app.kit import db
from app.kit.jobs.model import TURN

LEASE_SECONDS = 30
"""How long a lease lasts unless it is renewed (`leases`)."""
BATCH = 100
"""How many jobs a batch handler gets at most."""
FAULTS_IN_BATCH = 3
"""A job that met so many faults in a row runs alone: it may be what causes them."""

_FREE = "due_at <= now() AND (leased_until IS NULL OR leased_until <= now())"
_FRESH = "(leased_until IS NULL AND attempts = 0 AND interruptions = 0 AND faults < :faults)"
_OF_QUEUE = "queue = :queue AND due_at IS NOT NULL"
# The turns, once round, beginning with :first: found one by one along the index. `lap` is 1 for
# those before :first. And `busy`, the turns that have their quota.
_TURNS = f"""
    WITH RECURSIVE busy AS MATERIALIZED (
        SELECT {TURN} AS turn FROM jobs WHERE queue = :queue AND leased_until > now()
        GROUP BY 1 HAVING count(DISTINCT lease_token) >= :quota
    ), turns AS (
        (SELECT * FROM (
            (SELECT {TURN} AS turn, 0 AS lap FROM jobs
             WHERE {_OF_QUEUE} AND {TURN} >= :first ORDER BY 1 LIMIT 1)
            UNION ALL
            (SELECT {TURN}, 1 FROM jobs
             WHERE {_OF_QUEUE} AND {TURN} < :first ORDER BY 1 LIMIT 1)) AS start
         ORDER BY lap LIMIT 1)
        UNION ALL
        SELECT following.* FROM turns CROSS JOIN LATERAL (
            SELECT * FROM (
                (SELECT {TURN} AS turn, turns.lap FROM jobs
                 WHERE {_OF_QUEUE} AND {TURN} > turns.turn AND (turns.lap = 0 OR {TURN} < :first)
                 ORDER BY 1 LIMIT 1)
                UNION ALL
                (SELECT {TURN}, 1 FROM jobs
                 WHERE turns.lap = 0 AND {_OF_QUEUE} AND {TURN} < :first ORDER BY 1 LIMIT 1)
            ) AS next ORDER BY lap LIMIT 1) AS following
    )
"""  # noqa: S608 - made of constants

# A job whose lease ran out was interrupted, unless the database restarted after it was renewed.
_CLAIM = text(
    f"""
    {_TURNS}, chosen AS (
        SELECT turns.turn, head.* FROM turns CROSS JOIN LATERAL (
            SELECT function, {_FRESH} AS fresh FROM jobs
            WHERE queue = :queue AND {TURN} = turns.turn AND {_FREE}
            ORDER BY due_at LIMIT 1) AS head
        WHERE turns.turn NOT IN (SELECT turn FROM busy) LIMIT 1
    ), taken AS (
        SELECT head.* FROM chosen CROSS JOIN LATERAL (
            SELECT id, leased_until FROM jobs
            WHERE queue = :queue AND {TURN} = chosen.turn AND {_FREE}
              AND function = chosen.function AND {_FRESH} = chosen.fresh
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
    """  # noqa: S608 - made of constants
)
# The limit keeps PostgreSQL from a join with all jobs of the queue.
_IS_CLAIMABLE = text(
    f"""
    {_TURNS}
    SELECT EXISTS (
        SELECT FROM turns CROSS JOIN LATERAL (
            SELECT FROM jobs WHERE queue = :queue AND {TURN} = turns.turn AND {_FREE}
            ORDER BY due_at LIMIT 1) AS head
        WHERE turns.turn NOT IN (SELECT turn FROM busy))
    """  # noqa: S608 - made of constants
)
_DUE_QUEUES = text(
    f"""
    SELECT name FROM unnest(CAST(:queues AS text[])) AS name
    WHERE EXISTS (SELECT FROM jobs WHERE queue = name AND {_FREE})
    """  # noqa: S608 - made of constants
)
_WITHOUT_WAITING = text("SET LOCAL synchronous_commit = off")
_LOCK = text(
    "SELECT count(*) FROM (SELECT FROM jobs WHERE id = ANY(CAST(:ids AS uuid[]))"
    " AND lease_token = :token FOR UPDATE) AS held"
)


def _update_held(change: str) -> TextClause:
    """Return an UPDATE of the rows that are still under a lease."""
    return text(
        f"UPDATE jobs SET {change}"  # noqa: S608 - constants of this module
        " WHERE id = ANY(CAST(:ids AS uuid[])) AND lease_token = :token"
    )


_FREED = "leased_until = NULL, lease_token = NULL"
_RENEW = _update_held("leased_until = now() + make_interval(secs => :lease)")
_FINISH = _update_held(
    "status = 'completed', due_at = NULL, finished_at = now(), error = NULL, unique_key = NULL,"
    f" {_FREED}"
)
_REQUEUE = _update_held(
    "status = 'queued', due_at = now() + make_interval(secs => :delay), error = :error,"
    " attempts = attempts + :attempts,"
    f" faults = CASE WHEN :faults > 0 THEN faults + :faults ELSE 0 END, {_FREED}"
)
_FAIL = _update_held(
    "status = 'failed', due_at = NULL, finished_at = now(), error = :error, unique_key = NULL,"
    f" {_FREED}"
)


@dataclass(frozen=True, slots=True)
class Claimed:
    """A leased job.

    `attempts`: runs that ended in an error; `interruptions`: runs whose lease ran out; `faults`:
    runs in a row that met a fault of the platform; `expired`: taken over from another worker. All
    jobs of a claim have one `lease_token`.
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
    """The jobs of one run, and the token under which a worker holds them."""

    token: UUID
    ids: tuple[UUID, ...]


def claim(queue: str, *, after: UUID, quota: int, batched: Sequence[str]) -> list[Claimed]:
    """Lease the next job of `queue`, or the next batch of one function and organization.

    Args:
        queue: its name.
        after: the turn that was served last (`turn_of`): the next one by id comes now, after the
            last one the first again.
        quota: how many runs one organization may have under way in this queue.
        batched: the functions that take batches.

    Returns:
        The leased jobs; none when no turn has a job that can be claimed.
    """
    # A claim that the crash of the database undoes is only made again.
    db.session().execute(_WITHOUT_WAITING)
    values = {
        "queue": queue,
        "first": UUID(int=after.int + 1),
        "quota": quota,
        "batched": list(batched),
        "batch": BATCH,
        "faults": FAULTS_IN_BATCH,
        "lease": LEASE_SECONDS,
    }
    return [Claimed(**row._mapping) for row in db.session().execute(_CLAIM, values)]  # noqa: SLF001


BEFORE_ALL = UUID(int=0)
"""As `after` of `claim`: begins with the first organization."""


def turn_of(job: Claimed) -> UUID:
    """Return whose turn a job takes: its organization's, or that of all jobs without one."""
    return job.organization_id or UUID(int=0)


def is_claimable(queue: str, *, quota: int) -> bool:
    """Return whether `claim` would find a job, given what each organization has running."""
    values = {"queue": queue, "quota": quota, "first": UUID(int=0)}
    return bool(db.session().scalar(_IS_CLAIMABLE, values))


def list_due_queues(queues: Sequence[str]) -> list[str]:
    """Return those of `queues` that have a due job which nobody runs."""
    return list(db.session().scalars(_DUE_QUEUES, {"queues": list(queues)}))


def lock(lease: Lease) -> bool:
    """Lock the rows of a run; return whether all of them are still leased to it."""
    return bool(db.session().scalar(_LOCK, _columns(lease)) == len(lease.ids))


def renew(lease: Lease) -> None:
    """Let a lease last `LEASE_SECONDS` from now."""
    db.session().execute(_WITHOUT_WAITING)
    db.session().execute(_RENEW, {"lease": LEASE_SECONDS, **_columns(lease)})


def finish(lease: Lease) -> bool:
    """Mark the jobs of a run as completed; return whether all were still leased to it."""
    return _count(db.session().execute(_FINISH, _columns(lease))) == len(lease.ids)


def requeue(
    lease: Lease, *, delay: float, error: str | None, attempts: int = 0, faults: int = 0
) -> None:
    """Queue jobs again in `delay` seconds and add to their counts. `faults=0` resets theirs."""
    values = {"delay": delay, "error": error, "attempts": attempts, "faults": faults}
    db.session().execute(_REQUEUE, {**values, **_columns(lease)})


def fail(lease: Lease, error: str) -> bool:
    """Give the jobs of a run up; return whether they were still leased to it."""
    return _count(db.session().execute(_FAIL, {"error": error, **_columns(lease)})) > 0


def _columns(lease: Lease) -> dict[str, Any]:
    return {"ids": [str(job_id) for job_id in lease.ids], "token": lease.token}


def _count(result: Any) -> int:
    return int(result.rowcount)
