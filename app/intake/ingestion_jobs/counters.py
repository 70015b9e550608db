"""Counters for ingestion jobs, so that totals are available without counting rows."""

from app.kit.counters import Cube, Source, build_cubes
from app.kit.counters.spans import DAY, MONTH

_FACETS = ("status", "kind")
_CONNECTOR = "connector_id"
JOBS = Source(
    "ingestion_jobs",
    (*_FACETS, _CONNECTOR, "created"),
    (
        Cube("ingestion_jobs", _FACETS),
        Cube("ingestion_jobs.connector", _FACETS, _CONNECTOR),
        *build_cubes("ingestion_jobs.created", _FACETS, "created", MONTH, DAY),
    ),
)
