"""The counters of deliveries, which replace counting rows."""

from app.kit.counters import Cube, Source
from app.kit.counters.spans import DAY, MONTH

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
