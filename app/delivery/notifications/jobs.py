"""Jobs that create notifications of events and queue their emails.

Events that occur in large numbers are handled in batches and counted together.
"""

from collections.abc import Sequence
from uuid import UUID

from app.delivery.notifications import service
from app.delivery.notifications.service import Event
from app.kit import jobs
from app.kit.jobs import Job


@jobs.handler("notifications.email", queue="notifications", listens=(service.CREATED,))
def email(job: Job) -> None:
    """Queue the email of a notification, in the transaction that marks the job as done."""
    service.enqueue_email(UUID(job.args["data"]["notification_id"]))


@jobs.handler(
    "notifications.artifacts_assigned",
    queue="notifications",
    listens=("artifacts.assigned",),
    batch=True,
)
def artifacts_assigned(batch: Sequence[Job]) -> None:
    """Notify users of documents that were assigned to them."""
    service.notify_of_assigned_documents([_build_event(job) for job in batch])


@jobs.handler(
    "notifications.reviews_assigned",
    queue="notifications",
    listens=("reviews.assigned",),
    batch=True,
)
def reviews_assigned(batch: Sequence[Job]) -> None:
    """Notify reviewers of tag sets that were assigned or escalated to them."""
    service.notify_of_assigned_reviews([_build_event(job) for job in batch])


@jobs.handler(
    "notifications.reviews_returned",
    queue="notifications",
    listens=("reviews.returned",),
    batch=True,
)
def reviews_returned(batch: Sequence[Job]) -> None:
    """Notify admins of escalated reviews whose assignee can no longer decide them."""
    service.notify_of_returned_reviews([_build_event(job) for job in batch])


@jobs.handler(
    "notifications.tag_set_commented", queue="notifications", listens=("tag_set.commented",)
)
def tag_set_commented(job: Job) -> None:
    """Notify users that a comment mentions them."""
    service.notify_of_comment(_build_event(job))


@jobs.handler(
    "notifications.tag_set_rejected",
    queue="notifications",
    listens=("tag_set.rejected",),
    batch=True,
)
def tag_set_rejected(batch: Sequence[Job]) -> None:
    """Notify labelers of rejected tag sets, and the users to whom documents were transferred."""
    service.notify_of_rejected_tag_sets([_build_event(job) for job in batch])


@jobs.handler(
    "notifications.tag_set_reopened",
    queue="notifications",
    listens=("tag_set.reopened",),
    batch=True,
)
def tag_set_reopened(batch: Sequence[Job]) -> None:
    """Notify labelers of decided tag sets that are their drafts again."""
    service.notify_of_reopened_tag_sets([_build_event(job) for job in batch])


@jobs.handler(
    "notifications.api_key_creator_left",
    queue="notifications",
    listens=("member.removed", "member.disabled"),
)
def api_key_creator_left(job: Job) -> None:
    """Notify owners of API keys whose creator left or was disabled."""
    service.notify_of_departed_creator(_build_event(job))


@jobs.handler(
    "notifications.api_key_creator_demoted",
    queue="notifications",
    listens=("member.role_changed",),
)
def api_key_creator_demoted(job: Job) -> None:
    """Notify owners of API keys that have a higher role than their creator."""
    service.notify_of_demoted_creator(_build_event(job))


@jobs.handler("notifications.post_due", queue="notifications", resumable=True)
def post_due(job: Job) -> None:
    """Close notifications whose collection window has ended and queue their emails."""
    service.enqueue_due_emails(job.checkpoint)


@jobs.handler("notifications.purge", queue="maintenance", resumable=True)
def purge(job: Job) -> None:
    """Delete the records of handled events whose jobs can no longer run again."""
    service.purge(job.checkpoint)


def _build_event(job: Job) -> Event:
    return Event(UUID(job.args["event_id"]), job.args["data"])


jobs.periodic("notifications.post_due", every=10)
jobs.periodic("notifications.purge", every=3600)
