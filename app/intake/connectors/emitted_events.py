"""Names and payloads of the events that connectors emit."""

from typing import TypedDict
from uuid import UUID

from app.kit.events import EventName


class AlertPayload(TypedDict):
    """The payload of `ALERT`, which webhooks receive: a connector raised an alert."""

    alert_id: UUID
    connector_id: UUID
    kind: str
    message: str
    ingestion_job_id: UUID | None


class AlertRaisedPayload(AlertPayload):
    """The payload of `ALERT_RAISED`, which is emitted together with `ALERT` for notifications."""

    connector_name: str


ALERT = EventName[AlertPayload]("connector.alert")
ALERT_RAISED = EventName[AlertRaisedPayload]("connector.alert_raised")
