"""SQL query that stores the latest predictions of artifacts."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

import orjson
from sqlalchemy import text

from app.kit import db, tenancy

# Neither the revision nor the time of the last update changes: the document itself is unchanged.
_SET = text(
    """
    UPDATE artifacts SET prediction = new.value
    FROM jsonb_each(CAST(:predictions AS jsonb)) AS new (artifact_id, value)
    WHERE organization_id = :organization_id AND id = CAST(new.artifact_id AS uuid)
    """
)


def set_predictions(predictions: Mapping[UUID, dict[str, Any]]) -> None:
    """Set the predictions of locked artifacts.

    `predictions` maps artifact ids to predictions in the API's format.
    """
    if not predictions:
        return
    values = {str(artifact_id): prediction for artifact_id, prediction in predictions.items()}
    parameters = {
        "organization_id": tenancy.current_organization_id(),
        "predictions": orjson.dumps(values).decode(),
    }
    db.session().execute(_SET, parameters)
