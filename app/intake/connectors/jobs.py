"""Jobs of connectors: crawl, start what is due, and notice what is stale."""

from typing import Any
from uuid import UUID

from app.intake.connectors import service
from app.intake.ingestion_jobs import emitted_events
from app.intake.ingestion_jobs import service as ingestion_jobs
from app.intake.ingestion_jobs.statuses import JobKind
from app.kit import container, jobs
from app.kit.jobs import Job

SCHEDULE_EVERY = 60
_FAILURE = ("internal_error", "The crawl failed after several attempts.")


def _fail(job: Job, error: str) -> None:  # noqa: ARG001 - clients do not see the error
    if job.args["data"]["kind"] == JobKind.CRAWL:
        code, message = _FAILURE
        service.fail_crawl(UUID(job.args["data"]["job_id"]), code=code, message=message)


def _reopen(args: dict[str, Any]) -> None:
    ingestion_jobs.reopen(UUID(args["data"]["job_id"]))


@jobs.handler(
    "connectors.crawl",
    queue="crawls",
    listens=(emitted_events.REQUESTED,),
    resumable=True,
    on_failure=_fail,
    on_retry=_reopen,
)
def crawl(job: Job) -> None:
    """Crawl a source, or what an interrupted run left of it."""
    if job.args["data"]["kind"] != JobKind.CRAWL:
        return
    # Documents are written to the storage, and the database needs the disk reserve for itself.
    container.current().reserve.check()
    service.run_crawl(UUID(job.args["data"]["job_id"]), job.checkpoint)


@jobs.handler("connectors.schedule", queue="maintenance", resumable=True)
def start_due_crawls(job: Job) -> None:
    """Start the crawls that are due, and raise alerts for stale connectors."""
    while service.start_due_crawls():
        job.checkpoint()
    while service.raise_stale_alerts():
        job.checkpoint()


@jobs.handler(service.FORGET, queue="maintenance", resumable=True)
def forget_objects(job: Job) -> None:
    """Delete the objects of a deleted connector."""
    while service.forget_objects(UUID(job.args["connector_id"])):
        job.checkpoint()


jobs.periodic("connectors.schedule", every=SCHEDULE_EVERY)
