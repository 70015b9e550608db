"""SQL queries for connector alerts."""

from uuid import UUID

from sqlalchemy import ColumnElement, func, select, text, update
from sqlalchemy.dialects.postgresql import insert

from app.intake.connectors.models import Connector, ConnectorAlert
from app.intake.connectors.queries import records
from app.kit import db, tenancy
from app.kit.pagination import CreatedFilters, Page, PageRequest, build_period_conditions, paginate
from app.kit.periods import get_created_bounds


class AlertFilters(CreatedFilters, total=False):
    """Filters for a connector's alerts."""

    is_open: bool


def create(connector_id: UUID, kind: str, message: str, *, job_id: UUID | None) -> UUID | None:
    """Create an alert, increase the connector's `open_alert_count`, and return the alert's id.

    Returns None, and changes nothing, if an alert of this `kind` is already open.
    """
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


def close(connector_id: UUID, kind: str | None = None) -> None:
    """Close all open alerts of a connector, or only one `kind`; decrease its `open_alert_count`."""
    statement = update(ConnectorAlert).where(
        ConnectorAlert.connector_id == connector_id, ConnectorAlert.closed_at.is_(None)
    )
    if kind is not None:
        statement = statement.where(ConnectorAlert.kind == kind)
    close_statement = statement.values(closed_at=func.now()).returning(ConnectorAlert.id)
    if closed_ids := db.session().scalars(close_statement).all():
        count = Connector.open_alert_count - len(closed_ids)
        records.set_state(connector_id, open_alert_count=count)


def lock(connector_id: UUID, alert_id: UUID) -> ConnectorAlert | None:
    """Lock and return an alert of a connector, or return None if it does not exist."""
    statement = select(ConnectorAlert).where(
        ConnectorAlert.connector_id == connector_id, ConnectorAlert.id == alert_id
    )
    return db.session().execute(statement.with_for_update()).scalar_one_or_none()


def list_alerts(connector_id: UUID, page: PageRequest, filters: AlertFilters) -> Page:
    """Return a page of a connector's alerts.

    `is_open` selects open alerts if it is true, and closed alerts if it is false.
    """
    conditions: list[ColumnElement[bool]] = [ConnectorAlert.connector_id == connector_id]
    conditions += build_period_conditions(ConnectorAlert.created_at, *get_created_bounds(filters))
    if "is_open" in filters:
        closed_at = ConnectorAlert.closed_at
        conditions.append(closed_at.is_(None) if filters["is_open"] else closed_at.is_not(None))
    return paginate(
        select(ConnectorAlert).where(*conditions),
        page,
        sort_columns={"created_at": ConnectorAlert.created_at},
        unique=ConnectorAlert.id,
    )
