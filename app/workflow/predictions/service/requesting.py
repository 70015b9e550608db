"""Requests for predictions: validation of the requests, and queueing of the predictions."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from app.documents.artifacts.models.documents import ArtifactRow
from app.documents.artifacts.service import reading, updating
from app.documents.artifacts.statuses import ArtifactStatus
from app.kit import errors, jobs, plan_limits, tenancy
from app.kit.errors import ApiError
from app.kit.plan_limits import Meter
from app.schemas.artifact_schemas.service import versions as schemas
from app.workflow.predictions.models import Prediction, PredictionStatus
from app.workflow.predictions.queries import records
from app.workflow.predictions.queries.records import NewPrediction
from app.workflow.predictions.service.documents import count_predicted_pages

BUILTIN_JOB = "predictions.predict"
SERVER_JOB = "predictions.ask_model_server"
"""The name of the job that uses a model server. A slow server must not block other predictions, so
the job has a separate queue."""


class QueueOutcome(NamedTuple):
    """The outcome of a request to predict one document's tags: a queued prediction, or an error.

    `error` contains the error's code and message. Either `prediction_id` or `error` is None.
    """

    artifact_id: UUID
    prediction_id: UUID | None
    error: dict[str, str] | None


def request(artifact_id: UUID, *, requested_by: UUID | None) -> Prediction:
    """Request a prediction for a document; return the new or the already queued prediction.

    Raises 404; 402 `plan_limit_reached`; 409 `conflict` with `details.state` (of the artifact or
    its schema) or `details.missing` (`schema` or `ai_assist`).
    """
    artifact = reading.lock(artifact_id)
    queued_prediction = records.find_queued(artifact_id)
    if queued_prediction is not None:
        return queued_prediction
    new_prediction = _build_new_prediction(artifact)
    plan_limits.reserve(Meter.AI_PAGES, count_predicted_pages(artifact.page_count))
    ids = _queue_predictions([new_prediction], requested_by=requested_by, ingestion_job_id=None)
    prediction = records.find(ids[artifact_id])
    assert prediction is not None
    return prediction


def request_many(
    artifact_ids: Sequence[UUID], *, requested_by: UUID | None, ingestion_job_id: UUID
) -> list[QueueOutcome]:
    """Request predictions for documents, and return the outcomes in the order of `artifact_ids`.

    If a document already has a queued prediction, the outcome has the id of that prediction.
    """
    outcomes: dict[UUID, QueueOutcome] = {}
    new_predictions: list[NewPrediction] = []
    page_counts: dict[UUID, int] = {}
    for artifact_id in sorted(set(artifact_ids)):  # All code locks artifacts in the order of ids.
        try:
            artifact = reading.lock(artifact_id)
            queued_prediction = records.find_queued(artifact_id)
            if queued_prediction is not None:
                outcomes[artifact_id] = QueueOutcome(artifact_id, queued_prediction.id, None)
                continue
            new_predictions.append(_build_new_prediction(artifact))
            page_counts[artifact_id] = count_predicted_pages(artifact.page_count)
        except ApiError as error:
            outcomes[artifact_id] = _build_error_outcome(artifact_id, error)
    # The pages are reserved after the artifacts are locked, as in a single request.
    allowance = plan_limits.open_allowance(Meter.AI_PAGES)
    allowed_predictions = []
    for prediction in new_predictions:
        artifact_id = prediction.artifact_id
        try:
            allowance.add_usage({Meter.AI_PAGES: page_counts[artifact_id]})
            allowed_predictions.append(prediction)
        except ApiError as error:
            outcomes[artifact_id] = _build_error_outcome(artifact_id, error)
    ids = _queue_predictions(
        allowed_predictions, requested_by=requested_by, ingestion_job_id=ingestion_job_id
    )
    outcomes |= {
        artifact_id: QueueOutcome(artifact_id, prediction_id, None)
        for artifact_id, prediction_id in ids.items()
    }
    return [outcomes[artifact_id] for artifact_id in artifact_ids]


def _build_error_outcome(artifact_id: UUID, error: ApiError) -> QueueOutcome:
    return QueueOutcome(artifact_id, None, {"code": error.code, "message": error.message})


def _build_new_prediction(artifact: ArtifactRow) -> NewPrediction:
    if artifact.archived or artifact.status in (ArtifactStatus.PROCESSING, ArtifactStatus.FAILED):
        state = "archived" if artifact.archived else artifact.status
        message = f"The tags of the artifact cannot be predicted; its state is {state}."
        raise errors.conflict(message, state=state)
    if artifact.schema_id is None:
        message = "The artifact has no schema; assign a schema first."
        raise errors.conflict(message, missing="schema")
    version = schemas.get_active_version(artifact.schema_id)
    if not records.is_ai_assisted(artifact.schema_id):
        message = "AI assistance is turned off for the schema; enable it first."
        raise errors.conflict(message, missing="ai_assist")
    return NewPrediction(artifact.id, version.schema_id, version.id)


def choose_job() -> str:
    """Choose the job that runs the current organization's predictions, and return its name."""
    return BUILTIN_JOB if records.get_provider().kind == "builtin" else SERVER_JOB


def enqueue_prediction(prediction_id: UUID, *, due_at: datetime | None = None) -> None:
    """Enqueue another job for a queued prediction; the current settings determine which job.

    The job is due at `due_at`, or immediately if `due_at` is None.
    """
    jobs.enqueue(
        choose_job(),
        {"prediction_id": str(prediction_id)},
        organization_id=tenancy.current_organization_id(),
        due_at=due_at,
    )


def _queue_predictions(
    predictions: list[NewPrediction], *, requested_by: UUID | None, ingestion_job_id: UUID | None
) -> dict[UUID, UUID]:
    ids = records.insert_queued(
        predictions, requested_by=requested_by, ingestion_job_id=ingestion_job_id
    )
    organization_id = tenancy.current_organization_id()
    jobs.enqueue_many(
        choose_job(),
        [
            (organization_id, {"prediction_id": str(prediction_id)})
            for prediction_id in ids.values()
        ],
    )
    updating.set_predictions(
        {
            artifact_id: {
                "id": str(prediction_id),
                "status": PredictionStatus.QUEUED.value,
                "model_version": None,
                "error": None,
            }
            for artifact_id, prediction_id in ids.items()
        }
    )
    return ids
