"""Background jobs that update reservations, artifact statuses, and claims by removed members.

Some job names start with `artifacts.` because queued jobs of the previous release use these names.
"""

from uuid import UUID

from app.kit import jobs
from app.kit.jobs import Job
from app.workflow.tag_sets.queries import bulk
from app.workflow.tag_sets.queries import statuses as queries
from app.workflow.tag_sets.service import statuses


@jobs.handler("tag_sets.release_member", queue="bulk", listens=("member.removed",))
def release_reviews_of_removed_member(job: Job) -> None:
    """Release the reviews that a removed member had claimed."""
    bulk.release_reviews(UUID(job.args["data"]["user_id"]))


@jobs.handler("artifacts.start_freeing")
def enqueue_expired_reservation_jobs(_job: Job) -> None:
    """Enqueue a job for each organization with expired reservations."""
    for organization_id in queries.list_organizations_with_expired_reservations():
        jobs.enqueue(
            "artifacts.free_expired",
            {},
            organization_id=organization_id,
            unique_key=f"free_expired:{organization_id}",
        )


@jobs.handler("artifacts.free_expired", queue="bulk")
def end_expired_reservations(job: Job) -> None:
    """End the expired reservations of an organization."""
    statuses.end_expired_reservations(job.checkpoint)


@jobs.handler(
    "artifacts.follow_schema", queue="bulk", listens=("schema.published",), max_attempts=10
)
def update_statuses_of_schema(job: Job) -> None:
    """Update artifact statuses if a new schema version requires a different number of tag sets."""
    data = job.args["data"]
    if data["labels_per_artifact"] != data["labels_per_artifact_before"]:
        statuses.update_statuses_of_schema(UUID(data["schema_id"]), job.checkpoint)


jobs.periodic("artifacts.start_freeing", every=60)
