"""Jobs that crawl sources, start due crawls, and raise alerts for stale connectors."""

from typing import Any
from uuid import UUID

from app.intake.connectors import service
from app.intake.ingestion_jobs import emitted_events
from app.intake.ingestion_jobs import service as ingestion_jobs
from app.intake.ingestion_jobs.statuses import JobKind
from app.kit import container, jobs
from app.kit.jobs import Job

SCHEDULE_INTERVAL_SECONDS = 60
_CRAWL_ERROR = ("internal_error", "The crawl failed after several attempts.")


def _fail_crawl(job: Job, error: str) -> None:  # noqa: ARG001 - clients do not see the error
    if job.args["data"]["kind"] == JobKind.CRAWL:
        code, message = _CRAWL_ERROR
        service.fail_crawl(UUID(job.args["data"]["job_id"]), code=code, message=message)


def _reopen_crawl(args: dict[str, Any]) -> None:
    ingestion_jobs.reopen(UUID(args["data"]["job_id"]))


@jobs.handler(
    "connectors.crawl",
    queue="crawls",
    listens=(emitted_events.REQUESTED,),
    resumable=True,
    on_failure=_fail_crawl,
    on_retry=_reopen_crawl,
)
def crawl(job: Job) -> None:
    """Crawl a source, or continue an interrupted crawl."""
    if job.args["data"]["kind"] != JobKind.CRAWL:
        return
    # The crawl writes documents to the storage, and must not use the disk reserve.
    container.current().reserve.check()
    service.run_crawl(UUID(job.args["data"]["job_id"]), job.checkpoint)


@jobs.handler("connectors.schedule", queue="maintenance", resumable=True)
def handle_schedules(job: Job) -> None:
    """Handle crawl schedules: start due crawls, and raise alerts for stale connectors."""
    while service.start_due_crawls():
        job.checkpoint()
    while service.raise_stale_alerts():
        job.checkpoint()


@jobs.handler(service.DELETE_OBJECTS_JOB, queue="maintenance", resumable=True)
def delete_objects(job: Job) -> None:
    """Delete the object records of a deleted connector, in batches."""
    while service.delete_objects(UUID(job.args["connector_id"])):
        job.checkpoint()


jobs.periodic("connectors.schedule", every=SCHEDULE_INTERVAL_SECONDS)
