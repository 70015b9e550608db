"""Names and payloads of the events that predictions emit."""

from typing import TypedDict
from uuid import UUID

ENDED = "prediction.ended"
TRAINED = "extraction_model.trained"


class EndedPayload(TypedDict):
    """The payload of `ENDED`: a prediction was completed or has failed; see `status`."""

    prediction_id: UUID
    artifact_id: UUID
    schema_id: UUID
    schema_version_id: UUID
    status: str
    model: str | None
    model_version: str | None
    ingestion_job_id: UUID | None


class TrainedPayload(TypedDict):
    """The payload of `TRAINED`: a model was trained. If `state` is `active`, it was activated."""

    model_id: UUID
    schema_id: UUID
    schema_version_id: UUID
    version: str
    state: str
