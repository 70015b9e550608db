"""Background work of assignment: expired claims, and work of people who left.

The names of the jobs are older than this feature; jobs of the previous release carry them.
"""

from uuid import UUID

from app.identity.teams import service as teams
from app.kit import jobs
from app.kit.jobs import Job
from app.kit.permissions import Role
from app.workflow.assignment import service
from app.workflow.tag_sets import service as tag_sets


@jobs.handler("artifacts.release_member", queue="bulk", listens=("member.removed",))
def release_member(job: Job) -> None:
    """Release and unassign the work of a member who was removed.

    Work of teams that have no labeler left without them is unassigned too.
    """
    team_ids = [UUID(team_id) for team_id in job.args["data"].get("team_ids") or ()]
    _release(job, team_ids, "member_removed")


@jobs.handler("artifacts.release_demoted", queue="bulk", listens=("member.role_changed",))
def release_demoted(job: Job) -> None:
    """Release and unassign the work of a member who may not label any more."""
    if Role[job.args["data"]["to"]] < Role.labeler:
        _release(job, _list_team_ids(job), "role_changed")


@jobs.handler("artifacts.release_disabled", queue="bulk", listens=("member.disabled",))
def release_disabled(job: Job) -> None:
    """Release and unassign the work of a user whose account was disabled."""
    _release(job, _list_team_ids(job), "account_disabled")


def _list_team_ids(job: Job) -> list[UUID]:
    user_id = UUID(job.args["data"]["user_id"])
    return [team["id"] for team in teams.of_users([user_id]).get(user_id, ())]


def _release(job: Job, team_ids: list[UUID], reason: str) -> None:
    user_id = UUID(job.args["data"]["user_id"])
    service.release_member(user_id, reason=reason)
    service.unassign(user_id, job.checkpoint, reason=reason)
    service.unassign_unable(team_ids, job.checkpoint, reason=reason)
    tag_sets.release_reservations(user_id, job.checkpoint)


@jobs.handler("artifacts.expire_claims")
def expire_claims(job: Job) -> None:
    """End expired claims; their artifacts can be claimed again at once anyway."""
    while service.expire_claims():
        job.checkpoint()


@jobs.handler("artifacts.unassign_team", queue="bulk", listens=("team.deleted",), max_attempts=10)
def unassign_team(job: Job) -> None:
    """Unassign the work of a deleted team."""
    team_id = UUID(job.args["data"]["team_id"])
    service.unassign(team_id, job.checkpoint, reason="team_deleted")


@jobs.handler(
    "artifacts.follow_team", queue="bulk", listens=("team.member_removed",), max_attempts=10
)
def unassign_empty_team(job: Job) -> None:
    """Unassign the work of a team once it has no labeler left."""
    team_ids = [UUID(job.args["data"]["team_id"])]
    service.unassign_unable(team_ids, job.checkpoint, reason="team_left")


# Often: only what is not claimed is offered in the order of urgency.
jobs.periodic("artifacts.expire_claims", every=10)
