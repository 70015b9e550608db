"""SQL queries that purge old predictions, and delete the predictions of deleted schemas."""

from uuid import UUID

from sqlalchemy import text

from app.kit import bulk, db, tenancy
from app.kit.db import PositionCheckpoint
from app.workflow.predictions.queries.latest import build_replaced_condition

BATCH_SIZE = 5_000
"""The maximum number of predictions that one transaction reads."""
_START_POSITION = "-infinity 00000000-0000-0000-0000-000000000000"
# A failed prediction is kept while its document shows it: the document shows its newest prediction.
# The latest completed prediction is kept for each schema, because the document can get an earlier
# schema again.
_IS_REPLACED = f"""(
    predictions.status = 'failed' AND EXISTS (
        SELECT FROM predictions newer
        WHERE newer.organization_id = predictions.organization_id
          AND newer.artifact_id = predictions.artifact_id
          AND (newer.created_at, newer.id) > (predictions.created_at, predictions.id))
    OR predictions.status = 'completed' AND {build_replaced_condition("predictions")}
)"""
# Predictions that tag sets were started from are kept, too. Most old predictions are kept, so each
# batch continues after the predictions that were read.
_PURGE_BATCH = text(
    f"""
    WITH batch AS (
        SELECT organization_id, id, created_at FROM predictions
        WHERE created_at < now() - make_interval(days => :days)
          AND (created_at, id) > (CAST(:created_at AS timestamptz), CAST(:id AS uuid))
        ORDER BY created_at, id LIMIT :limit
    ), outdated AS (
        SELECT predictions.organization_id, predictions.id
        FROM batch JOIN predictions ON predictions.organization_id = batch.organization_id
         AND predictions.id = batch.id
        WHERE {_IS_REPLACED}
          AND NOT EXISTS (SELECT FROM tag_sets
                          WHERE tag_sets.organization_id = predictions.organization_id
                            AND tag_sets.artifact_id = predictions.artifact_id
                            AND tag_sets.prediction_id = predictions.id)
        FOR UPDATE OF predictions SKIP LOCKED
    ), deleted AS (
        DELETE FROM predictions USING outdated
        WHERE predictions.organization_id = outdated.organization_id
          AND predictions.id = outdated.id
        RETURNING predictions.id
    )
    SELECT created_at, id, (SELECT count(*) FROM deleted) AS deleted_count
    FROM batch ORDER BY created_at DESC, id DESC LIMIT 1
    """  # noqa: S608 - made of constants
)

# All code locks artifacts in the order of their ids.
_DELETE_BATCH = text(
    """
    WITH batch AS MATERIALIZED (
        SELECT id, artifact_id FROM predictions
        WHERE organization_id = :organization_id AND schema_id = :schema_id LIMIT :limit
    ), shown AS (
        SELECT document.id FROM batch JOIN artifacts document
          ON document.organization_id = :organization_id AND document.id = batch.artifact_id
         AND document.prediction ->> 'id' = CAST(batch.id AS text)
        ORDER BY document.id FOR NO KEY UPDATE OF document
    ), cleared AS (
        UPDATE artifacts SET prediction = NULL FROM shown
        WHERE artifacts.organization_id = :organization_id AND artifacts.id = shown.id
    )
    DELETE FROM predictions USING batch
    WHERE predictions.organization_id = :organization_id AND predictions.id = batch.id
    """
)


def delete_predictions_of_schema(schema_id: UUID) -> bool:
    """Delete at most `bulk.BATCH_SIZE` predictions of a schema; return whether all are deleted.

    Artifacts no longer show the deleted predictions.
    """
    values = {
        "organization_id": tenancy.current_organization_id(),
        "schema_id": schema_id,
        "limit": bulk.BATCH_SIZE,
    }
    result = db.session().execute(_DELETE_BATCH, values)
    return int(result.rowcount) < bulk.BATCH_SIZE  # type: ignore[attr-defined]


def purge_outdated(days: int, checkpoint: PositionCheckpoint, position: str | None = None) -> int:
    """Purge predictions that are older than `days` days, and return how many were deleted.

    Keeps queued predictions, the newest prediction of each artifact, its latest completed
    prediction for each schema, and predictions from which a tag set was started. Reads the
    predictions after `position` in batches, and calls `checkpoint` with the new position after each
    batch.
    """
    deleted_count = 0
    position = position or _START_POSITION
    while True:
        created_at, last_id = position.split()
        values = {"days": days, "created_at": created_at, "id": last_id, "limit": BATCH_SIZE}
        row = db.session().execute(_PURGE_BATCH, values).one_or_none()
        if row is None:
            return deleted_count
        deleted_count += row.deleted_count
        position = f"{row.created_at.isoformat()} {row.id}"
        checkpoint(position)
