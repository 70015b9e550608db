"""E-mail of notifications."""

from uuid import UUID

from app.delivery.notifications import service
from app.kit import container, jobs
from app.kit.jobs import Job
from app.kit.logging import get_logger
from app.kit.mail import MailFailed, MailRefused

log = get_logger(__name__)


@jobs.handler("notifications.email", listens=(service.CREATED,))
def email(job: Job) -> None:
    """Send a notification by e-mail. A second run sends the same message id again."""
    notification_id = UUID(job.args["data"]["notification_id"])
    found = service.mail(notification_id)
    if found is None:
        return
    job.checkpoint()
    address, subject, body = found
    try:
        message_id = f"notification-{notification_id}"
        container.current().mailer.send(address, _line(subject), body, message_id=message_id)
    except MailRefused as refusal:
        log.warning("notification.mail_refused", reason=str(refusal))
    except MailFailed as failure:
        if not failure.permanent:
            raise jobs.Retry(str(failure)) from failure
        log.warning("notification.mail_refused", reason=str(failure))


def _line(subject: str) -> str:
    return "".join(c if c.isprintable() else " " for c in subject)
