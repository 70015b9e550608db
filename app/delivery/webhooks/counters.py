"""Counters for deliveries, so that totals are available without counting rows."""

from app.kit.counters import Cube, Source, build_cubes
from app.kit.counters.spans import DAY, HOUR, MONTH

_FACETS = ("status", "event")
_WEBHOOK = "webhook_id"
DELIVERIES = Source(
    "deliveries",
    (_WEBHOOK, *_FACETS, "created"),
    (
        Cube("deliveries", _FACETS, key=_WEBHOOK),
        *build_cubes("deliveries.created", _FACETS, "created", MONTH, DAY, key=_WEBHOOK),
    ),
)
OUTCOMES = Source(
    "delivery_outcomes",
    (_WEBHOOK, "status", "created"),
    (Cube("delivery_outcomes.created.hour", ("status",), _WEBHOOK, "created", HOUR),),
)
"""Deliveries that have ended, counted by the hour of their creation; excludes test deliveries."""
