"""SQL queries that release documents from routing.

Documents that wait for routing are parsed, `processing`, and have `routing_since` set.
"""

from collections.abc import Sequence
from datetime import timedelta
from typing import NamedTuple
from uuid import UUID

from sqlalchemy import TextClause, text

from app.documents.artifacts.emitted_events import (
    INGESTED_COLUMNS,
    IngestedPayload,
    build_ingested_payload,
)
from app.kit import db, tenancy

BATCH_SIZE = 1000
_FINISH = f"""
    UPDATE artifacts document SET status = 'ready', updated_at = now(),
        ingested_at = coalesce(waiting.ingested_at, now()){{more_changes}}
    FROM waiting
    WHERE document.organization_id = waiting.organization_id AND document.id = waiting.id
    RETURNING document.organization_id, waiting.ingested_at IS NULL AS is_first,
        document.id AS artifact_id,
        {", ".join(f"document.{column}" for column in INGESTED_COLUMNS)}
"""  # noqa: S608 - built from constants
# Locks rows in the order of their ids, as every statement that locks many rows does.
_FINISH_CHOSEN = text(
    f"""
    WITH waiting AS (
        SELECT organization_id, id, ingested_at FROM artifacts
        WHERE organization_id = :organization_id AND id = ANY (CAST(:ids AS uuid[]))
          AND status = 'processing' AND routing_since IS NOT NULL
        ORDER BY id FOR NO KEY UPDATE
    )
    {_FINISH.format(more_changes="")}
    """  # noqa: S608 - built from constants
)
# Rows locked by other transactions are left for the next run. If routing runs later, it still
# assigns documents whose `routing_since` was cleared.
_FINISH_DELAYED = text(
    f"""
    WITH waiting AS (
        SELECT organization_id, id, ingested_at FROM artifacts
        WHERE status = 'processing' AND routing_since < now() - :max_wait
        ORDER BY routing_since LIMIT :batch FOR NO KEY UPDATE SKIP LOCKED
    )
    {_FINISH.format(more_changes=", routing_since = NULL")}
    """  # noqa: S608 - built from constants
)


class FinishedArtifact(NamedTuple):
    """A document that became ready after routing, with the payload of `artifact.ingested`.

    `is_first` is true if the document was never ready before.
    """

    organization_id: UUID
    is_first: bool
    payload: IngestedPayload


def finish_routing(artifact_ids: Sequence[UUID]) -> list[FinishedArtifact]:
    """Finish the routing of documents: make waiting documents ready, and return them."""
    values = {
        "organization_id": tenancy.current_organization_id(),
        "ids": [str(artifact_id) for artifact_id in artifact_ids],
    }
    return _finish(_FINISH_CHOSEN, values)


def release_delayed_documents(max_wait: timedelta) -> list[FinishedArtifact]:
    """Make documents ready that have waited for routing longer than `max_wait`, without routing.

    Releases at most `BATCH_SIZE` documents of all organizations, and returns them.
    """
    return _finish(_FINISH_DELAYED, {"max_wait": max_wait, "batch": BATCH_SIZE})


def _finish(statement: TextClause, values: dict[str, object]) -> list[FinishedArtifact]:
    return [
        FinishedArtifact(
            row["organization_id"],
            row["is_first"],
            build_ingested_payload(row["artifact_id"], dict(row)),
        )
        for row in db.session().execute(statement, values).mappings()
    ]
