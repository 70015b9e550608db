"""Counters for ingestion jobs, so that rows need not be counted."""

from app.kit.counters import Cube, Source
from app.kit.counters.spans import DAY, MONTH

_STATE = ("status", "kind")
_CONNECTOR = "connector_id"
JOBS = Source(
    "ingestion_jobs",
    (*_STATE, _CONNECTOR, "created"),
    (
        Cube("ingestion_jobs", _STATE),
        Cube("ingestion_jobs.connector", _STATE, _CONNECTOR),
        Cube("ingestion_jobs.created.month", _STATE, None, "created", MONTH),
        Cube("ingestion_jobs.created.day", _STATE, None, "created", DAY),
    ),
)
