"""SQL queries that store the outcomes of documents that other jobs process."""

from collections.abc import Sequence
from uuid import UUID

from sqlalchemy import text

from app.intake.ingestion_jobs.statuses import JobKind
from app.kit import db, tenancy

# A document that waits for the routing rules has been parsed. A document that was deleted meanwhile
# counts as created.
_SETTLE_ITEMS = text(
    """
    WITH settled AS (
        UPDATE ingestion_items item SET
            status = CASE WHEN parsed.status = 'failed' THEN 'failed' ELSE 'created' END,
            error = CASE WHEN parsed.status = 'failed' THEN parsed.failure END
        FROM ingestion_items pending
        LEFT JOIN artifacts parsed ON parsed.organization_id = pending.organization_id
         AND parsed.id = pending.artifact_id
        WHERE pending.organization_id = :organization_id AND pending.job_id = :job_id
          AND pending.status = 'processing'
          AND (parsed.status IS DISTINCT FROM 'processing' OR parsed.routing_since IS NOT NULL)
          AND item.organization_id = pending.organization_id AND item.job_id = pending.job_id
          AND item.number = pending.number
        RETURNING item.status
    )
    SELECT count(*) FILTER (WHERE status = 'created'), count(*) FILTER (WHERE status = 'failed')
    FROM settled
    """
)
# A document has at most one pending prediction, and shows its latest prediction. It shows no
# prediction if the latest prediction was deleted with its schema.
_SETTLE_EXTRACTIONS = """
    WITH settled AS (
        UPDATE ingestion_items item SET
            status = CASE WHEN document.prediction ->> 'status' = 'completed'
                     THEN 'created' ELSE 'failed' END,
            error = CASE WHEN document.id IS NULL
                    THEN '{{"code": "not_found", "message": "The artifact was deleted."}}'
                    WHEN document.prediction IS NULL
                    THEN '{{"code": "schema_deleted", "message": "The schema was deleted."}}'
                    WHEN document.prediction ->> 'status' = 'failed'
                    THEN document.prediction -> 'error' END,
            seconds = extract(epoch FROM clock_timestamp() - item.created_at)
        FROM ingestion_items pending
        LEFT JOIN artifacts document ON document.organization_id = pending.organization_id
         AND document.id = pending.artifact_id
        WHERE pending.organization_id = :organization_id AND pending.job_id = :job_id
          AND pending.status = 'processing'
          AND document.prediction ->> 'status' IS DISTINCT FROM 'queued' {condition}
          AND item.organization_id = pending.organization_id AND item.job_id = pending.job_id
          AND item.number = pending.number
        RETURNING item.status
    )
    SELECT count(*) FILTER (WHERE status = 'created'), count(*) FILTER (WHERE status = 'failed')
    FROM settled
    """
_SETTLE_ALL_EXTRACTIONS = text(_SETTLE_EXTRACTIONS.format(condition=""))
_SETTLE_EXTRACTIONS_OF_DOCUMENTS = text(
    _SETTLE_EXTRACTIONS.format(condition="AND pending.artifact_id = ANY (CAST(:ids AS uuid[]))")
)
_LIST_WAITING = text(
    """
    SELECT DISTINCT job.id
    FROM ingestion_items item
    JOIN ingestion_jobs job ON job.organization_id = item.organization_id AND job.id = item.job_id
    WHERE item.organization_id = :organization_id AND item.status = 'processing'
      AND item.artifact_id = ANY (CAST(:ids AS uuid[])) AND job.kind = 'extract'
    ORDER BY job.id
    """
)


def find_waiting_extractions(artifact_ids: Sequence[UUID]) -> list[UUID]:
    """Return the sorted ids of extractions that are waiting for any of the documents."""
    values = {
        "organization_id": tenancy.current_organization_id(),
        "ids": [str(artifact_id) for artifact_id in artifact_ids],
    }
    return list(db.session().scalars(_LIST_WAITING, values))


def settle_items(
    job_id: UUID, kind: str, artifact_ids: Sequence[UUID] | None = None
) -> tuple[int, int]:
    """Store the outcomes of a job's items whose processing has ended.

    Processing ends with the prediction in an extraction, and with the parsing in other jobs.
    `artifact_ids` limits the call to the items of these documents, and is only allowed for
    extractions; None selects all items. Returns how many items succeeded and how many failed.
    """
    values: dict[str, object] = {
        "organization_id": tenancy.current_organization_id(),
        "job_id": job_id,
    }
    statement = _SETTLE_ALL_EXTRACTIONS if kind == JobKind.EXTRACT else _SETTLE_ITEMS
    if artifact_ids is not None:
        statement = _SETTLE_EXTRACTIONS_OF_DOCUMENTS
        values["ids"] = [str(artifact_id) for artifact_id in artifact_ids]
    succeeded_count, failed_count = db.session().execute(statement, values).one()
    return int(succeeded_count), int(failed_count)
