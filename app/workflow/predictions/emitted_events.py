"""Names and payloads of the events that predictions emit."""

from typing import TypedDict
from uuid import UUID

from app.kit.events import EventName


class EndedPayload(TypedDict):
    """The payload of `ENDED`: a prediction was completed or failed, according to `status`."""

    prediction_id: UUID
    artifact_id: UUID
    schema_id: UUID
    schema_version_id: UUID
    status: str
    model: str | None
    model_version: str | None
    ingestion_job_id: UUID | None


class TrainedPayload(TypedDict):
    """The payload of `TRAINED`: a model was trained and, if `state` is `active`, activated."""

    model_id: UUID
    schema_id: UUID
    schema_version_id: UUID
    version: str
    state: str


ENDED = EventName[EndedPayload]("prediction.ended")
TRAINED = EventName[TrainedPayload]("extraction_model.trained")
