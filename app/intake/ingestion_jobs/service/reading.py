"""Read access to ingestion jobs, their items and their statistics."""

from datetime import date, datetime, timedelta
from typing import NamedTuple, Unpack
from uuid import UUID

from app.intake.ingestion_jobs.models import COUNT_NAMES, IngestionJob
from app.intake.ingestion_jobs.queries import records, statistics
from app.intake.ingestion_jobs.queries.records import ItemFilters
from app.intake.ingestion_jobs.queries.statistics import StatisticsRow
from app.kit import db, errors
from app.kit.pagination import Page, PageRequest

DEFAULT_PERIOD = timedelta(days=30)
"""The length of the statistics period if the request contains no start."""
MAX_PERIOD = timedelta(days=366)

list_jobs = records.list_jobs


class GroupStats(NamedTuple):
    """The statistics of a group of jobs, with the day, kind or connector of the group."""

    jobs: int
    failed_jobs: int
    counts: dict[str, int]
    seconds: float
    rate_per_second: float | None
    date: date | None
    kind: str | None
    connector_id: UUID | None


class IngestionStats(NamedTuple):
    """The statistics of the jobs created in a period, in total and by group."""

    created_after: datetime
    created_before: datetime
    jobs: int
    failed_jobs: int
    counts: dict[str, int]
    seconds: float
    rate_per_second: float | None
    by_day: list[GroupStats]
    by_kind: list[GroupStats]
    by_connector: list[GroupStats]


def get(job_id: UUID) -> IngestionJob:
    """Return the ingestion job with this id. Raises 404 if it does not exist."""
    return errors.require_found(records.get(job_id))


def list_items(job_id: UUID, page: PageRequest, **filters: Unpack[ItemFilters]) -> Page:
    """Return a page of a job's items that match the filters. Raises 404 for an unknown job."""
    return records.list_items(get(job_id), page, **filters)


def get_stats(
    created_after: datetime | None = None, created_before: datetime | None = None
) -> IngestionStats:
    """Return statistics about the jobs created in a period of at most 366 days.

    By default, the period ends now and starts 30 days before its end. Raises 400 if the period does
    not end after its start, or is too long.
    """
    end = created_before or db.utc_now()
    start = created_after or end - DEFAULT_PERIOD
    if start >= end:
        message = "The end of the period must be after its start."
        raise errors.invalid(message, "created_before" if created_before else "created_after")
    if end - start > MAX_PERIOD:
        raise errors.invalid("The period must not be longer than 366 days.", "created_after")
    rows = statistics.read_statistics(start, end)
    total = next(row for row in rows if not (row.is_day or row.is_kind or row.is_connector))
    return IngestionStats(
        start,
        end,
        *_build_group_stats(total)[:5],
        by_day=[_build_group_stats(row) for row in rows if row.is_day],
        by_kind=[_build_group_stats(row) for row in rows if row.is_kind],
        by_connector=[_build_group_stats(row) for row in rows if row.is_connector],
    )


def _build_group_stats(row: StatisticsRow) -> GroupStats:
    seconds = float(row.seconds)
    counts = {name: int(getattr(row, name)) for name in COUNT_NAMES}
    handled_count = sum(counts[name] for name in COUNT_NAMES[1:])
    return GroupStats(
        jobs=row.jobs,
        failed_jobs=row.failed_jobs,
        counts=counts,
        seconds=round(seconds, 3),
        rate_per_second=round(handled_count / seconds, 1) if seconds > 0 else None,
        date=row.day,
        kind=row.kind,
        connector_id=row.connector_id,
    )
