"""Background jobs that update reservations and artifact statuses.

Some job names start with `artifacts.` because queued jobs of the previous release use these names.
"""

from uuid import UUID

from app.kit import jobs
from app.kit.jobs import Job
from app.schemas.artifact_schemas import emitted_events as schema_events
from app.workflow.tag_sets.queries import locking, statuses


@jobs.handler("artifacts.start_freeing", every=60)
def enqueue_expired_reservation_jobs(_job: Job) -> None:
    """Enqueue the job `artifacts.free_expired` for each organization with expired reservations."""
    organization_ids = statuses.list_organization_ids_with_expired_reservations()
    jobs.enqueue_for_organizations(
        "artifacts.free_expired", organization_ids, key_prefix="free_expired"
    )


@jobs.handler("artifacts.free_expired", queue="bulk")
def end_expired_reservations(job: Job) -> None:
    """End an organization's expired reservations, but keep the drafts; update artifact statuses."""
    while artifact_ids := statuses.end_expired_reservations():
        statuses.update_statuses(artifact_ids)
        job.checkpoint()


@jobs.handler(
    "artifacts.follow_schema", queue="bulk", events=(schema_events.PUBLISHED,), max_attempts=10
)
def update_statuses_of_schema(job: Job) -> None:
    """Update the statuses of a schema's artifacts if they now need a different number of tag sets.

    The statuses of artifacts that are done do not change.
    """
    data = job.args["data"]
    if data["labels_per_artifact"] == data["labels_per_artifact_before"]:
        return
    after = None
    while rows := locking.lock_labeled_artifacts(UUID(data["schema_id"]), after):
        statuses.update_statuses([row.id for row in rows])
        job.checkpoint()
        after = max(rows)
