"""SQL of who documents are assigned to."""

from uuid import UUID

from sqlalchemy import CursorResult, text

from app.kit import db, tenancy

BATCH = 1000

# Nobody waits long for a row: the next batch is another transaction. The documents are locked in
# the order of their ids, as by any other who takes many.
_UNASSIGN = text(
    """
    WITH theirs AS (
        SELECT id FROM artifacts WHERE organization_id = :org AND id IN (
            SELECT artifact_id FROM artifact_assignees
            WHERE organization_id = :org AND assignee_id = :assignee_id
            LIMIT :batch
        )
        ORDER BY id FOR NO KEY UPDATE
    )
    UPDATE artifacts SET updated_at = now(), assignees = coalesce((
        SELECT jsonb_agg(one ORDER BY place)
        FROM jsonb_array_elements(assignees) WITH ORDINALITY AS list (one, place)
        WHERE coalesce(one ->> 'team_id', one ->> 'user_id') <> CAST(:assignee_id AS text)
    ), '[]')
    FROM theirs WHERE organization_id = :org AND artifacts.id = theirs.id
    """
)


def unassign(assignee_id: UUID) -> int:
    """Take an assignee off some of their documents; how many, 0 when none is left."""
    values = {
        "org": tenancy.current_organization_id(),
        "assignee_id": assignee_id,
        "batch": BATCH,
    }
    done = db.session().execute(_UNASSIGN, values)
    assert isinstance(done, CursorResult)
    return done.rowcount
