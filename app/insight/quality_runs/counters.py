"""Counters of quality runs and of disagreements, used for the totals of lists."""

from app.kit.counters import Cube, Source
from app.kit.counters.spans import DAY, MONTH

_FACETS = ("status",)
_SCHEMA = "schema_id"
RUNS = Source(
    "quality_runs",
    (*_FACETS, _SCHEMA, "created"),
    (
        Cube("quality_runs", _FACETS),
        Cube("quality_runs.schema", _FACETS, _SCHEMA),
        Cube("quality_runs.created.month", _FACETS, None, "created", MONTH),
        Cube("quality_runs.created.day", _FACETS, None, "created", DAY),
        Cube("quality_runs.schema.created.month", _FACETS, _SCHEMA, "created", MONTH),
    ),
)
DISAGREEMENTS = Source(
    "quality_disagreements",
    ("schema_id", "field"),
    (
        Cube("quality_disagreements", ("schema_id",)),
        Cube("quality_disagreements.field", ("field",), key="schema_id"),
    ),
)
