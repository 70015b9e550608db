"""SQL queries that store the outcomes of items after background jobs have processed them."""

from collections.abc import Sequence
from uuid import UUID

from sqlalchemy import text

from app.intake.ingestion_jobs.models import IngestionJob
from app.intake.ingestion_jobs.statuses import JobKind
from app.kit import db, tenancy

_SETTLE = """
    WITH settled AS (
        UPDATE ingestion_items item SET
            status = CASE WHEN {has_failed} THEN 'failed' ELSE 'created' END,
            error = {error}{seconds}
        FROM ingestion_items pending
        LEFT JOIN artifacts document ON document.organization_id = pending.organization_id
         AND document.id = pending.artifact_id
        WHERE pending.organization_id = :organization_id AND pending.job_id = :job_id
          AND pending.status = 'processing' AND {has_ended} {condition}
          AND item.organization_id = pending.organization_id AND item.job_id = pending.job_id
          AND item.number = pending.number
        RETURNING item.status
    )
    SELECT count(*) FILTER (WHERE status = 'created'), count(*) FILTER (WHERE status = 'failed')
    FROM settled
    """
# A document that waits for the routing rules has been parsed.
_IS_PARSED = """
    (document.status IS DISTINCT FROM 'processing' OR document.routing_since IS NOT NULL)"""
_DELETED_ERROR_BRANCH = """document.id IS NULL
                    THEN '{"code": "not_found", "message": "The artifact was deleted."}'"""
# The items of a retry keep their creation time, so their seconds count from the start of the retry.
_SET_SECONDS = """,
            seconds = extract(epoch FROM clock_timestamp()
                              - greatest(item.created_at, CAST(:started_at AS timestamptz)))"""
# A document that was deleted meanwhile counts as created.
_PARSING_PARTS = {
    "has_failed": "document.status = 'failed'",
    "error": "CASE WHEN document.status = 'failed' THEN document.failure END",
    "seconds": "",
    "has_ended": _IS_PARSED,
}
_REPROCESSING_PARTS = {
    "has_failed": "document.id IS NULL OR document.status = 'failed'",
    "error": f"""CASE WHEN {_DELETED_ERROR_BRANCH}
                    WHEN document.status = 'failed' THEN document.failure END""",
    "seconds": _SET_SECONDS,
    "has_ended": _IS_PARSED,
}
# A document has at most one pending prediction, and shows its latest prediction. It shows no
# prediction if the latest prediction was deleted with its schema.
_EXTRACTION_PARTS = {
    "has_failed": "document.prediction ->> 'status' IS DISTINCT FROM 'completed'",
    "error": f"""CASE WHEN {_DELETED_ERROR_BRANCH}
                    WHEN document.prediction IS NULL
                    THEN '{{"code": "schema_deleted", "message": "The schema was deleted."}}'
                    WHEN document.prediction ->> 'status' = 'failed'
                    THEN document.prediction -> 'error' END""",
    "seconds": _SET_SECONDS,
    "has_ended": "document.prediction ->> 'status' IS DISTINCT FROM 'queued'",
}
_PARTS_BY_KIND = {JobKind.EXTRACT: _EXTRACTION_PARTS, JobKind.REPROCESS: _REPROCESSING_PARTS}
_DOCUMENT_CONDITION = "AND pending.artifact_id = ANY (CAST(:ids AS uuid[]))"
_LIST_WAITING_JOBS = text(
    """
    SELECT DISTINCT job.id
    FROM ingestion_items item
    JOIN ingestion_jobs job ON job.organization_id = item.organization_id AND job.id = item.job_id
    WHERE item.organization_id = :organization_id AND item.status = 'processing'
      AND item.artifact_id = ANY (CAST(:ids AS uuid[])) AND job.kind = ANY (CAST(:kinds AS text[]))
    ORDER BY job.id
    """
)


def list_waiting_job_ids(kinds: Sequence[str], artifact_ids: Sequence[UUID]) -> list[UUID]:
    """Return the sorted ids of the jobs with these `kinds` that wait for any of the documents."""
    values = {
        "organization_id": tenancy.current_organization_id(),
        "kinds": list(kinds),
        "ids": [str(artifact_id) for artifact_id in artifact_ids],
    }
    return list(db.session().scalars(_LIST_WAITING_JOBS, values))


def settle_items(job: IngestionJob, artifact_ids: Sequence[UUID] | None = None) -> tuple[int, int]:
    """Store the outcomes of a job's items whose processing has ended.

    Processing ends with the prediction in an extraction, and with the parsing in other jobs.
    `artifact_ids` limits the call to the items of these documents; None selects all items. Returns
    how many items succeeded and how many failed.
    """
    parts = _PARTS_BY_KIND.get(JobKind(job.kind), _PARSING_PARTS)
    condition = "" if artifact_ids is None else _DOCUMENT_CONDITION
    values = {
        "organization_id": tenancy.current_organization_id(),
        "job_id": job.id,
        "started_at": job.started_at,
        "ids": [str(artifact_id) for artifact_id in artifact_ids or ()],
    }
    statement = text(_SETTLE.format(**parts, condition=condition))
    succeeded_count, failed_count = db.session().execute(statement, values).one()
    return int(succeeded_count), int(failed_count)
