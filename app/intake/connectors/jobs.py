"""Jobs that crawl sources, start and cancel crawls, and raise alerts for stale connectors."""

from uuid import UUID

from app.identity.organizations import emitted_events as organization_events
from app.intake.connectors.service import crawling, managing, scheduling
from app.intake.ingestion_jobs.handlers import register_run
from app.intake.ingestion_jobs.service import requests
from app.intake.ingestion_jobs.statuses import JobKind
from app.kit import container, jobs
from app.kit.db import Checkpoint
from app.kit.jobs import Job

SCHEDULE_INTERVAL_SECONDS = 60


def _fail_crawl(job_id: UUID, error: str) -> None:  # noqa: ARG001 - clients do not see the error
    message = "The crawl failed after several attempts."
    crawling.fail_crawl(job_id, code="internal_error", message=message)


def crawl(job_id: UUID, checkpoint: Checkpoint) -> None:
    """Crawl a source, or continue an interrupted crawl."""
    # The crawl writes documents to the storage, and must not use the disk reserve.
    container.current().reserve.check()
    crawling.run_crawl(job_id, checkpoint)


register_run(JobKind.CRAWL, "connectors.crawl", crawl, queue="crawls", on_failure=_fail_crawl)


# Not in the queue `maintenance`, where a long sweep of the storage would delay the crawls.
@jobs.handler("connectors.schedule", resumable=True, every=SCHEDULE_INTERVAL_SECONDS)
def handle_schedules(job: Job) -> None:
    """Handle crawl schedules: start due crawls, and raise alerts for stale connectors."""
    while scheduling.start_due_crawls():
        job.checkpoint()
    while scheduling.raise_stale_alerts():
        job.checkpoint()


@jobs.handler("connectors.end", events=(organization_events.CLOSED,))
def handle_organization_closed(job: Job) -> None:  # noqa: ARG001 - only its organization matters
    """Handle the closing of an organization: cancel its crawls."""
    requests.cancel_crawls()


@jobs.handler(managing.DELETE_OBJECTS_JOB, queue="maintenance", resumable=True)
def delete_objects(job: Job) -> None:
    """Delete the object records of a deleted connector, in batches."""
    while managing.delete_objects(UUID(job.args["connector_id"])):
        job.checkpoint()
