"""A port through which tag sets read predictions without importing the predictions layer."""

from collections.abc import Callable
from datetime import datetime
from typing import Any, Protocol
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


FindLatest = Callable[[UUID], PredictedTags | None]
_bound_functions: list[FindLatest] = []


def bind_predictions(find_latest: FindLatest) -> None:
    """Bind the function that returns the latest completed prediction of an artifact, or None."""
    _bound_functions[:] = [find_latest]


def find_latest_prediction(artifact_id: UUID) -> PredictedTags | None:
    """Return the latest completed prediction of an artifact, or None."""
    return _bound_functions[0](artifact_id)
