"""Background work on the queue: claims that ran out, and reviews that wait for who is not there.

What somebody who left had claimed `tag_sets.release_member` gives back.
"""

from uuid import UUID

from app.kit import jobs
from app.kit.jobs import Job
from app.workflow.review_queue import service


@jobs.handler("review_queue.expire_claims")
def expire_claims(_job: Job) -> None:
    """End claims that ran out; their items can be claimed again at once anyway."""
    service.expire_claims()


@jobs.handler(
    "review_queue.unassign_team", queue="bulk", listens=("team.deleted",), max_attempts=10
)
def unassign_team(job: Job) -> None:
    """Give the reviews of a team that was deleted back to the pool."""
    team_id = UUID(job.args["data"]["team_id"])
    service.release_team(team_id, job.checkpoint, reason="team_deleted")


@jobs.handler(
    "review_queue.follow_team", queue="bulk", listens=("team.member_removed",), max_attempts=10
)
def follow_team(job: Job) -> None:
    """Give the reviews of a team back that nobody who is left in it can do."""
    team_id = UUID(job.args["data"]["team_id"])
    service.release_team(team_id, job.checkpoint, reason="team_left")


@jobs.handler(
    "review_queue.release_member", queue="bulk", listens=("member.removed",), max_attempts=10
)
def release_member(job: Job) -> None:
    """Give back the reviews that wait for somebody who left, or for a team of theirs."""
    data = job.args["data"]
    team_ids = [UUID(one) for one in data.get("team_ids") or ()]
    service.release_member(UUID(data["user_id"]), team_ids, job.checkpoint)


@jobs.handler(
    "review_queue.release_demoted", queue="bulk", listens=("member.role_changed",), max_attempts=10
)
def release_demoted(job: Job) -> None:
    """Give back the reviews of somebody who does not review any more."""
    data = job.args["data"]
    service.release_demoted(UUID(data["user_id"]), data["to"], job.checkpoint)


@jobs.handler(
    "review_queue.release_disabled", queue="bulk", listens=("member.disabled",), max_attempts=10
)
def release_disabled(job: Job) -> None:
    """Give back the reviews of somebody whose account is disabled."""
    service.release_disabled(UUID(job.args["data"]["user_id"]), job.checkpoint)


jobs.periodic("review_queue.expire_claims", every=60)
