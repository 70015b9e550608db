"""Jobs that keep the daily quality aggregates (`QualityCell`) and their period sums current.

Jobs that count documents or complete period sums run in a separate queue, so that they do not delay
other work. The queue serves organizations in round-robin order.
"""

from collections.abc import Sequence
from uuid import UUID

from app.documents.artifacts import emitted_events as artifact_events
from app.insight.quality.queries import cells, sums
from app.insight.quality.service import updating
from app.kit import jobs
from app.kit.jobs import Job
from app.workflow.tag_sets import emitted_events as tag_set_events

_CHANGE_EVENTS = (
    tag_set_events.SUBMITTED,
    tag_set_events.ACCEPTED,
    tag_set_events.REJECTED,
    tag_set_events.REOPENED,
    tag_set_events.MERGED,
    tag_set_events.DELETED,
    artifact_events.UPDATED,
    artifact_events.DELETED,
)
_COUNTED_PROPERTIES = frozenset({"gold", "schema_id"})
"""The properties of a document that its counts depend on."""
_INTERVAL_SECONDS = 300


@jobs.handler(
    "quality.update", queue="quality_counts", events=_CHANGE_EVENTS, batch=True, max_attempts=10
)
def update(batch: Sequence[Job]) -> None:
    """Update the daily aggregates: recount the documents that a batch of events has changed."""
    changed_ids = [
        UUID(job.args["data"]["artifact_id"])
        for job in batch
        if job.args["name"] != artifact_events.UPDATED
        or not _COUNTED_PROPERTIES.isdisjoint(job.args["data"]["changed"])
    ]
    if changed_ids:
        updating.update(changed_ids, batch[0].checkpoint)


@jobs.handler("quality.prepare", every=_INTERVAL_SECONDS)
def enqueue_repairs(_: Job) -> None:
    """Enqueue recounts of outdated organizations, and jobs that complete incomplete period sums.

    An organization is recounted if it was never counted, or if the counting rules or its time zone
    have changed. A recount that was interrupted is continued.
    """
    jobs.enqueue_for_organizations("quality.rebuild", cells.list_outdated_organization_ids())
    jobs.enqueue_for_organizations("quality.sum", sums.list_incomplete_organization_ids())


@jobs.handler("quality.rebuild", queue="quality_counts", resumable=True, max_attempts=10)
def rebuild(job: Job) -> None:
    """Rebuild the daily aggregates of an organization, or continue an interrupted rebuild."""
    updating.rebuild(job.checkpoint, resume=True)


@jobs.handler("quality.sum", queue="quality_counts", max_attempts=10)
def complete_sums(_: Job) -> None:
    """Complete the period sums (`QualitySum`) of an organization, if they are incomplete.

    Period sums are incomplete if the organization was counted before the service had them.
    """
    updating.complete_sums()
