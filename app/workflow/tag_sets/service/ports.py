"""Functions that tag sets need from predictions, a higher layer which they may not import."""

from collections.abc import Callable
from datetime import datetime
from typing import Any, Protocol
from uuid import UUID


class PredictedTags(Protocol):
    """The columns of a completed prediction that tag sets read."""

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


FindLatest = Callable[[UUID], PredictedTags | None]
_bound: list[FindLatest] = []


def bind_predictions(find_latest: FindLatest) -> None:
    """Set the function that returns the latest completed prediction of an artifact, or None."""
    _bound[:] = [find_latest]


def find_latest_prediction(artifact_id: UUID) -> PredictedTags | None:
    """Return the latest completed prediction of an artifact, or None."""
    return _bound[0](artifact_id)
