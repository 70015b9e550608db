"""SQL that moves reviews that have become due within 24 hours to the front of the queue."""

from sqlalchemy import text

from app.kit import db

BATCH = 1000

# Locked rows are skipped until the next run, so that this never blocks.
_MOVE = text(
    """
    WITH due AS (
        SELECT organization_id, id FROM tag_sets
        WHERE due_at <= now() + interval '24 hours' AND status = 'submitted' AND review_rank >= 0
        ORDER BY due_at LIMIT :batch FOR NO KEY UPDATE SKIP LOCKED
    )
    UPDATE tag_sets SET
        review_rank = work_rank(document.priority, tag_sets.due_at, tag_sets.submitted_at)
    FROM due, artifacts document
    WHERE tag_sets.organization_id = due.organization_id AND tag_sets.id = due.id
      AND document.organization_id = due.organization_id AND document.id = tag_sets.artifact_id
    RETURNING 1
    """
)


def move() -> int:
    """Move at most BATCH reviews of all organizations and return how many."""
    return len(db.session().execute(_MOVE, {"batch": BATCH}).all())
