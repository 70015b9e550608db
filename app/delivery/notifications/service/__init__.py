"""Telling users what happened: inside the application and by e-mail."""

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
