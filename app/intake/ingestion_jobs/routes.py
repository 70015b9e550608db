"""Routes for ingestion jobs."""

from typing import Any
from uuid import UUID

from app.intake.ingestion_jobs import models, schemas
from app.intake.ingestion_jobs.service import reading, requests
from app.kit.api.blueprint import Blueprint, Listing
from app.kit.pagination import Page
from app.kit.principal import Caller

blueprint = Blueprint(
    "ingestion-jobs", description="Jobs that import or reprocess documents, or extract tags."
)


@blueprint.get(
    "/ingestion-jobs",
    permission="ingestion_jobs:read",
    query=Listing(sort_keys=("-created_at",), filters=schemas.IngestionJobFilters, has_period=True),
    returns=schemas.IngestionJob,
)
def list_ingestion_jobs(caller: Caller, query: dict[str, Any]) -> Page:
    """List ingestion jobs.

    Returns jobs with their progress, optionally filtered by status, `kind`, connector and creation
    time.
    """
    return reading.list_jobs(**query)


@blueprint.get(
    "/ingestion-jobs/{job_id}", permission="ingestion_jobs:read", returns=schemas.IngestionJob
)
def get_ingestion_job(caller: Caller, job_id: UUID) -> models.IngestionJob:
    """Get an ingestion job.

    Returns one job with its status, progress, counts, rate and remaining time.
    """
    return reading.get(job_id)


@blueprint.get(
    "/ingestion-jobs/{job_id}/items",
    permission="ingestion_jobs:read",
    query=Listing(sort_keys=("number",), filters=schemas.IngestionItemFilters, has_period=True),
    returns=schemas.IngestionItem,
)
def list_ingestion_items(caller: Caller, job_id: UUID, query: dict[str, Any]) -> Page:
    """List the items of an ingestion job.

    Returns the outcome of each document: the artifact, or the reason why there is no artifact.
    """
    return reading.list_items(job_id, **query)


@blueprint.post(
    "/ingestion-jobs/{job_id}/cancel",
    permission="ingestion_jobs:manage",
    returns=schemas.IngestionJob,
)
def cancel_ingestion_job(caller: Caller, job_id: UUID) -> models.IngestionJob:
    """Cancel an ingestion job.

    Stops a queued or running job after the current document, or after the current batch of text
    documents. Documents that the job has created are kept, and documents that it has queued for
    reprocessing or prediction are still handled. Responds with 409 `conflict` and
    `details.state` if the job has ended.
    """
    return requests.cancel(job_id)


@blueprint.post(
    "/ingestion-jobs/{job_id}/retry",
    permission="ingestion_jobs:manage",
    returns=schemas.IngestionJob,
    status=202,
)
def retry_ingestion_job(caller: Caller, job_id: UUID) -> models.IngestionJob:
    """Retry an ingestion job.

    Queues the failed documents of a job again, and the documents that a failed job did not reach.
    Responds with 409 `conflict` and `details.state` if the status of the job does not allow a
    retry, with `details.missing` if the uploaded file no longer exists, or with `details.job_id` if
    another crawl of the connector is queued or running. The file is kept for a week after the job
    has ended. Documents of a `reprocess` job are reprocessed again if they are still `failed`.
    """
    return requests.retry(job_id)


@blueprint.get(
    "/ingestion-jobs/stats",
    permission="ingestion_jobs:read",
    query=schemas.IngestionStatsQuery,
    returns=schemas.IngestionStats,
)
def get_ingestion_stats(caller: Caller, query: dict[str, Any]) -> object:
    """Get ingestion statistics.

    Returns the counts and the speed of the jobs created in a period: in total, by day, by `kind`
    and by connector.
    """
    return reading.get_stats(**query)
