"""SQL of documents that wait for the routing rules: read, with `routing_since`, not ready yet."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import Row, text

from app.documents.artifacts.queries.columns import INGESTED
from app.kit import db, tenancy

BATCH = 1000

_FINISH = f"""
    UPDATE artifacts document SET status = 'ready', updated_at = now(),
        ingested_at = coalesce(waiting.ingested_at, now()){{also}}
    FROM waiting
    WHERE document.organization_id = waiting.organization_id AND document.id = waiting.id
    RETURNING document.organization_id, waiting.ingested_at IS NULL AS is_first,
        document.id AS artifact_id,
        {", ".join(f"document.{column}" for column in INGESTED)}
"""  # noqa: S608 - made of constants
# Locked in the order of their ids, as by any other statement that takes many.
_FINISH_CHOSEN = text(
    f"""
    WITH waiting AS (
        SELECT organization_id, id, ingested_at FROM artifacts
        WHERE organization_id = :organization_id AND id = ANY (CAST(:ids AS uuid[]))
          AND status = 'processing' AND routing_since IS NOT NULL
        ORDER BY id FOR NO KEY UPDATE
    )
    {_FINISH.format(also="")}
    """  # noqa: S608 - made of constants
)
# Rows that somebody changes at this moment are left to the next run. Without `routing_since` the
# rules still take the document when they come to it.
_FINISH_DELAYED = text(
    f"""
    WITH waiting AS (
        SELECT organization_id, id, ingested_at FROM artifacts
        WHERE status = 'processing' AND routing_since < now() - :max_wait
        ORDER BY routing_since LIMIT :batch FOR NO KEY UPDATE SKIP LOCKED
    )
    {_FINISH.format(also=", routing_since = NULL")}
    """  # noqa: S608 - made of constants
)


def finish(artifact_ids: Sequence[UUID]) -> Sequence[Row[Any]]:
    """Make those of the documents ready that wait for the rules; return their rows.

    A row has `organization_id`, `is_first` (whether the document was never ready before) and the
    payload of `artifact.ingested`.
    """
    values = {
        "organization_id": tenancy.current_organization_id(),
        "ids": [str(one) for one in artifact_ids],
    }
    return db.session().execute(_FINISH_CHOSEN, values).all()


def finish_delayed(max_wait: timedelta) -> Sequence[Row[Any]]:
    """Make documents of every organization ready that have waited so long; return their rows."""
    return db.session().execute(_FINISH_DELAYED, {"max_wait": max_wait, "batch": BATCH}).all()
