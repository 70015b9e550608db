"""Background jobs of drift detection."""

from typing import Any
from uuid import UUID

from app.insight.drift import emitted_events
from app.insight.drift.queries import records
from app.insight.drift.service import detecting, requesting
from app.kit import jobs, purging
from app.kit.jobs import Job

_DAY_SECONDS = 86_400
_EXPIRED_CONDITION = "created_at < now() - interval '400 days' AND finished_at IS NOT NULL"


def _get_detection_id(args: dict[str, Any]) -> UUID:
    return UUID(args["data"]["detection_id"])


def _fail_detection(job: Job, error: str) -> None:  # noqa: ARG001 - clients do not see the error
    detecting.fail(_get_detection_id(job.args))


def _reopen_detection(args: dict[str, Any]) -> None:
    detecting.reopen(_get_detection_id(args))


@jobs.handler(
    "drift.detect",
    queue="drift",
    events=(emitted_events.REQUESTED,),
    on_failure=_fail_detection,
    on_retry=_reopen_detection,
)
def detect(job: Job) -> None:
    """Compare the two periods of a requested detection, and create its reports."""
    detecting.detect(job, _get_detection_id(job.args))


@jobs.handler("drift.start_daily_detections", queue="drift", every=_DAY_SECONDS)
def start_daily_detections(_job: Job) -> None:
    """Start the daily detections: enqueue one job for each active organization.

    Separate jobs let the queue serve organizations in round-robin order.
    """
    jobs.enqueue_for_organizations("drift.request_daily", records.list_active_organization_ids())


@jobs.handler("drift.request_daily", queue="drift")
def request_daily_detections(job: Job) -> None:
    """Request a detection for each of an organization's schemas with recently accepted tag sets."""
    requesting.request_daily_detections(job.checkpoint)


@jobs.handler("drift.purge", queue="maintenance", resumable=True, every=_DAY_SECONDS)
def purge(job: Job) -> None:
    """Delete finished detections that are older than 400 days, and keep their reports."""
    purging.purge("drift_detections", _EXPIRED_CONDITION, job.checkpoint)
