"""Alerts about problems with connectors, and suspension of schedules after repeated failures.

A successful crawl closes a connector's alerts.
"""

from typing import Unpack
from uuid import UUID

from app.engines.sources.model import HostErrorKind
from app.intake.connectors import emitted_events
from app.intake.connectors.emitted_events import AlertPayload, AlertRaisedPayload
from app.intake.connectors.models import AlertKind, Connector, ConnectorAlert
from app.intake.connectors.queries import alerts as queries
from app.intake.connectors.queries import records
from app.intake.connectors.queries.alerts import AlertFilters
from app.kit import db, errors, events
from app.kit.pagination import Page, PageRequest

MAX_CONSECUTIVE_FAILURES = 10
"""The number of consecutive failed crawls after which the schedule is suspended."""
_KINDS_BY_CODE = {
    HostErrorKind.UNREACHABLE.value: AlertKind.UNREACHABLE,
    HostErrorKind.CREDENTIALS_REFUSED.value: AlertKind.CREDENTIALS_REFUSED,
}


def record_failure(connector_id: UUID, code: str, message: str, *, job_id: UUID) -> None:
    """Record the failure of a crawl: count it, and raise an alert with the job's error.

    Too many consecutive failures suspend the schedule. Does nothing if the connector was deleted.
    """
    connector = records.lock(connector_id)
    if connector is None:
        return
    failure_count = connector.failures_in_a_row + 1
    records.set_state(connector_id, failures_in_a_row=failure_count)
    kind = _KINDS_BY_CODE.get(code, AlertKind.CRAWL_FAILED)
    raise_alert(connector, kind, message, job_id=job_id)
    if failure_count >= MAX_CONSECUTIVE_FAILURES and connector.next_crawl_at is not None:
        records.set_state(connector_id, next_crawl_at=None, stale_at=None)
        suspension_message = (
            f"The schedule is suspended after {failure_count} failed crawls in a row. It resumes"
            " after a successful crawl or an update of the connector."
        )
        raise_alert(connector, AlertKind.QUARANTINED, suspension_message, job_id=job_id)


def raise_alert(
    connector: Connector, kind: AlertKind, message: str, *, job_id: UUID | None
) -> None:
    """Raise an alert for a locked connector; emit `connector.alert` and `connector.alert_raised`.

    Does nothing if an alert of this `kind` is already open.
    """
    alert_id = queries.create(connector.id, kind.value, message, job_id=job_id)
    if alert_id is None:
        return
    payload: AlertPayload = {
        "alert_id": alert_id,
        "connector_id": connector.id,
        "kind": kind.value,
        "message": message,
        "ingestion_job_id": job_id,
    }
    events.emit(emitted_events.ALERT, payload)
    raised_payload: AlertRaisedPayload = {**payload, "connector_name": connector.name}
    events.emit(emitted_events.ALERT_RAISED, raised_payload)


def resume(connector: Connector) -> None:
    """Resume the schedule of a locked connector after an update.

    Closes the QUARANTINED alert, and resets the number of failures. The caller must have set the
    time of the next crawl. Does nothing if the schedule is not suspended.
    """
    if connector.next_crawl_at is None or connector.failures_in_a_row < MAX_CONSECUTIVE_FAILURES:
        return
    queries.close(connector.id, AlertKind.QUARANTINED.value)
    records.set_state(connector.id, failures_in_a_row=0)


def list_alerts(connector_id: UUID, *, page: PageRequest, **filters: Unpack[AlertFilters]) -> Page:
    """Return a page of a connector's alerts. Raises 404 if the connector does not exist."""
    errors.require_found(records.get(connector_id))
    return queries.list_alerts(connector_id, page, filters)


def acknowledge(connector_id: UUID, alert_id: UUID, *, user_id: UUID | None) -> ConnectorAlert:
    """Record the first user who acknowledges an alert. Raises 404 if the alert does not exist."""
    alert = errors.require_found(queries.lock(connector_id, alert_id))
    if alert.acknowledged_at is None:
        alert.acknowledged_by, alert.acknowledged_at = user_id, db.utc_now()
        db.session().flush()
    return alert
