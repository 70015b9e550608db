"""Notifications of what happened, and their e-mail."""

from uuid import UUID

from app.delivery.notifications import service
from app.kit import jobs
from app.kit.jobs import Job


@jobs.handler("notifications.email", listens=(service.CREATED,))
def email(job: Job) -> None:
    """Post a notification's letter, in the transaction that says that it was done."""
    service.post_mail(UUID(job.args["data"]["notification_id"]))


@jobs.handler("notifications.artifacts_assigned", listens=("artifacts.assigned",))
def artifacts_assigned(job: Job) -> None:
    """Tell people of documents that were assigned to them."""
    service.documents_assigned(job.args["event_id"], job.args["data"])


@jobs.handler("notifications.routing_applied", listens=("routing.applied",))
def routing_applied(job: Job) -> None:
    """Tell people of all that rules gave them, however many batches it came in."""
    service.documents_assigned(job.args["event_id"], job.args["data"])


@jobs.handler("notifications.reviews_assigned", listens=("reviews.assigned",))
def reviews_assigned(job: Job) -> None:
    """Tell reviewers of label sets that were assigned or escalated to them."""
    service.reviews_assigned(job.args["event_id"], job.args["data"])


@jobs.handler("notifications.tag_set_commented", listens=("tag_set.commented",))
def tag_set_commented(job: Job) -> None:
    """Tell people that somebody mentioned them."""
    service.comment_written(job.args["event_id"], job.args["data"])


@jobs.handler("notifications.tag_set_rejected", listens=("tag_set.rejected",))
def tag_set_rejected(job: Job) -> None:
    """Tell a labeler that their label set was rejected, and who labels now."""
    service.label_set_rejected(job.args["event_id"], job.args["data"])


@jobs.handler("notifications.tag_set_reopened", listens=("tag_set.reopened",))
def tag_set_reopened(job: Job) -> None:
    """Tell a labeler that what was decided is theirs again."""
    service.label_set_reopened(job.args["event_id"], job.args["data"])
