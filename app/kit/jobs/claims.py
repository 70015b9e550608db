"""SQL that claims jobs under leases, and writes their outcomes.

A lease begins when the run begins, so no lease expires while a job waits. Each queue serves the
organizations in round-robin order. Within an organization, jobs run in the order of their due
times. Every statement uses the primary key or an index of unfinished jobs and never reads finished
jobs. The caller of each function must have bound all organizations.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import text

from app.kit import db, leases
from app.kit.leases import Lease, LeasedTable

# If a crash of the database loses a claim or a renewal, the job is claimed or renewed again.
JOB_LEASES = LeasedTable("jobs", lease_seconds=30, renew_seconds=7.5, async_renewal=True)
MAX_BATCH_SIZE = 100
"""The maximum number of jobs in a batch."""
FAULTS_BEFORE_ISOLATION = 3
"""The number of consecutive faults after which a job runs alone, as it may cause the faults."""
FAIRNESS_KEY = """(
CASE
    WHEN organization_id IS NULL THEN '00000000-0000-0000-0000-000000000000'::uuid
    ELSE organization_id
END)"""
"""The SQL expression for a job's fairness key. A queue serves the keys in round-robin order.

The key is the organization id, or the all-zero UUID for jobs without an organization. It is part of
the index `ix_jobs_by_turn`. Under row-level security, PostgreSQL would not use an index on
`coalesce`, which is not leakproof.
"""
IS_UNFINISHED = "due_at < 'infinity'"
"""The condition for unfinished jobs, which have a due time, in the index `ix_jobs_by_turn`.

Statements must repeat the condition to use this index. The two indexes of unfinished jobs have
different conditions, so that PostgreSQL cannot choose the wrong index. If no job was unfinished
when the statistics were collected, PostgreSQL estimates that reading a whole index costs nothing,
and could choose either index.
"""
IS_DUE = "due_at > '-infinity' AND due_at <= now()"
"""The condition for due jobs. It makes statements use `ix_jobs_by_due` (see `IS_UNFINISHED`)."""

_IS_READY = f"{IS_UNFINISHED} AND due_at <= now() AND {leases.IS_FREE}"
# Only jobs that were never interrupted and had no error and few faults may run in a batch.
_IS_FRESH = "(leased_until IS NULL AND attempts = 0 AND interruptions = 0 AND faults < :faults)"
_IS_IN_QUEUE = f"queue = :queue AND {IS_UNFINISHED}"
# `fairness_keys` contains the fairness keys of all unfinished jobs, in order and starting at
# :first. Each key is found by one index look-up. `has_wrapped` is 1 for keys before :first. `busy`
# contains the keys whose organizations have used up their quota.
_ROUND_ROBIN = f"""
    WITH RECURSIVE busy AS MATERIALIZED (
        SELECT {FAIRNESS_KEY} AS fairness_key FROM jobs
        WHERE queue = :queue AND {leases.IS_LEASED}
        GROUP BY 1 HAVING count(DISTINCT lease_token) >= :quota
    ), fairness_keys AS (
        (SELECT * FROM (
            (SELECT {FAIRNESS_KEY} AS fairness_key, 0 AS has_wrapped FROM jobs
             WHERE {_IS_IN_QUEUE} AND {FAIRNESS_KEY} >= :first ORDER BY 1 LIMIT 1)
            UNION ALL
            (SELECT {FAIRNESS_KEY}, 1 FROM jobs
             WHERE {_IS_IN_QUEUE} AND {FAIRNESS_KEY} < :first ORDER BY 1 LIMIT 1)) AS start
         ORDER BY has_wrapped LIMIT 1)
        UNION ALL
        SELECT following.* FROM fairness_keys CROSS JOIN LATERAL (
            SELECT * FROM (
                (SELECT {FAIRNESS_KEY} AS fairness_key, fairness_keys.has_wrapped FROM jobs
                 WHERE {_IS_IN_QUEUE} AND {FAIRNESS_KEY} > fairness_keys.fairness_key
                   AND (fairness_keys.has_wrapped = 0 OR {FAIRNESS_KEY} < :first)
                 ORDER BY 1 LIMIT 1)
                UNION ALL
                (SELECT {FAIRNESS_KEY}, 1 FROM jobs
                 WHERE fairness_keys.has_wrapped = 0 AND {_IS_IN_QUEUE} AND {FAIRNESS_KEY} < :first
                 ORDER BY 1 LIMIT 1)
            ) AS next ORDER BY has_wrapped LIMIT 1) AS following
    )
"""  # noqa: S608 - consists of constants

# An expired lease counts as an interruption, unless the database restarted after its last renewal.
_CLAIM = text(
    f"""
    {_ROUND_ROBIN}, chosen AS (
        SELECT fairness_keys.fairness_key, head.* FROM fairness_keys CROSS JOIN LATERAL (
            SELECT function, {_IS_FRESH} AS fresh FROM jobs
            WHERE queue = :queue AND {FAIRNESS_KEY} = fairness_keys.fairness_key AND {_IS_READY}
            ORDER BY due_at LIMIT 1 FOR UPDATE SKIP LOCKED) AS head
        WHERE fairness_keys.fairness_key NOT IN (SELECT fairness_key FROM busy) LIMIT 1
    ), claimed AS (
        SELECT head.* FROM chosen CROSS JOIN LATERAL (
            SELECT id, leased_until, {leases.HAS_LEASE} AS lease_expired FROM jobs
            WHERE queue = :queue AND {FAIRNESS_KEY} = chosen.fairness_key AND {_IS_READY}
              AND function = chosen.function AND {_IS_FRESH} = chosen.fresh
            ORDER BY due_at
            LIMIT CASE WHEN chosen.fresh AND chosen.function = ANY(CAST(:batched AS text[]))
                       THEN :batch ELSE 1 END
            FOR UPDATE SKIP LOCKED) AS head
    )
    UPDATE jobs SET
        status = 'running', {leases.build_lease_assignments(leases.SHARED_TOKEN)},
        interruptions = interruptions + CASE
            WHEN claimed.leased_until
                > pg_postmaster_start_time() + make_interval(secs => :lease_seconds)
            THEN 1 ELSE 0 END
    FROM claimed WHERE jobs.id = claimed.id
    RETURNING jobs.id, organization_id, function, args, attempts, interruptions, faults,
              lease_token, request_id, created_at, claimed.lease_expired
    """  # noqa: S608 - consists of constants
)
# LIMIT 1 prevents PostgreSQL from joining with all jobs of the queue. Like `_CLAIM`, the statement
# skips jobs that another transaction has locked, so that no worker wakes without finding a job.
_IS_CLAIMABLE = text(
    f"""
    {_ROUND_ROBIN}
    SELECT EXISTS (
        SELECT FROM fairness_keys CROSS JOIN LATERAL (
            SELECT FROM jobs
            WHERE queue = :queue AND {FAIRNESS_KEY} = fairness_keys.fairness_key AND {_IS_READY}
            ORDER BY due_at LIMIT 1 FOR KEY SHARE SKIP LOCKED) AS head
        WHERE fairness_keys.fairness_key NOT IN (SELECT fairness_key FROM busy))
    """  # noqa: S608 - consists of constants
)
_DUE_QUEUES = text(
    f"""
    SELECT name FROM unnest(CAST(:queues AS text[])) AS name
    WHERE EXISTS (SELECT FROM jobs WHERE queue = name AND {IS_DUE} AND {leases.IS_FREE})
    """  # noqa: S608 - consists of constants
)
_FINISH = JOB_LEASES.build_update(
    "status = 'completed', due_at = NULL, finished_at = now(), error = NULL, unique_key = NULL,"
    f" {leases.RELEASE_ASSIGNMENTS}"
)
_REQUEUE = JOB_LEASES.build_update(
    "status = 'queued', due_at = now() + make_interval(secs => :delay), error = :error,"
    " attempts = attempts + :attempts,"
    " interruptions = CASE WHEN :has_progressed THEN 0 ELSE interruptions END,"
    " faults = CASE WHEN :faults > 0 THEN faults + :faults ELSE 0 END,"
    f" {leases.RELEASE_ASSIGNMENTS}"
)
_FAIL = JOB_LEASES.build_update(
    "status = 'failed', due_at = NULL, finished_at = now(), error = :error, unique_key = NULL,"
    f" {leases.RELEASE_ASSIGNMENTS}"
)


@dataclass(frozen=True, slots=True)
class ClaimedJob:
    """A leased job.

    `attempts` counts the runs that ended in an error. `interruptions` counts the runs whose lease
    expired. `faults` counts the latest consecutive runs that ended in a platform fault, such as an
    outage of the database. All jobs of a claim share one `lease_token`. `lease_expired` is true if
    the job was claimed before and that lease had expired.
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
    lease_expired: bool


def claim(
    queue: str, *, last_served_key: UUID, quota: int, batch_functions: Sequence[str]
) -> list[ClaimedJob]:
    """Claim the next job in `queue`, or a batch of jobs with the same function and organization.

    Args:
        queue: the name of the queue.
        last_served_key: the fairness key (the organization id of a job) that was served last. The
            search starts at the next key and wraps around.
        quota: the maximum number of concurrent runs of one organization in this queue.
        batch_functions: the functions that accept several jobs in one run.

    Returns:
        The claimed jobs; an empty list if no job can be claimed.
    """
    db.session().execute(leases.ASYNC_COMMIT)
    values = {
        "queue": queue,
        "first": UUID(int=last_served_key.int + 1),
        "quota": quota,
        "batched": list(batch_functions),
        "batch": MAX_BATCH_SIZE,
        "faults": FAULTS_BEFORE_ISOLATION,
        "lease_seconds": JOB_LEASES.lease_seconds,
    }
    return [ClaimedJob(**row._mapping) for row in db.session().execute(_CLAIM, values)]  # noqa: SLF001


NO_ORGANIZATION_KEY = UUID(int=0)
"""The fairness key of jobs without an organization. It precedes the keys of all organizations."""


def get_fairness_key(job: ClaimedJob) -> UUID:
    """Return the fairness key of a job: its organization id, or the all-zero UUID."""
    return job.organization_id or NO_ORGANIZATION_KEY


def has_claimable_job(queue: str, *, quota: int) -> bool:
    """Return whether `claim` would claim a job from `queue` with this quota."""
    values = {"queue": queue, "quota": quota, "first": NO_ORGANIZATION_KEY}
    return bool(db.session().scalar(_IS_CLAIMABLE, values))


def list_due_queues(queues: Sequence[str]) -> list[str]:
    """Return the names of the queues in `queues` that have a due job that is not running."""
    return list(db.session().scalars(_DUE_QUEUES, {"queues": list(queues)}))


def finish(lease: Lease) -> bool:
    """Mark the jobs of a run as completed. Return whether the run had the lease on all its jobs."""
    return JOB_LEASES.execute(_FINISH, [lease]) == len(lease.ids)


def requeue(
    lease: Lease,
    *,
    delay: float,
    error: str | None,
    attempts: int = 0,
    faults: int = 0,
    has_progressed: bool = False,
) -> None:
    """Requeue the jobs of a run, to be due again after `delay` seconds.

    `attempts` and `faults` are added to the counts of each job. `faults=0` resets the fault count.
    `has_progressed` resets the count of interruptions: only crashes without progress between them
    show that a job causes crashes.
    """
    values = {
        "delay": delay,
        "error": error,
        "attempts": attempts,
        "faults": faults,
        "has_progressed": has_progressed,
    }
    JOB_LEASES.execute(_REQUEUE, [lease], **values)


def fail(lease: Lease, error: str) -> bool:
    """Mark the jobs of a run as failed. Return whether the run had the lease on any of its jobs."""
    return JOB_LEASES.execute(_FAIL, [lease], error=error) > 0
