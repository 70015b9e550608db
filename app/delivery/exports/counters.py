"""Counters of exports, used for the totals of lists."""

from app.kit.counters import Cube, Source, build_cubes
from app.kit.counters.spans import DAY, MONTH

_FACETS = ("status", "format")
EXPORTS = Source(
    "exports",
    (*_FACETS, "created"),
    (
        Cube("exports", _FACETS),
        *build_cubes("exports.created", _FACETS, "created", MONTH, DAY),
    ),
)
