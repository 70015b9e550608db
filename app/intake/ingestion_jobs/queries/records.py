"""SQL queries that read and lock ingestion jobs, and that read and save their items."""

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple, Unpack
from uuid import UUID

import orjson
from sqlalchemy import ColumnElement, func, select, text

from app.identity.organizations.models import Organization
from app.intake.ingestion_jobs.counters import JOBS
from app.intake.ingestion_jobs.models import COUNT_NAMES, IngestionItem, IngestionJob
from app.intake.ingestion_jobs.statuses import ACTIVE_STATUSES, ItemStatus, JobKind
from app.kit import db, tenancy
from app.kit.pagination import (
    CreatedFilters,
    Page,
    PageRequest,
    build_period_conditions,
    paginate,
    paginate_records,
)

# A retry replaces the failed item of an earlier run.
_SAVE_ITEMS = text(
    """
    INSERT INTO ingestion_items
        (organization_id, job_id, number, uri, status, artifact_id, error, seconds, created_at)
    SELECT :organization_id, :job_id, number, uri, status, artifact_id, error, seconds, now()
    FROM json_to_recordset(CAST(:items AS json)) AS item
        (number int, uri text, status text, artifact_id uuid, error jsonb, seconds float8)
    ON CONFLICT (organization_id, job_id, number) DO UPDATE SET
        status = excluded.status, artifact_id = excluded.artifact_id, error = excluded.error,
        seconds = excluded.seconds
    """
)


class JobFilters(CreatedFilters, total=False):
    """Filters for the list of ingestion jobs; `status` contains one or more statuses."""

    status: list[str]
    kind: str
    connector_id: UUID


class ItemFilters(CreatedFilters, total=False):
    """Filters for the items of a job."""

    status: str


class ItemRow(NamedTuple):
    """An item to store: the outcome of a document. `error` has `code` and `message`."""

    number: int
    uri: str
    status: str
    artifact_id: UUID | None
    error: dict[str, str] | None
    seconds: float


def get(job_id: UUID) -> IngestionJob | None:
    """Return a job, or None if it does not exist."""
    return db.session().scalars(select(IngestionJob).where(IngestionJob.id == job_id)).first()


def get_status(job_id: UUID) -> str | None:
    """Return the current status of a job, or None if it does not exist."""
    return db.session().scalar(select(IngestionJob.status).where(IngestionJob.id == job_id))


def lock(job_id: UUID) -> IngestionJob | None:
    """Lock a job until the transaction ends and return it, or None if it does not exist."""
    statement = select(IngestionJob).where(IngestionJob.id == job_id).with_for_update()
    return db.session().execute(statement, execution_options={"populate_existing": True}).scalar()


def list_jobs(page: PageRequest, **filters: Unpack[JobFilters]) -> Page:
    """Return a page of the current organization's ingestion jobs that match the filters."""
    return paginate_records(IngestionJob, page, filters, source=JOBS)


def list_items(
    job: IngestionJob,
    page: PageRequest,
    *,
    status: str | None = None,
    created_after: datetime | None = None,
    created_before: datetime | None = None,
) -> Page:
    """Return a page of a job's items that match the filters."""
    item = IngestionItem
    conditions: list[ColumnElement[bool]] = [item.job_id == job.id]
    conditions += build_period_conditions(item.created_at, created_after, created_before)
    if status is not None:
        conditions.append(item.status == status)
    # The job stores the counts of its items, so a long list need not be counted.
    is_counted = created_after is None and created_before is None
    total = _build_total(job, status) if is_counted else None
    return paginate(
        select(item).where(*conditions),
        page,
        sort_columns={"number": item.number},
        unique=item.number,
        total=total,
    )


def _build_total(job: IngestionJob, status: str | None) -> ColumnElement[int]:
    total: ColumnElement[int]
    if status == ItemStatus.PROCESSING:
        counts: list[ColumnElement[int]] = [getattr(IngestionJob, name) for name in COUNT_NAMES[1:]]
        total = IngestionJob.found - sum(counts[1:], start=counts[0])
    else:
        total = getattr(IngestionJob, status or "found")
    # A crawl counts unchanged documents as skipped, but they have no items.
    if job.kind == JobKind.CRAWL and status in (None, ItemStatus.SKIPPED):
        total = total - IngestionJob.skipped
    where = (
        IngestionJob.organization_id == tenancy.current_organization_id(),
        IngestionJob.id == job.id,
    )
    return select(total).where(*where).scalar_subquery()


def save_items(job_id: UUID, items: Sequence[ItemRow]) -> None:
    """Save the outcomes of documents; a retry replaces outcomes of an earlier run."""
    if not items:
        return
    values = {
        "organization_id": tenancy.current_organization_id(),
        "job_id": job_id,
        "items": orjson.dumps([item._asdict() for item in items]).decode(),
    }
    db.session().execute(_SAVE_ITEMS, values)


def find_failed_numbers(job_id: UUID, first: int, last: int) -> set[int]:
    """Return the numbers of a job's failed documents from `first` to `last` (inclusive)."""
    statement = select(IngestionItem.number).where(
        IngestionItem.job_id == job_id,
        IngestionItem.status == ItemStatus.FAILED,
        IngestionItem.number.between(first, last),
    )
    return set(db.session().scalars(statement))


class JobDocument(NamedTuple):
    """A document of a job; `artifact_id` is None if no artifact was created for it."""

    number: int
    uri: str
    artifact_id: UUID | None


def list_documents(
    job_id: UUID, status: ItemStatus, *, first: int, last: int | None = None, limit: int
) -> list[JobDocument]:
    """Return at most `limit` documents with this status, sorted by number.

    Their numbers are at least `first`, and at most `last` if `last` is not None.
    """
    item = IngestionItem
    statement = select(item.number, item.uri, item.artifact_id).where(
        item.job_id == job_id, item.status == status, item.number >= first
    )
    if last is not None:
        statement = statement.where(item.number <= last)
    rows = db.session().execute(statement.order_by(item.number).limit(limit))
    return [JobDocument._make(row) for row in rows]


def find_active_extraction(source_job_id: UUID) -> IngestionJob | None:
    """Return the queued or running extraction of a source job, or None if there is none."""
    statement = select(IngestionJob).where(
        IngestionJob.kind == JobKind.EXTRACT,
        IngestionJob.status.in_(ACTIVE_STATUSES),
        IngestionJob.options["source_job_id"].astext == str(source_job_id),
    )
    return db.session().scalars(statement.limit(1)).first()


def list_active_crawl_ids(connector_id: UUID | None = None) -> list[UUID]:
    """Return the ids of the queued and running crawls of the current organization, sorted.

    If `connector_id` is not None, crawls of other connectors are omitted.
    """
    statement = select(IngestionJob.id).where(
        IngestionJob.kind == JobKind.CRAWL, IngestionJob.status.in_(ACTIVE_STATUSES)
    )
    if connector_id is not None:
        statement = statement.where(IngestionJob.connector_id == connector_id)
    return list(db.session().scalars(statement.order_by(IngestionJob.id)))


def has_processing_items(job_id: UUID) -> bool:
    """Return whether background jobs are still processing documents of an ingestion job."""
    statement = select(IngestionItem.number).where(
        IngestionItem.job_id == job_id, IngestionItem.status == ItemStatus.PROCESSING
    )
    return db.session().execute(statement.limit(1)).first() is not None


def list_organization_ids(after: UUID | None = None) -> list[UUID]:
    """Return the ids of all organizations in order, or only of those that follow the id `after`."""
    statement = select(Organization.id).order_by(Organization.id)
    if after is not None:
        statement = statement.where(Organization.id > after)
    return list(db.session().scalars(statement))


def find_source_keys(keys: Collection[str]) -> set[str]:
    """Return the storage keys in `keys` that belong to jobs of the current organization."""
    statement = select(IngestionJob.source_key).where(IngestionJob.source_key.in_(list(keys)))
    return {key for key in db.session().scalars(statement) if key is not None}


def lock_expired_jobs(retention: timedelta, limit: int) -> list[IngestionJob]:
    """Lock and return at most `limit` jobs with expired files.

    A file expires when its job ended more than `retention` ago. Jobs of all organizations are
    selected. Jobs that other transactions have locked are skipped.
    """
    statement = (
        select(IngestionJob)
        .where(
            IngestionJob.source_key.is_not(None), IngestionJob.finished_at < func.now() - retention
        )
        .order_by(IngestionJob.finished_at)
        .limit(limit)
        .with_for_update(skip_locked=True)
    )
    return list(db.session().execute(statement).scalars())
