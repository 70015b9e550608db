"""Counters of feedback, in total, by month and by day, from which summaries are computed."""

from app.kit.counters import Cube, Source, build_cubes
from app.kit.counters.spans import DAY, MONTH

_FACETS = ("schema_id", "model", "field")
_LABELER = "labeler_id"


def _build_cubes(source: str, facets: tuple[str, ...]) -> tuple[Cube, ...]:
    return (
        Cube(source, facets),
        *build_cubes(source, facets, "day", MONTH, DAY),
        Cube(f"{source}.labeler", facets, key=_LABELER),
        *build_cubes(f"{source}.labeler", facets, "day", MONTH, DAY, key=_LABELER),
    )


OUTCOMES = Source(
    "feedback",
    (*_FACETS, "outcome", _LABELER, "day"),
    _build_cubes("feedback", (*_FACETS, "outcome")),
)
"""All feedback, counted by outcome."""

CONFIDENCES = Source(
    "feedback_confidence",
    (*_FACETS, "bin", "correct", _LABELER, "day"),
    _build_cubes("feedback_confidence", (*_FACETS, "bin", "correct")),
)
"""The predictions used for calibration. The measure is their confidence in millionths."""
