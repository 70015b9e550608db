"""Jobs that request the predictions of an extraction, and store the outcomes."""

from collections.abc import Sequence
from uuid import UUID

from app.documents.artifacts import emitted_events as artifact_events
from app.intake.extraction_jobs import service
from app.intake.ingestion_jobs.handlers import register_run
from app.intake.ingestion_jobs.service import running as ingestion_jobs
from app.intake.ingestion_jobs.statuses import JobKind
from app.kit import jobs
from app.kit.jobs import Job
from app.workflow.predictions import emitted_events as prediction_events

register_run(JobKind.EXTRACT, "extraction_jobs.run", service.run_extraction)


@jobs.handler(
    "extraction_jobs.settle", events=(prediction_events.ENDED, artifact_events.DELETED), batch=True
)
def settle(batch: Sequence[Job]) -> None:
    """Settle extractions: store the outcomes of deleted documents and of ended predictions.

    Also settles the reprocessing of deleted documents: another handler of `artifact.deleted` would
    require another job for each deleted document.
    """
    artifact_ids = sorted({UUID(job.args["data"]["artifact_id"]) for job in batch})
    ingestion_jobs.settle_documents((JobKind.EXTRACT, JobKind.REPROCESS), artifact_ids)
