"""The counters of disagreements, from which totals are read."""

from app.kit.counters import Cube, Source

DISAGREEMENTS = Source(
    "quality_disagreements",
    ("schema_id", "field"),
    (
        Cube("quality_disagreements", ("schema_id",)),
        Cube("quality_disagreements.field", ("field",), key="schema_id"),
    ),
)
