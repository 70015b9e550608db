"""SQL queries for connector alerts."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import ColumnElement, func, select, text, update
from sqlalchemy.dialects.postgresql import insert

from app.intake.connectors.models import Connector, ConnectorAlert
from app.intake.connectors.queries import records
from app.kit import db, tenancy
from app.kit.pagination import CreatedFilters, Page, PageRequest, paginate, within


class AlertFilters(CreatedFilters, total=False):
    """Filters for a connector's alerts."""

    is_open: bool


def create(connector_id: UUID, kind: str, message: str, *, job_id: UUID | None) -> UUID | None:
    """Create an alert and return its id, or None if an alert of this `kind` is already open."""
    statement = (
        insert(ConnectorAlert)
        .values(
            organization_id=tenancy.current_organization_id(),
            connector_id=connector_id,
            kind=kind,
            message=message,
            ingestion_job_id=job_id,
        )
        .on_conflict_do_nothing(
            index_elements=["organization_id", "connector_id", "kind"],
            index_where=text("closed_at IS NULL"),
        )
        .returning(ConnectorAlert.id)
    )
    alert_id = db.session().execute(statement).scalar()
    if alert_id is not None:
        records.set_state(connector_id, open_alert_count=Connector.open_alert_count + 1)
    return alert_id


def close_all(connector_id: UUID) -> None:
    """Close all open alerts of a connector, and reset its count of open alerts."""
    statement = update(ConnectorAlert).where(
        ConnectorAlert.connector_id == connector_id, ConnectorAlert.closed_at.is_(None)
    )
    db.session().execute(statement.values(closed_at=func.now()))
    records.set_state(connector_id, open_alert_count=0)


def close(connector_id: UUID, kind: str) -> None:
    """Close a connector's open alert of a `kind`, if there is one."""
    statement = update(ConnectorAlert).where(
        ConnectorAlert.connector_id == connector_id,
        ConnectorAlert.kind == kind,
        ConnectorAlert.closed_at.is_(None),
    )
    closed = db.session().execute(
        statement.values(closed_at=func.now()).returning(ConnectorAlert.id)
    )
    if closed.first() is not None:
        records.set_state(connector_id, open_alert_count=Connector.open_alert_count - 1)


def get(connector_id: UUID, alert_id: UUID, *, lock: bool = False) -> ConnectorAlert | None:
    """Return an alert of a connector, or None if it does not exist.

    If `lock` is true, the row is locked until the transaction ends.
    """
    statement = select(ConnectorAlert).where(
        ConnectorAlert.connector_id == connector_id, ConnectorAlert.id == alert_id
    )
    if lock:
        statement = statement.with_for_update()
    return db.session().execute(statement).scalar_one_or_none()


def list_alerts(
    connector_id: UUID,
    page: PageRequest,
    *,
    is_open: bool | None = None,
    created_after: datetime | None = None,
    created_before: datetime | None = None,
) -> Page:
    """Return a page of a connector's alerts.

    `is_open` selects open alerts (true), closed alerts (false) or all alerts (None).
    """
    conditions: list[ColumnElement[bool]] = [ConnectorAlert.connector_id == connector_id]
    conditions += within(ConnectorAlert.created_at, created_after, created_before)
    if is_open is not None:
        closed = ConnectorAlert.closed_at
        conditions.append(closed.is_(None) if is_open else closed.is_not(None))
    return paginate(
        select(ConnectorAlert).where(*conditions),
        page,
        sorts={"created_at": ConnectorAlert.created_at},
        unique=ConnectorAlert.id,
    )
