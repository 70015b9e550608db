"""Read access to ingestion jobs, their items and their statistics."""

from datetime import datetime, timedelta
from typing import Any, Unpack
from uuid import UUID

from app.intake.ingestion_jobs.models import COUNTS, IngestionJob
from app.intake.ingestion_jobs.queries import records, statistics
from app.intake.ingestion_jobs.queries.records import ItemFilters
from app.kit import db, errors
from app.kit.pagination import Page, PageRequest

DEFAULT_PERIOD = timedelta(days=30)
"""The length of the statistics period if the request contains no start."""
MAX_PERIOD = timedelta(days=366)

list_jobs = records.list_jobs


def get(job_id: UUID) -> IngestionJob:
    """Return the ingestion job with this id. Raises 404 if it does not exist."""
    return errors.require_found(records.get(job_id))


def list_items(job_id: UUID, page: PageRequest, **filters: Unpack[ItemFilters]) -> Page:
    """Return a page of a job's items that match the filters. Raises 404."""
    return records.list_items(get(job_id), page, **filters)


def get_stats(
    created_after: datetime | None = None, created_before: datetime | None = None
) -> dict[str, Any]:
    """Return statistics about the jobs created in a period of at most 366 days.

    By default, the period ends now and starts 30 days before its end. Raises 400 if the period ends
    before it starts, or is too long.
    """
    end = created_before or db.utc_now()
    start = created_after or end - DEFAULT_PERIOD
    if start >= end:
        message = "The end of the period must be after its start."
        raise errors.invalid(message, "created_before" if created_before else "created_after")
    if end - start > MAX_PERIOD:
        raise errors.invalid("The period must not be longer than 366 days.", "created_after")
    rows = statistics.read_statistics(start, end)
    total = next(r for r in rows if not (r["is_day"] or r["is_kind"] or r["is_connector"]))
    return {
        "created_after": start,
        "created_before": end,
        **_build_group_stats(total),
        "by_day": [{"date": r["day"], **_build_group_stats(r)} for r in rows if r["is_day"]],
        "by_kind": [{"kind": r["kind"], **_build_group_stats(r)} for r in rows if r["is_kind"]],
        "by_connector": [
            {"connector_id": r["connector_id"], **_build_group_stats(r)}
            for r in rows
            if r["is_connector"]
        ],
    }


def _build_group_stats(row: dict[str, Any]) -> dict[str, Any]:
    seconds = float(row["seconds"])
    handled_count = sum(int(row[name]) for name in COUNTS[1:])
    return {
        "jobs": row["jobs"],
        "failed_jobs": row["failed_jobs"],
        "counts": {name: int(row[name]) for name in COUNTS},
        "seconds": round(seconds, 3),
        "rate_per_second": round(handled_count / seconds, 1) if seconds > 0 else None,
    }
