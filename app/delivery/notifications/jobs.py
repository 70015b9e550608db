"""E-mail of notifications."""

from uuid import UUID

from app.delivery.notifications import service
from app.kit import jobs
from app.kit.jobs import Job


@jobs.handler("notifications.email", listens=(service.CREATED,))
def email(job: Job) -> None:
    """Post a notification's letter, in the transaction that says that it was done."""
    service.post_mail(UUID(job.args["data"]["notification_id"]))
