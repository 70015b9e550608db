"""Background work of routing: what came in, what waits, and rules whose people cannot label."""

from collections.abc import Sequence
from uuid import UUID

from app.kit import jobs
from app.kit.jobs import Job
from app.review.routing_rules import service


@jobs.handler(
    "routing_rules.route",
    queue="routing",
    listens=("artifact.ingested", "artifact.reread"),
    batch=True,
    max_attempts=10,
)
def route(arrived: Sequence[Job]) -> None:
    """Give documents that came in to whom the rules say."""
    service.route_ingested([UUID(job.args["data"]["artifact_id"]) for job in arrived])


@jobs.handler("routing_rules.apply", queue="bulk", listens=("routing.requested",), resumable=True)
def apply(job: Job) -> None:
    """Route all that waits unassigned."""
    service.route_waiting(job.checkpoint)


@jobs.handler("routing_rules.follow_role", listens=("member.role_changed",))
def follow_role(job: Job) -> None:
    """Disable the rules that name somebody who became a viewer."""
    service.disable_of_viewer(UUID(job.args["data"]["user_id"]))
