"""Service functions that notify users of events, in the application and by email."""

from app.delivery.notifications.queries.collecting import purge
from app.delivery.notifications.service.keys import (
    notify_of_demoted_creator,
    notify_of_departed_creator,
)
from app.delivery.notifications.service.mailing import enqueue_due_emails
from app.delivery.notifications.service.sending import CREATED, enqueue_email, notify
from app.delivery.notifications.service.work import (
    Event,
    notify_of_assigned_documents,
    notify_of_assigned_reviews,
    notify_of_comment,
    notify_of_rejected_tag_sets,
    notify_of_reopened_tag_sets,
    notify_of_returned_reviews,
)

__all__ = [
    "CREATED",
    "Event",
    "enqueue_due_emails",
    "enqueue_email",
    "notify",
    "notify_of_assigned_documents",
    "notify_of_assigned_reviews",
    "notify_of_comment",
    "notify_of_demoted_creator",
    "notify_of_departed_creator",
    "notify_of_rejected_tag_sets",
    "notify_of_reopened_tag_sets",
    "notify_of_returned_reviews",
    "purge",
]
