"""Jobs that keep the daily quality aggregates current.

They run in a separate queue, which serves organizations in turn and delays no other work.
"""

from collections.abc import Sequence
from uuid import UUID

from app.documents.artifacts import emitted_events as artifact_events
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
_EVERY_SECONDS = 300


@jobs.handler(
    "quality.update", queue="quality_counts", listens=_CHANGE_EVENTS, batch=True, max_attempts=10
)
def update(batch: Sequence[Job]) -> None:
    """Recount the documents that a batch of events has changed."""
    changed = [
        UUID(job.args["data"]["artifact_id"])
        for job in batch
        if job.args["name"] != artifact_events.UPDATED
        or not _COUNTED_PROPERTIES.isdisjoint(job.args["data"]["changed"])
    ]
    if changed:
        updating.update(changed, batch[0].checkpoint)


@jobs.handler("quality.prepare")
def prepare(_: Job) -> None:
    """Enqueue a recount of organizations that are new or whose rules or time zone have changed.

    Also enqueue the computation of sums for organizations whose sums are incomplete.
    """
    for organization_id in updating.list_outdated():
        jobs.enqueue(
            "quality.rebuild",
            {},
            organization_id=organization_id,
            unique_key=f"quality.rebuild:{organization_id}",
        )
    for organization_id in updating.list_incomplete():
        jobs.enqueue(
            "quality.sum",
            {},
            organization_id=organization_id,
            unique_key=f"quality.sum:{organization_id}",
        )


@jobs.handler("quality.rebuild", queue="quality_counts", resumable=True, max_attempts=10)
def rebuild(job: Job) -> None:
    """Recount all documents of an organization; continue where an interrupted run ended."""
    updating.rebuild(job.checkpoint, resume=True)


@jobs.handler("quality.sum", queue="quality_counts", max_attempts=10)
def complete_sums(_: Job) -> None:
    """Compute the sums of an organization whose sums are incomplete."""
    updating.complete_sums()


jobs.periodic("quality.prepare", every=_EVERY_SECONDS)
