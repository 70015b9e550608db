"""A port through which tag sets read predictions without importing the predictions feature."""

from collections.abc import Callable
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from app.kit.ports import Port


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
    """The functions that read predictions.

    `find_latest` receives the id of an artifact, and returns the latest completed prediction for
    its current schema. `find_schema_version_id` returns the id of the schema version for which a
    prediction was made. Both return None if there is no such prediction.
    """

    find_latest: Callable[[UUID], PredictedTags | None]
    find_schema_version_id: Callable[[UUID], UUID | None]


predictions = Port[Predictions]()
