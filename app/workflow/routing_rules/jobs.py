"""Background jobs that route artifacts, and disable rules with an assignee who cannot label."""

from collections.abc import Sequence
from uuid import UUID

from app.documents.artifacts import emitted_events as artifact_events
from app.documents.artifacts.service import routing as artifacts
from app.identity.organizations import emitted_events as organization_events
from app.kit import jobs
from app.kit.jobs import Job
from app.workflow.routing_rules.service import progress, records, routing


def _release_unrouted_document(job: Job, error: str) -> None:
    artifacts.release_unrouted_document(UUID(job.args["data"]["artifact_id"]), error)


@jobs.handler(
    "routing_rules.route",
    queue="routing",
    # For artifacts that were parsed before a rule was enabled, or by an older release, only
    # `artifact.ingested` was emitted.
    events=(artifact_events.PARSED, artifact_events.INGESTED),
    batch=True,
    max_attempts=10,
    on_failure=_release_unrouted_document,
)
def route(batch: Sequence[Job]) -> None:
    """Apply the routing rules to new artifacts, and make them available to labelers."""
    ids = [UUID(job.args["data"]["artifact_id"]) for job in batch]
    routing.route_ingested(ids, batch[0].checkpoint)


@jobs.handler(records.APPLY_JOB, queue="bulk", resumable=True)
def apply(job: Job) -> None:
    """Apply the routing rules to all unassigned artifacts."""
    routing.route_unassigned(job.checkpoint, progress=progress.ApplyProgress(job))


# This job waits for the organization's routing lock. In the queue `routing`, it does not occupy a
# slot of another queue while it waits.
@jobs.handler(
    "routing_rules.follow_role", queue="routing", events=(organization_events.MEMBER_ROLE_CHANGED,)
)
def disable_rules_of_ineligible_user(job: Job) -> None:
    """Disable the rules that assign artifacts to a member who can no longer label."""
    records.disable_rules_of_ineligible_user(UUID(job.args["data"]["user_id"]))


@jobs.handler("routing_rules.release_delayed_artifacts", every=60)
def release_delayed_artifacts(job: Job) -> None:
    """Release artifacts that were not routed in time, so that they can be labeled."""
    while artifacts.release_delayed_documents():
        job.checkpoint()
