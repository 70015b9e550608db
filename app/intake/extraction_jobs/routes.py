"""Route for extraction jobs."""

from uuid import UUID

from app.intake.extraction_jobs import service
from app.intake.ingestion_jobs.models import IngestionJob as IngestionJobRow
from app.intake.ingestion_jobs.schemas import IngestionJob
from app.kit.api.blueprint import Blueprint
from app.kit.principal import Caller

blueprint = Blueprint("extraction-jobs", tag="ingestion-jobs", record_type="ingestion_jobs")


@blueprint.post(
    "/ingestion-jobs/{job_id}/extract",
    permission="predictions:create",
    returns=IngestionJob,
    status=202,
)
def extract_ingestion_job(caller: Caller, job_id: UUID) -> IngestionJobRow:
    """Extract tags from the documents of an ingestion job.

    Queues an extraction: an ingestion job with the kind `extract` that predicts the tags of each
    document that the job created. Each document is an item of the extraction. The item's status is
    `processing` until the prediction ends, then `created`, or `failed` with the reason, for example
    a schema without AI assistance. While an extraction of the job is queued or running, another
    request returns the same extraction. Responds with 409 `conflict` and `details.state` if the job
    or the parsing of its documents has not ended, or with `details.kind` for an extraction.
    """
    return service.request_extraction(job_id, created_by=caller.user_id)
