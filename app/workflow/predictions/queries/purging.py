"""SQL queries that purge old predictions."""

from sqlalchemy import text

from app.kit import db
from app.kit.db import PositionCheckpoint

BATCH_SIZE = 5_000
"""The maximum number of predictions that one transaction reads."""
_START = "-infinity 00000000-0000-0000-0000-000000000000"
# A document's latest prediction is kept, and so are predictions that tag sets were started from.
# Most old predictions are kept, so each batch continues after the predictions that were read.
_PURGE_BATCH = text(
    """
    WITH batch AS (
        SELECT organization_id, id, created_at FROM predictions
        WHERE created_at < now() - make_interval(days => :days)
          AND (created_at, id) > (CAST(:created_at AS timestamptz), CAST(:id AS uuid))
        ORDER BY created_at, id LIMIT :limit
    ), outdated AS (
        SELECT predictions.organization_id, predictions.id
        FROM batch JOIN predictions ON predictions.organization_id = batch.organization_id
         AND predictions.id = batch.id
        WHERE predictions.status <> 'queued'
          AND EXISTS (SELECT FROM predictions newer
                      WHERE newer.organization_id = predictions.organization_id
                        AND newer.artifact_id = predictions.artifact_id
                        AND (newer.created_at, newer.id) > (predictions.created_at, predictions.id))
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
    """
)


def purge_outdated(days: int, checkpoint: PositionCheckpoint, position: str | None = None) -> int:
    """Purge predictions that are older than `days` days, and return how many were deleted.

    Keeps queued predictions, the latest prediction of each artifact, and predictions from which a
    tag set was started. Reads the predictions after `position` in batches, and calls `checkpoint`
    with the new position after each batch.
    """
    deleted_count = 0
    position = position or _START
    while True:
        created_at, last_id = position.split()
        values = {"days": days, "created_at": created_at, "id": last_id, "limit": BATCH_SIZE}
        row = db.session().execute(_PURGE_BATCH, values).one_or_none()
        if row is None:
            return deleted_count
        deleted_count += row.deleted_count
        position = f"{row.created_at.isoformat()} {row.id}"
        checkpoint(position)
