"""Counters of exports, used for the totals of lists."""

from app.kit.counters import Cube, Source
from app.kit.counters.spans import DAY, MONTH

_FACETS = ("status", "format")
EXPORTS = Source(
    "exports",
    (*_FACETS, "created"),
    (
        Cube("exports", _FACETS),
        Cube("exports.created.month", _FACETS, None, "created", MONTH),
        Cube("exports.created.day", _FACETS, None, "created", DAY),
    ),
)
