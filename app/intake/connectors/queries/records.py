"""SQL queries that read, lock and update connectors."""

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import (
    ColumnElement,
    Select,
    case,
    exists,
    func,
    select,
    update,
)

from app.identity.organizations.models import Organization
from app.intake.connectors.models import Connector
from app.intake.ingestion_jobs.models import IngestionJob
from app.intake.ingestion_jobs.statuses import ACTIVE_STATUSES, JobStatus
from app.kit import db
from app.kit.pagination import Column, CreatedFilters, Page, PageRequest, paginate
from app.kit.periods import build_filter_conditions
from app.kit.tenancy import build_join

PROGRESS_PERIOD = timedelta(hours=2)
"""A running crawl makes progress if its job was updated within this period."""
_ACTIVE_STATUS = "active"
_CRAWLED_AT = func.coalesce(
    IngestionJob.finished_at, IngestionJob.started_at, IngestionJob.created_at
)


class LastCrawl(NamedTuple):
    """The last crawl of a connector. `at` is when it ended or, before that, began or was queued."""

    job_id: UUID
    status: str
    at: datetime


class ConnectorRow(NamedTuple):
    """A connector with its last crawl.

    `cursor` is the path up to which that crawl has handled documents; None if the crawl has ended.
    """

    id: UUID
    name: str
    type: str
    settings: dict[str, Any]
    stored_secrets: list[str]
    schema_id: UUID | None
    enabled: bool
    schedule: str | None
    next_crawl_at: datetime | None
    include_patterns: list[str]
    exclude_patterns: list[str]
    open_alert_count: int
    cursor: str | None
    created_by: UUID | None
    created_at: datetime
    updated_at: datetime
    revision: int
    last_crawl: LastCrawl | None


class ConnectorFilters(CreatedFilters, total=False):
    """Filters for the list of connectors."""

    type: str
    enabled: bool


def _select_connectors() -> Select[Any]:
    """Build a SELECT for connectors with their last crawl."""
    cursor = case((IngestionJob.status.in_(ACTIVE_STATUSES), IngestionJob.cursor))
    columns = db.build_columns(ConnectorRow._fields[:-1], Connector, cursor=cursor)
    crawl_columns = (Connector.last_job_id, IngestionJob.status, _CRAWLED_AT.label("crawled_at"))
    return (
        select(*columns, *crawl_columns)
        .select_from(Connector)
        .outerjoin(IngestionJob, build_join(Connector.last_job_id, IngestionJob))
    )


def _build_row(columns: Iterable[Any]) -> ConnectorRow:
    *values, job_id, status, crawled_at = columns
    last_crawl = None if status is None else LastCrawl(job_id, status, crawled_at)
    return ConnectorRow._make([*values, last_crawl])


def list_connectors(page: PageRequest, filters: ConnectorFilters) -> Page:
    """Return a page of connectors that match the filters, as `ConnectorRow`s."""
    conditions = build_filter_conditions(Connector, filters)
    sort_columns = {"created_at": Connector.created_at, "name": Connector.name}
    statement = _select_connectors().where(*conditions)
    rows_page = paginate(statement, page, sort_columns=sort_columns, unique=Connector.id)
    return replace(rows_page, items=list(map(_build_row, rows_page.items)))


def find_row(connector_id: UUID) -> ConnectorRow | None:
    """Return a connector with its last crawl, or None if it does not exist."""
    statement = _select_connectors().where(Connector.id == connector_id)
    row = db.session().execute(statement).one_or_none()
    return None if row is None else _build_row(row)


def get(connector_id: UUID) -> Connector | None:
    """Return the current state of a connector, or None if it does not exist."""
    return _get(select(Connector).where(Connector.id == connector_id))


def lock(connector_id: UUID) -> Connector | None:
    """Lock a connector until the transaction ends and return it, or None if it does not exist."""
    statement = select(Connector).where(Connector.id == connector_id)
    return _get(statement.with_for_update(key_share=True))


def _get(statement: Select[Connector]) -> Connector | None:
    # A crawl keeps its session for hours, and the connector may change meanwhile.
    options = {"populate_existing": True}
    return db.session().execute(statement, execution_options=options).scalar_one_or_none()


def get_settings(connector_id: UUID) -> dict[str, Any] | None:
    """Return the current settings of a connector, or None if it does not exist."""
    return db.session().scalar(select(Connector.settings).where(Connector.id == connector_id))


def set_state(connector_id: UUID, **state: object) -> None:
    """Update columns that users do not edit; keep the revision and the time of the last update."""
    statement = update(Connector).where(Connector.id == connector_id)
    state["updated_at"] = Connector.updated_at
    db.session().execute(statement.values(state))


def clear_schema(schema_id: UUID) -> None:
    """Remove a schema from all connectors; keep their revisions and times of the last update."""
    statement = update(Connector).where(Connector.schema_id == schema_id)
    db.session().execute(statement.values(schema_id=None, updated_at=Connector.updated_at))


def lock_due_connectors(limit: int) -> list[Connector]:
    """Lock and return the connectors in active organizations whose crawls are due.

    Returns at most `limit` connectors, the most overdue first. Skips connectors that other
    transactions have locked.
    """
    return _lock_overdue_connectors(Connector.next_crawl_at, limit)


def lock_stale_connectors(limit: int) -> list[Connector]:
    """Lock and return the connectors in active organizations that became stale.

    Returns at most `limit` connectors, the earliest `stale_at` first. Skips connectors that other
    transactions have locked. A connector whose crawl is making progress is not returned, because
    the crawl may succeed.
    """
    is_being_crawled = exists().where(
        build_join(Connector.last_job_id, IngestionJob),
        IngestionJob.status == JobStatus.RUNNING,
        IngestionJob.updated_at > func.now() - PROGRESS_PERIOD,
    )
    return _lock_overdue_connectors(Connector.stale_at, limit, ~is_being_crawled)


def _lock_overdue_connectors(
    time_column: Column, limit: int, *conditions: ColumnElement[bool]
) -> list[Connector]:
    statement = (
        select(Connector)
        .join(Organization, Organization.id == Connector.organization_id)
        .where(time_column <= func.now(), Organization.status == _ACTIVE_STATUS, *conditions)
        .order_by(time_column)
        .limit(limit)
        .with_for_update(of=Connector, skip_locked=True, key_share=True)
    )
    return list(db.session().execute(statement).scalars())
