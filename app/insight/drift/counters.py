"""Counters of drift reports, used for the totals of lists."""

from app.kit.counters import Cube, Source
from app.kit.counters.spans import MONTH

_FACETS = ("status", "subject", "metric")
NO_LABELER = "none"
"""The value of the facet `labeler_id` for reports that are not about a labeler."""
_LABELER, _SCHEMA = "labeler_id", "schema_id"
REPORTS = Source(
    "drift_reports",
    (*_FACETS, _LABELER, _SCHEMA, "created"),
    (
        Cube("drift_reports", _FACETS),
        Cube("drift_reports.labeler", _FACETS, _LABELER),
        Cube("drift_reports.schema", (*_FACETS, _LABELER), _SCHEMA),
        Cube("drift_reports.created.month", _FACETS, None, "created", MONTH),
        Cube("drift_reports.labeler.created.month", _FACETS, _LABELER, "created", MONTH),
        Cube("drift_reports.schema.created.month", (*_FACETS, _LABELER), _SCHEMA, "created", MONTH),
    ),
)
