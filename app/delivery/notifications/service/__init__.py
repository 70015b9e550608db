"""Service functions that notify users of events, in the application and by email."""

from app.delivery.notifications.queries.collecting import purge
from app.delivery.notifications.service.keys import creator_demoted, creator_left
from app.delivery.notifications.service.mailing import post_due
from app.delivery.notifications.service.telling import CREATED, post_mail, tell
from app.delivery.notifications.service.work import (
    Event,
    comment_written,
    documents_assigned,
    label_sets_rejected,
    label_sets_reopened,
    reviews_assigned,
    reviews_returned,
)

__all__ = [
    "CREATED",
    "Event",
    "comment_written",
    "creator_demoted",
    "creator_left",
    "documents_assigned",
    "label_sets_rejected",
    "label_sets_reopened",
    "post_due",
    "post_mail",
    "purge",
    "reviews_assigned",
    "reviews_returned",
    "tell",
]
