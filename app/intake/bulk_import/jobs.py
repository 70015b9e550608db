"""The job that imports an uploaded file."""

from uuid import UUID

from app.intake.bulk_import.service import running
from app.intake.ingestion_jobs.handlers import register_run
from app.intake.ingestion_jobs.statuses import JobKind
from app.kit import container
from app.kit.db import Checkpoint


def run_import(job_id: UUID, checkpoint: Checkpoint) -> None:
    """Import an uploaded file, or continue an interrupted import."""
    # The import writes texts and their search index, and must not use the disk reserve.
    container.current().reserve.check()
    running.run_import(job_id, checkpoint)


register_run(JobKind.IMPORT, "bulk_import.run", run_import)
