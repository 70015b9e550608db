"""Background work on the queue: claims that ran out, and reviews of teams and people that are gone.

Of members who leave, `tag_sets.release_member` gives the reviews back.
"""

from uuid import UUID

from app.kit import jobs
from app.kit.jobs import Job
from app.review.review_queue import service


@jobs.handler("review_queue.expire_claims")
def expire_claims(_job: Job) -> None:
    """End claims that ran out; their items can be claimed again at once anyway."""
    service.expire_claims()


@jobs.handler("review_queue.unassign_team", listens=("team.deleted",), max_attempts=10)
def unassign_team(job: Job) -> None:
    """Give the reviews of a team that was deleted back to the pool."""
    service.unassign_team(UUID(job.args["data"]["team_id"]), job.checkpoint)


@jobs.handler("review_queue.release_demoted", listens=("member.role_changed",))
def release_demoted(job: Job) -> None:
    """Give back the reviews of somebody who does not review any more."""
    data = job.args["data"]
    service.release_demoted(UUID(data["user_id"]), data["to"])


jobs.periodic("review_queue.expire_claims", every=60)
