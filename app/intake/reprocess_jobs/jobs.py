"""Jobs that reprocess documents, and store the outcomes."""

from collections.abc import Sequence
from uuid import UUID

from app.intake.ingestion_jobs.handlers import register_run
from app.intake.ingestion_jobs.service import running as ingestion_jobs
from app.intake.ingestion_jobs.statuses import JobKind
from app.intake.reprocess_jobs import service
from app.kit import jobs
from app.kit.jobs import Job

register_run(JobKind.REPROCESS, "reprocess_jobs.run", service.run_reprocess)


@jobs.handler(service.SETTLE_JOB, batch=True)
def settle(batch: Sequence[Job]) -> None:
    """Settle reprocessing jobs: store the outcomes of documents whose parsing has ended."""
    artifact_ids = {UUID(job.args["data"]["artifact_id"]) for job in batch}
    ingestion_jobs.settle_documents((JobKind.REPROCESS,), sorted(artifact_ids))
