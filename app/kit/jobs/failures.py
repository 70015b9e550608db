"""Listing, retrying, discarding and reporting of failed jobs, for operators."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import Row, text

from app.kit import db, errors, tenancy
from app.kit.db import Checkpoint, ReportProgress
from app.kit.jobs.handlers import HANDLERS

BATCH_SIZE = 500
"""The maximum number of jobs that one transaction changes."""
_FILTER = """
    status = :status
    AND (CAST(:function AS text) IS NULL OR function = :function)
    AND (CAST(:queue AS text) IS NULL OR queue = :queue)
    AND (CAST(:organization_id AS uuid) IS NULL OR organization_id = :organization_id)
"""
_LIST = text(
    f"""
    SELECT id, organization_id, queue, function, status, attempts, faults, interruptions, error,
           created_at, due_at, finished_at
    FROM jobs WHERE {_FILTER} ORDER BY created_at DESC, id DESC LIMIT :limit
    """  # noqa: S608 - consists of constants
)
_FIND = text(
    f"SELECT id, function FROM jobs WHERE {_FILTER} ORDER BY id"  # noqa: S608 - consists of constants
)
_LOCK = text(
    "SELECT id, organization_id, function, args FROM jobs"
    " WHERE id = ANY(CAST(:ids AS uuid[])) AND status = 'failed' ORDER BY id FOR UPDATE"
)
_RETRY = text(
    "UPDATE jobs SET status = 'queued', due_at = now(), attempts = 0, interruptions = 0,"
    " faults = 0, finished_at = NULL, reported_at = NULL WHERE id = ANY(CAST(:ids AS uuid[]))"
)
_DISCARD = text(
    "UPDATE jobs SET status = 'discarded' WHERE id = ANY(CAST(:ids AS uuid[]))"
    " AND status = 'failed'"
)
_REPORT = text(
    """
    WITH reported AS (
        UPDATE jobs SET reported_at = now() WHERE id = ANY (ARRAY(
            SELECT id FROM jobs WHERE status = 'failed' AND reported_at IS NULL
            LIMIT :limit FOR UPDATE SKIP LOCKED))
        RETURNING function, error
    )
    SELECT function, count(*) AS number, min(left(error, 200)) AS error FROM reported
    GROUP BY function ORDER BY number DESC, function
    """
)
_REPORT_LIMIT = 10_000


class JobRecord(NamedTuple):
    """A job with the columns that operators see."""

    id: UUID
    organization_id: UUID | None
    queue: str
    function: str
    status: str
    attempts: int
    faults: int
    interruptions: int
    error: str | None
    created_at: datetime
    due_at: datetime | None
    finished_at: datetime | None


class FailureCount(NamedTuple):
    """The number of failed jobs of one function, and the error of one of these jobs."""

    function: str
    job_count: int
    error: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class JobFilter:
    """A filter for jobs. An attribute that is None matches every value."""

    status: str = "failed"
    function: str | None = None
    queue: str | None = None
    organization_id: UUID | None = None


def list_jobs(job_filter: JobFilter, *, limit: int) -> list[JobRecord]:
    """Return at most `limit` jobs that match the filter, newest first.

    Includes all organizations unless the filter names one.
    """
    rows = db.session().execute(_LIST, {**asdict(job_filter), "limit": limit})
    return [JobRecord(*row) for row in rows]


def find_ids(job_filter: JobFilter) -> list[UUID]:
    """Return the ids of all jobs that match the filter, in ascending order."""
    return [row.id for row in db.session().execute(_FIND, asdict(job_filter))]


def find_retryable_ids(job_filter: JobFilter) -> tuple[list[UUID], dict[str, int]]:
    """Return the ids of matching jobs that can be retried, in ascending order.

    The second value maps functions to the number of matching jobs that cannot be retried.
    """
    ids: list[UUID] = []
    unretryable_counts: Counter[str] = Counter()
    for row in db.session().execute(_FIND, asdict(job_filter)):
        if _is_retryable(row.function):
            ids.append(row.id)
        else:
            unretryable_counts[row.function] += 1
    return ids, dict(unretryable_counts)


def _is_retryable(function: str) -> bool:
    job_handler = HANDLERS.get(function)
    return job_handler is not None and job_handler.retryable


def change_in_batches(
    job_ids: Sequence[UUID],
    change: Callable[[list[str]], int],
    checkpoint: Checkpoint,
    report_progress: ReportProgress,
) -> int:
    """Call `change` (`retry` or `discard`) with batches of ids, and return how many jobs changed.

    `checkpoint` commits after each batch. `report_progress` then receives the number of processed
    ids and the total number of ids. If `change` raises an error, earlier batches stay committed.
    Call this function within `tenancy.across_organizations`.
    """
    changed_count = 0
    for start in range(0, len(job_ids), BATCH_SIZE):
        ids = [str(job_id) for job_id in job_ids[start : start + BATCH_SIZE]]
        changed_count += change(ids)
        checkpoint()
        report_progress(start + len(ids), len(job_ids))
    return changed_count


def retry(ids: list[str]) -> int:
    """Retry failed jobs: requeue them with reset counts, and return how many were requeued.

    First calls their handlers' `on_retry`. Jobs that have not failed are skipped.

    Raises:
        ApiError: 409 `conflict` if the function of a job is unknown or cannot be retried.
    """
    rows = db.session().execute(_LOCK, {"ids": ids}).all()
    for row in rows:
        _prepare_retry(row)
    db.session().execute(_RETRY, {"ids": [str(row.id) for row in rows]})
    return len(rows)


def _prepare_retry(row: Row[Any]) -> None:
    if not _is_retryable(row.function):
        raise errors.conflict(f"Jobs of {row.function} cannot be retried.", job_id=str(row.id))
    job_handler = HANDLERS[row.function]
    if job_handler.on_retry is not None and row.organization_id is not None:
        with tenancy.organization(row.organization_id):
            job_handler.on_retry(row.args)


def discard(ids: list[str]) -> int:
    """Discard failed jobs: mark them as discarded, and return how many were marked.

    Jobs that have not failed are skipped.
    """
    result = db.session().execute(_DISCARD, {"ids": ids})
    return int(result.rowcount)  # type: ignore[attr-defined]


def mark_reported() -> list[FailureCount]:
    """Mark unreported failed jobs as reported, and return the number of these jobs by function.

    Marks at most 10,000 jobs.
    """
    rows = db.session().execute(_REPORT, {"limit": _REPORT_LIMIT})
    return [FailureCount(*row) for row in rows]
