"""SQL queries for extractions and the documents that an ingestion job created."""

from typing import NamedTuple
from uuid import UUID

from sqlalchemy import select

from app.intake.ingestion_jobs.models import IngestionItem, IngestionJob
from app.intake.ingestion_jobs.statuses import ACTIVE, ItemStatus, JobKind
from app.kit import db


class CreatedItem(NamedTuple):
    """A document that an ingestion job created, with its number and URI in that job."""

    number: int
    uri: str
    artifact_id: UUID


def find_active_extraction(source_job_id: UUID) -> IngestionJob | None:
    """Return the queued or running extraction of a source job, or None if there is none."""
    statement = select(IngestionJob).where(
        IngestionJob.kind == JobKind.EXTRACT,
        IngestionJob.status.in_(ACTIVE),
        IngestionJob.options["source_job_id"].astext == str(source_job_id),
    )
    return db.session().scalars(statement.limit(1)).first()


def list_created_items(job_id: UUID, after: int, limit: int) -> list[CreatedItem]:
    """Return at most `limit` documents that a job created, sorted by number.

    Only documents with numbers above `after` are returned.
    """
    item = IngestionItem
    statement = (
        select(item.number, item.uri, item.artifact_id)
        .where(item.job_id == job_id, item.number > after)
        .where(item.status == ItemStatus.CREATED, item.artifact_id.is_not(None))
        .order_by(item.number)
        .limit(limit)
    )
    return [CreatedItem._make(row) for row in db.session().execute(statement)]
