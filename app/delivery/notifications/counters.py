"""Counters for the notifications that are shown in the application."""

from app.kit.counters import Cube, Source
from app.kit.counters.spans import DAY, MONTH

_FACETS = ("kind", "unread")
_USER = "user_id"
NOTIFICATIONS = Source(
    "notifications",
    (_USER, *_FACETS, "created"),
    (
        Cube("notifications", _FACETS, key=_USER),
        Cube("notifications.created.month", _FACETS, _USER, "created", MONTH),
        Cube("notifications.created.day", _FACETS, _USER, "created", DAY),
    ),
)
