"""A port through which tag sets read predictions without importing the predictions feature."""

from collections.abc import Callable
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID


class PredictedTags(NamedTuple):
    """A completed prediction with the proposed tags."""

    id: UUID
    artifact_id: UUID
    schema_id: UUID
    schema_version_id: UUID
    model: str | None
    model_version: str | None
    tags: list[dict[str, Any]]
    created_at: datetime
    completed_at: datetime | None


class Predictions(NamedTuple):
    """The functions that read predictions."""

    find_latest: Callable[[UUID], PredictedTags | None]
    find_schema_version_id: Callable[[UUID], UUID | None]


_bound_predictions: list[Predictions] = []


def bind_predictions(predictions: Predictions) -> None:
    """Bind the functions that read predictions."""
    _bound_predictions[:] = [predictions]


def find_latest_prediction(artifact_id: UUID) -> PredictedTags | None:
    """Return the latest completed prediction for an artifact and its current schema, or None."""
    return _bound_predictions[0].find_latest(artifact_id)


def find_schema_version_id(prediction_id: UUID) -> UUID | None:
    """Return the id of the schema version for which a prediction was made, or None."""
    return _bound_predictions[0].find_schema_version_id(prediction_id)
