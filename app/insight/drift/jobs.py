"""Background jobs of drift detection."""

from typing import Any
from uuid import UUID

from app.insight.drift import emitted_events
from app.insight.drift.service import detecting, requesting
from app.kit import jobs, purging
from app.kit.jobs import Job

_DAY_SECONDS = 86_400
_IS_EXPIRED = "created_at < now() - interval '400 days' AND finished_at IS NOT NULL"


def _get_detection_id(args: dict[str, Any]) -> UUID:
    return UUID(args["data"]["detection_id"])


def _fail(job: Job, error: str) -> None:  # noqa: ARG001 - clients do not see the error
    detecting.fail(_get_detection_id(job.args))


def _reopen(args: dict[str, Any]) -> None:
    detecting.reopen(_get_detection_id(args))


@jobs.handler(
    "drift.detect",
    queue="drift",
    listens=(emitted_events.REQUESTED,),
    on_failure=_fail,
    on_retry=_reopen,
)
def detect(job: Job) -> None:
    """Run a detection."""
    detecting.detect(job, _get_detection_id(job.args))


@jobs.handler("drift.start_daily", queue="drift")
def start_daily(_job: Job) -> None:
    """Enqueue a job for each organization, so that the queue serves organizations in turn."""
    for organization_id in requesting.list_organizations():
        jobs.enqueue(
            "drift.request_daily",
            {},
            organization_id=organization_id,
            unique_key=f"drift.request_daily:{organization_id}",
        )


@jobs.handler("drift.request_daily", queue="drift")
def request_daily(job: Job) -> None:
    """Request the daily detections of an organization."""
    requesting.request_daily_detections(job.checkpoint)


@jobs.handler("drift.purge", queue="maintenance", resumable=True)
def purge(job: Job) -> None:
    """Delete detections that are older than 400 days; their reports are kept."""
    purging.purge("drift_detections", _IS_EXPIRED, job.checkpoint)


jobs.periodic("drift.start_daily", every=_DAY_SECONDS)
jobs.periodic("drift.purge", every=_DAY_SECONDS)
