"""Counters for the notifications that are shown in the application."""

from app.kit.counters import Cube, Source, build_cubes
from app.kit.counters.spans import DAY, MONTH

_FACETS = ("kind", "unread")
_USER = "user_id"
NOTIFICATIONS = Source(
    "notifications",
    (_USER, *_FACETS, "created"),
    (
        Cube("notifications", _FACETS, key=_USER),
        *build_cubes("notifications.created", _FACETS, "created", MONTH, DAY, key=_USER),
    ),
)
