"""Telling users what happened: inside the application and by e-mail."""

from app.delivery.notifications.service.telling import CREATED, post_mail, tell
from app.delivery.notifications.service.work import (
    comment_written,
    documents_assigned,
    label_set_rejected,
    label_set_reopened,
    reviews_assigned,
)

__all__ = [
    "CREATED",
    "comment_written",
    "documents_assigned",
    "label_set_rejected",
    "label_set_reopened",
    "post_mail",
    "reviews_assigned",
    "tell",
]
