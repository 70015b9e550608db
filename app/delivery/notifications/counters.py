"""Counters for the notifications that are shown in the application."""

from app.kit.counters import Cube, Source
from app.kit.counters.spans import DAY, MONTH

_STATE = ("kind", "unread")
_USER = "user_id"
NOTIFICATIONS = Source(
    "notifications",
    (_USER, *_STATE, "created"),
    (
        Cube("notifications", _STATE, key=_USER),
        Cube("notifications.created.month", _STATE, _USER, "created", MONTH),
        Cube("notifications.created.day", _STATE, _USER, "created", DAY),
    ),
)
