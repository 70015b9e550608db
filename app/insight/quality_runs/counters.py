"""Counters of quality runs and of disagreements, used for the totals of lists."""

from app.kit.counters import Cube, Source, build_cubes
from app.kit.counters.spans import DAY, MONTH

_FACETS = ("status",)
_SCHEMA = "schema_id"
RUNS = Source(
    "quality_runs",
    (*_FACETS, _SCHEMA, "created"),
    (
        Cube("quality_runs", _FACETS),
        Cube("quality_runs.schema", _FACETS, _SCHEMA),
        *build_cubes("quality_runs.created", _FACETS, "created", MONTH, DAY),
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
