"""Jobs that delete the uploaded files of ended ingestion jobs."""

from app.intake.ingestion_jobs import service
from app.kit import jobs
from app.kit.jobs import Job

EXPIRE_EVERY = 600


@jobs.handler("ingestion_jobs.expire", queue="maintenance", resumable=True)
def delete_expired_files(job: Job) -> None:
    """Delete uploaded files a week after their jobs have ended."""
    while service.delete_expired_files():
        job.checkpoint()


jobs.periodic("ingestion_jobs.expire", every=EXPIRE_EVERY)
