"""Background jobs that end claims, unassign artifacts, and mark nearly due artifacts.

Most job names start with `artifacts.`, because queued jobs of the previous release use these names.
"""

from uuid import UUID

from app.identity.organizations import emitted_events as organization_events
from app.identity.teams import emitted_events as team_events
from app.identity.teams import service as teams
from app.kit import jobs
from app.kit.jobs import Job
from app.kit.permissions import Role
from app.workflow.assignment.queries import claims as queries
from app.workflow.assignment.service import assigning, claims


@jobs.handler(
    "artifacts.release_member", queue="bulk", events=(organization_events.MEMBER_REMOVED,)
)
def release_artifacts_of_removed_member(job: Job) -> None:
    """Release and unassign the artifacts of a removed member.

    Also unassign the artifacts of teams that have no labeler left after the removal.
    """
    team_ids = [UUID(team_id) for team_id in job.args["data"].get("team_ids") or ()]
    _release_and_unassign(job, team_ids, "member_removed")


@jobs.handler(
    "artifacts.release_demoted", queue="bulk", events=(organization_events.MEMBER_ROLE_CHANGED,)
)
def release_artifacts_of_demoted_member(job: Job) -> None:
    """Release and unassign the artifacts of a member whose new role does not allow labeling.

    Also unassign the artifacts of the member's teams that have no labeler left.
    """
    if Role[job.args["data"]["to"]] < Role.labeler:
        _release_and_unassign(job, _list_team_ids(job), "role_changed")


@jobs.handler(
    "artifacts.release_disabled", queue="bulk", events=(organization_events.MEMBER_DISABLED,)
)
def release_artifacts_of_disabled_user(job: Job) -> None:
    """Release and unassign the artifacts of a user whose account was disabled.

    Also unassign the artifacts of the user's teams that have no labeler left.
    """
    _release_and_unassign(job, _list_team_ids(job), "account_disabled")


def _list_team_ids(job: Job) -> list[UUID]:
    return teams.list_team_ids(UUID(job.args["data"]["user_id"]))


def _release_and_unassign(job: Job, team_ids: list[UUID], reason: str) -> None:
    # The event may be outdated when the job runs, so these functions do nothing for a user who can
    # label again and for a team that still has a labeler.
    user_id = UUID(job.args["data"]["user_id"])
    claims.release_all_claims(user_id, reason=reason)
    for assignee_id in (user_id, *team_ids):
        assigning.unassign(assignee_id, job.checkpoint, reason=reason)
    claims.release_reservations(user_id, job.checkpoint)


# This job runs often, because artifacts are offered last until their expired claims are cleared.
@jobs.handler("artifacts.expire_claims", every=10)
def expire_claims(job: Job) -> None:
    """Clear expired claims on artifacts.

    An artifact can be claimed again as soon as its claim expires, even before this job runs. An
    artifact that was in progress only because of its claim becomes `ready`.
    """
    while queries.CLAIMABLE_ARTIFACTS.expire_claims():
        job.checkpoint()


@jobs.handler(
    "artifacts.unassign_team", queue="bulk", events=(team_events.DELETED,), max_attempts=10
)
def unassign_team(job: Job) -> None:
    """Unassign a deleted team from its artifacts."""
    team_id = UUID(job.args["data"]["team_id"])
    assigning.unassign(team_id, job.checkpoint, reason="team_deleted")


@jobs.handler(
    "artifacts.follow_team", queue="bulk", events=(team_events.MEMBER_REMOVED,), max_attempts=10
)
def unassign_team_without_labelers(job: Job) -> None:
    """Unassign a team from its artifacts if the team has no labeler left."""
    assigning.unassign(UUID(job.args["data"]["team_id"]), job.checkpoint, reason="team_left")


@jobs.handler("assignment.mark_nearly_due", queue="bulk", every=60)
def mark_nearly_due(job: Job) -> None:
    """Mark artifacts that are overdue or due within 24 hours, so that they are offered first."""
    while queries.mark_nearly_due():
        job.checkpoint()
