"""SQL of documents that wait for the routing rules."""

from collections.abc import Sequence
from datetime import timedelta
from uuid import UUID

from sqlalchemy import text

from app.kit import db, tenancy

BATCH = 1000

# Locked in the order of their ids, as by any other statement that takes many.
_FINISH = text(
    """
    WITH waiting AS (
        SELECT id FROM artifacts
        WHERE organization_id = :organization_id AND id = ANY (CAST(:ids AS uuid[]))
          AND status = 'routing'
        ORDER BY id FOR NO KEY UPDATE
    )
    UPDATE artifacts SET status = 'ready', updated_at = now()
    FROM waiting WHERE artifacts.organization_id = :organization_id AND artifacts.id = waiting.id
    """
)
# Rows that somebody changes at this moment are left to the next run.
_FINISH_DELAYED = text(
    """
    WITH delayed AS (
        SELECT organization_id, id FROM artifacts
        WHERE status = 'routing' AND updated_at < now() - :max_wait
        ORDER BY updated_at LIMIT :batch FOR NO KEY UPDATE SKIP LOCKED
    )
    UPDATE artifacts SET status = 'ready', updated_at = now()
    FROM delayed
    WHERE artifacts.organization_id = delayed.organization_id AND artifacts.id = delayed.id
    """
)


def finish(artifact_ids: Sequence[UUID]) -> int:
    """Make those of the documents ready that wait for the rules; return how many."""
    values = {
        "organization_id": tenancy.current_organization_id(),
        "ids": [str(one) for one in artifact_ids],
    }
    return int(db.session().execute(_FINISH, values).rowcount)  # type: ignore[attr-defined]


def finish_delayed(max_wait: timedelta) -> int:
    """Make documents of every organization ready that have waited so long; return how many."""
    values = {"max_wait": max_wait, "batch": BATCH}
    return int(db.session().execute(_FINISH_DELAYED, values).rowcount)  # type: ignore[attr-defined]
