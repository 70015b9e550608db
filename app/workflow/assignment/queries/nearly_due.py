"""SQL that marks artifacts that have become due within 24 hours."""

from sqlalchemy import text

from app.kit import db

BATCH = 1000

# Locked rows are skipped until the next run, so that marking never blocks.
_MARK = text(
    """
    WITH due AS (
        SELECT organization_id, id FROM artifacts
        WHERE due_at <= now() + interval '24 hours' AND NOT nearly_due AND NOT archived
          AND status IN ('ready', 'in_progress')
        ORDER BY due_at LIMIT :batch FOR NO KEY UPDATE SKIP LOCKED
    )
    UPDATE artifacts SET nearly_due = true FROM due
    WHERE artifacts.organization_id = due.organization_id AND artifacts.id = due.id
    RETURNING 1
    """
)


def mark() -> int:
    """Mark at most BATCH artifacts of all organizations and return how many."""
    return len(db.session().execute(_MARK, {"batch": BATCH}).all())
