"""Names and payloads of the events that connectors emit."""

from typing import TypedDict
from uuid import UUID

ALERT = "connector.alert"
ALERT_RAISED = "connector.alert_raised"


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
