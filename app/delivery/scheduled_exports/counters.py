"""Counters of the runs of scheduled exports, used for the totals of lists."""

from app.kit.counters import Cube, Source
from app.kit.counters.spans import MONTH

_SCHEDULED_EXPORT = "scheduled_export_id"
RUNS = Source(
    "scheduled_export_runs",
    (_SCHEDULED_EXPORT, "created"),
    (
        Cube("scheduled_export_runs", (), _SCHEDULED_EXPORT),
        Cube("scheduled_export_runs.created.month", (), _SCHEDULED_EXPORT, "created", MONTH),
    ),
)
