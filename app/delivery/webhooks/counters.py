"""Counters for deliveries, so that rows need not be counted."""

from app.kit.counters import Cube, Source
from app.kit.counters.spans import DAY, HOUR, MONTH

_STATE = ("status", "event")
_WEBHOOK = "webhook_id"
DELIVERIES = Source(
    "deliveries",
    (_WEBHOOK, *_STATE, "created"),
    (
        Cube("deliveries", _STATE, key=_WEBHOOK),
        Cube("deliveries.created.month", _STATE, _WEBHOOK, "created", MONTH),
        Cube("deliveries.created.day", _STATE, _WEBHOOK, "created", DAY),
    ),
)
OUTCOMES = Source(
    "delivery_outcomes",
    (_WEBHOOK, "status", "created"),
    (Cube("delivery_outcomes.created.hour", ("status",), _WEBHOOK, "created", HOUR),),
)
"""The deliveries that have ended, without test deliveries, by the hour of their creation."""
