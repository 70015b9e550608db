"""Counters of the audit log's entries."""

from app.kit.counters import Cube, Source
from app.kit.counters.spans import DAY, MONTH

_ENTRY = ("actor_kind", "action", "target_type")
AUDIT = Source(
    "audit",
    (*_ENTRY, "actor_id", "at"),
    (
        Cube("audit", _ENTRY),
        Cube("audit.actor", _ENTRY, key="actor_id"),
        Cube("audit.at.month", _ENTRY, bucket="at", length=MONTH),
        Cube("audit.at.day", _ENTRY, bucket="at", length=DAY),
    ),
)
