"""SQL queries that store the outcomes of documents that other jobs process."""

from collections.abc import Mapping, Sequence
from uuid import UUID

from sqlalchemy import TextClause, text

from app.intake.ingestion_jobs.models import IngestionJob
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
# prediction if the latest prediction was deleted with its schema. The items of a retry keep their
# creation time, so their seconds count from the start of the retry.
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
            seconds = extract(epoch FROM clock_timestamp()
                              - greatest(item.created_at, CAST(:started_at AS timestamptz)))
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
# A document that waits for the routing rules has been parsed.
_SETTLE_REPROCESSED = """
    WITH settled AS (
        UPDATE ingestion_items item SET
            status = CASE WHEN parsed.id IS NULL OR parsed.status = 'failed'
                     THEN 'failed' ELSE 'created' END,
            error = CASE WHEN parsed.id IS NULL
                    THEN '{{"code": "not_found", "message": "The artifact was deleted."}}'
                    WHEN parsed.status = 'failed' THEN parsed.failure END,
            seconds = extract(epoch FROM clock_timestamp()
                              - greatest(item.created_at, CAST(:started_at AS timestamptz)))
        FROM ingestion_items pending
        LEFT JOIN artifacts parsed ON parsed.organization_id = pending.organization_id
         AND parsed.id = pending.artifact_id
        WHERE pending.organization_id = :organization_id AND pending.job_id = :job_id
          AND pending.status = 'processing'
          AND (parsed.status IS DISTINCT FROM 'processing' OR parsed.routing_since IS NOT NULL)
          {condition}
          AND item.organization_id = pending.organization_id AND item.job_id = pending.job_id
          AND item.number = pending.number
        RETURNING item.status
    )
    SELECT count(*) FILTER (WHERE status = 'created'), count(*) FILTER (WHERE status = 'failed')
    FROM settled
    """
_OF_DOCUMENTS = "AND pending.artifact_id = ANY (CAST(:ids AS uuid[]))"
_STATEMENTS: Mapping[str, tuple[TextClause, TextClause]] = {
    kind: (text(sql.format(condition="")), text(sql.format(condition=_OF_DOCUMENTS)))
    for kind, sql in (
        (JobKind.EXTRACT, _SETTLE_EXTRACTIONS),
        (JobKind.REPROCESS, _SETTLE_REPROCESSED),
    )
}
"""The statements that settle all items of a job, or only the items of some documents."""
_LIST_WAITING = text(
    """
    SELECT DISTINCT job.id
    FROM ingestion_items item
    JOIN ingestion_jobs job ON job.organization_id = item.organization_id AND job.id = item.job_id
    WHERE item.organization_id = :organization_id AND item.status = 'processing'
      AND item.artifact_id = ANY (CAST(:ids AS uuid[])) AND job.kind = ANY (CAST(:kinds AS text[]))
    ORDER BY job.id
    """
)


def find_waiting_jobs(kinds: Sequence[str], artifact_ids: Sequence[UUID]) -> list[UUID]:
    """Return the sorted ids of the jobs of these kinds that wait for any of the documents."""
    values = {
        "organization_id": tenancy.current_organization_id(),
        "kinds": list(kinds),
        "ids": [str(artifact_id) for artifact_id in artifact_ids],
    }
    return list(db.session().scalars(_LIST_WAITING, values))


def has_waiting_job(kind: str, artifact_id: UUID) -> bool:
    """Return whether a job of a kind waits for a document."""
    return bool(find_waiting_jobs([kind], [artifact_id]))


def settle_items(job: IngestionJob, artifact_ids: Sequence[UUID] | None = None) -> tuple[int, int]:
    """Store the outcomes of a job's items whose processing has ended.

    Processing ends with the prediction in an extraction, and with the parsing in other jobs.
    `artifact_ids` limits the call to the items of these documents, and is only allowed for jobs
    that extract or reprocess; None selects all items. Returns how many items succeeded and how many
    failed.
    """
    values: dict[str, object] = {
        "organization_id": tenancy.current_organization_id(),
        "job_id": job.id,
    }
    if job.kind in _STATEMENTS:
        values["started_at"] = job.started_at
    if artifact_ids is None:
        statement = _STATEMENTS[job.kind][0] if job.kind in _STATEMENTS else _SETTLE_ITEMS
    else:
        statement = _STATEMENTS[job.kind][1]
        values["ids"] = [str(artifact_id) for artifact_id in artifact_ids]
    succeeded_count, failed_count = db.session().execute(statement, values).one()
    return int(succeeded_count), int(failed_count)
