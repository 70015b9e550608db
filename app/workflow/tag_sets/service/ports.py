"""A port through which tag sets read predictions without importing the predictions feature."""

from collections.abc import Callable
from datetime import datetime
from typing import Any, NamedTuple, Protocol
from uuid import UUID


class PredictedTags(Protocol):
    """A completed prediction, reduced to the columns that this package uses."""

    @property
    def id(self) -> UUID:
        """The prediction's id."""

    @property
    def artifact_id(self) -> UUID:
        """The artifact's id."""

    @property
    def schema_id(self) -> UUID:
        """The schema's id."""

    @property
    def schema_version_id(self) -> UUID:
        """The schema version's id."""

    @property
    def model(self) -> str | None:
        """The name of the model."""

    @property
    def model_version(self) -> str | None:
        """The version of the model."""

    @property
    def tags(self) -> list[dict[str, Any]]:
        """The proposed tags."""

    @property
    def created_at(self) -> datetime:
        """When the prediction was requested."""

    @property
    def completed_at(self) -> datetime | None:
        """When the prediction was completed."""


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
