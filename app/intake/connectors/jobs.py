"""Jobs that crawl sources, start and cancel crawls, and raise alerts for stale connectors."""

from uuid import UUID

from app.identity.organizations import emitted_events as organization_events
from app.intake.connectors import service
from app.intake.ingestion_jobs import service as ingestion_jobs
from app.intake.ingestion_jobs.handlers import register_run
from app.intake.ingestion_jobs.statuses import JobKind
from app.kit import container, jobs
from app.kit.db import Checkpoint
from app.kit.jobs import Job

SCHEDULE_INTERVAL_SECONDS = 60
_CRAWL_ERROR = ("internal_error", "The crawl failed after several attempts.")


def _fail_crawl(job_id: UUID, error: str) -> None:  # noqa: ARG001 - clients do not see the error
    code, message = _CRAWL_ERROR
    service.fail_crawl(job_id, code=code, message=message)


def crawl(job_id: UUID, checkpoint: Checkpoint) -> None:
    """Crawl a source, or continue an interrupted crawl."""
    # The crawl writes documents to the storage, and must not use the disk reserve.
    container.current().reserve.check()
    service.run_crawl(job_id, checkpoint)


register_run(JobKind.CRAWL, "connectors.crawl", crawl, queue="crawls", on_failure=_fail_crawl)


# Not in the queue `maintenance`, where a long sweep of the storage would delay the crawls.
@jobs.handler("connectors.schedule", resumable=True)
def handle_schedules(job: Job) -> None:
    """Handle crawl schedules: start due crawls, and raise alerts for stale connectors."""
    while service.start_due_crawls():
        job.checkpoint()
    while service.raise_stale_alerts():
        job.checkpoint()


@jobs.handler("connectors.end", listens=(organization_events.CLOSED,))
def handle_organization_closed(job: Job) -> None:  # noqa: ARG001 - the organization is bound
    """Handle the closing of an organization: cancel its crawls."""
    ingestion_jobs.cancel_all_crawls()


@jobs.handler(service.DELETE_OBJECTS_JOB, queue="maintenance", resumable=True)
def delete_objects(job: Job) -> None:
    """Delete the object records of a deleted connector, in batches."""
    while service.delete_objects(UUID(job.args["connector_id"])):
        job.checkpoint()


jobs.periodic("connectors.schedule", every=SCHEDULE_INTERVAL_SECONDS)
