"""Background jobs that end expired claims, unassign reviews, and prioritize nearly due reviews."""

from uuid import UUID

from app.identity.organizations import emitted_events as organization_events
from app.identity.teams import emitted_events as team_events
from app.kit import jobs
from app.kit.jobs import Job
from app.kit.permissions import Role
from app.workflow.review_queue.queries import items
from app.workflow.review_queue.service import unassigning


@jobs.handler("review_queue.expire_claims", every=60)
def expire_claims(job: Job) -> None:
    """Clear expired claims on review items.

    An item can be claimed again as soon as its claim expires, even before this job runs.
    """
    while items.CLAIMABLE_ITEMS.expire_claims():
        job.checkpoint()


@jobs.handler(
    "review_queue.unassign_team", queue="bulk", events=(team_events.DELETED,), max_attempts=10
)
def unassign_team(job: Job) -> None:
    """Unassign a deleted team from its reviews, which return to the pool."""
    team_id = UUID(job.args["data"]["team_id"])
    unassigning.unassign_team(team_id, job.checkpoint, reason="team_deleted")


@jobs.handler(
    "review_queue.follow_team", queue="bulk", events=(team_events.MEMBER_REMOVED,), max_attempts=10
)
def unassign_team_without_reviewers(job: Job) -> None:
    """Unassign a team from the reviews that none of its remaining members can do."""
    team_id = UUID(job.args["data"]["team_id"])
    unassigning.unassign_team(team_id, job.checkpoint, reason="team_left")


@jobs.handler(
    "review_queue.release_member",
    queue="bulk",
    events=(organization_events.MEMBER_REMOVED,),
    max_attempts=10,
)
def unassign_reviews_of_removed_member(job: Job) -> None:
    """Unassign a removed member's reviews, and reviews that the member's teams can no longer do."""
    data = job.args["data"]
    team_ids = [UUID(team_id) for team_id in data.get("team_ids") or ()]
    unassigning.unassign_removed_member(UUID(data["user_id"]), team_ids, job.checkpoint)


# Queued jobs of the previous release use this name.
@jobs.handler("tag_sets.release_member", queue="bulk", events=(organization_events.MEMBER_REMOVED,))
def release_reviews_of_removed_member(job: Job) -> None:
    """Release the reviews that a removed member had claimed."""
    items.CLAIMABLE_ITEMS.release_all(UUID(job.args["data"]["user_id"]))


@jobs.handler(
    "review_queue.release_demoted",
    queue="bulk",
    events=(organization_events.MEMBER_ROLE_CHANGED,),
    max_attempts=10,
)
def release_reviews_of_demoted_member(job: Job) -> None:
    """Release and unassign the reviews of a member whose new role does not allow reviewing."""
    data = job.args["data"]
    if Role[data["to"]] < Role.reviewer:
        user_id = UUID(data["user_id"])
        unassigning.release_and_unassign(user_id, job.checkpoint, reason="role_changed")


@jobs.handler(
    "review_queue.release_disabled",
    queue="bulk",
    events=(organization_events.MEMBER_DISABLED,),
    max_attempts=10,
)
def release_reviews_of_disabled_user(job: Job) -> None:
    """Release and unassign the reviews of a user whose account was disabled."""
    user_id = UUID(job.args["data"]["user_id"])
    unassigning.release_and_unassign(user_id, job.checkpoint, reason="account_disabled")


@jobs.handler(
    "review_queue.end_self_reviews",
    queue="bulk",
    events=(organization_events.SELF_REVIEW_DISALLOWED,),
    max_attempts=10,
)
def end_self_reviews(job: Job) -> None:
    """Release and unassign all self-reviews after an organization has disallowed them.

    A self-review is a review by a person who labeled the tag set.
    """
    unassigning.end_self_reviews(job.checkpoint)


@jobs.handler("review_queue.move_nearly_due", queue="bulk", every=60)
def prioritize_nearly_due(job: Job) -> None:
    """Move reviews that are due within 24 hours to the front of the queue."""
    while items.prioritize_nearly_due():
        job.checkpoint()
