"""Background work on label sets: giving back the reviews of people who left."""

from uuid import UUID

from app.kit import jobs
from app.kit.jobs import Job
from app.workflow.tag_sets import service


@jobs.handler("tag_sets.release_member", queue="bulk", listens=("member.removed",))
def release_member(job: Job) -> None:
    """Give back the reviews that somebody had claimed who left."""
    service.release_member(UUID(job.args["data"]["user_id"]))
