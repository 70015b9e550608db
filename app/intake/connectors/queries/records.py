"""SQL queries that read, lock and update connectors."""

from datetime import timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import (
    ColumnElement,
    Row,
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
"""The time within which a crawl records a batch or a position if it makes progress."""
_ACTIVE_STATUS = "active"
_JOB_COLUMNS = (
    IngestionJob.status.label("job_status"),
    func.coalesce(IngestionJob.finished_at, IngestionJob.started_at, IngestionJob.created_at).label(
        "job_at"
    ),
    case((IngestionJob.status.in_(ACTIVE_STATUSES), IngestionJob.cursor)).label("cursor"),
)


class ConnectorFilters(CreatedFilters, total=False):
    """Filters for the list of connectors."""

    type: str
    enabled: bool


def _select_connectors() -> Select[Any]:
    """Select connectors with their last crawl."""
    return select(*Connector.__table__.columns, *_JOB_COLUMNS).outerjoin(
        IngestionJob, build_join(Connector.last_job_id, IngestionJob)
    )


def list_connectors(page: PageRequest, filters: ConnectorFilters) -> Page:
    """Return a page of connectors that match the filters, as rows with their last crawls."""
    conditions = build_filter_conditions(Connector, filters)
    sorts = {"created_at": Connector.created_at, "name": Connector.name}
    return paginate(_select_connectors().where(*conditions), page, sorts=sorts, unique=Connector.id)


def read(connector_id: UUID) -> Row[Any] | None:
    """Return a connector with its last crawl as a row, or None if it does not exist."""
    return db.session().execute(_select_connectors().where(Connector.id == connector_id)).first()


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
    """Lock and return at most `limit` connectors with a due crawl, in active organizations."""
    return _lock_overdue_connectors(Connector.next_crawl_at, limit)


def lock_stale_connectors(limit: int) -> list[Connector]:
    """Lock and return at most `limit` connectors that became stale, in active organizations.

    A connector whose crawl is making progress is not returned, because the crawl may succeed.
    """
    is_crawled = exists().where(
        build_join(Connector.last_job_id, IngestionJob),
        IngestionJob.status == JobStatus.RUNNING,
        IngestionJob.updated_at > func.now() - PROGRESS_PERIOD,
    )
    return _lock_overdue_connectors(Connector.stale_at, limit, ~is_crawled)


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
