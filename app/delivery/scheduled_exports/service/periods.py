"""Filters for scheduled exports, and the period of each run."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from app.delivery.exports.models import Export
from app.delivery.scheduled_exports.models import Mode, ScheduledExport, ScheduledRun

OPEN_END = datetime(9999, 12, 31, tzinfo=UTC)
"""The placeholder for the end of a period that ends when the run starts."""
_ID_PROPERTIES = ("schema_id", "labeler_id")
_TIME_PROPERTIES = ("created_after", "created_before", "decided_after", "decided_before")


def parse_filter(stored: Mapping[str, Any]) -> dict[str, Any]:
    """Parse a stored filter into request values, without properties that are null."""
    filter_ = {name: value for name, value in stored.items() if value is not None}
    for name in _ID_PROPERTIES:
        if name in filter_:
            filter_[name] = UUID(filter_[name])
    for name in _TIME_PROPERTIES:
        if name in filter_:
            filter_[name] = datetime.fromisoformat(filter_[name])
    if "artifact_ids" in filter_:
        filter_["artifact_ids"] = [UUID(artifact_id) for artifact_id in filter_["artifact_ids"]]
    return filter_


def remove_open_ends(filter_: Mapping[str, Any]) -> dict[str, Any]:
    """Replace OPEN_END in a filter with null, because each run computes the end of its period."""
    ends = ("created_before", "decided_before")
    return {
        name: None
        if name in ends and value is not None and datetime.fromisoformat(value) == OPEN_END
        else value
        for name, value in filter_.items()
    }


def build_run_filter(export: ScheduledExport, now: datetime) -> dict[str, Any]:
    """Build the filter for a run that starts at `now`.

    The period of an incremental run begins at `exported_until`, the end of the last delivered
    period. If `exported_until` is null or in the future, the run exports everything. A time in the
    future means that the database's clock was set back: a period that begins at this time would
    miss the tag sets that are decided before it.
    """
    filter_ = parse_filter(export.filter)
    if export.mode == Mode.INCREMENTAL:
        filter_["decided_before"] = OPEN_END
        if export.exported_until is not None and export.exported_until <= now:
            filter_["decided_after"] = export.exported_until
    return filter_


def compute_exported_until(
    scheduled_export: ScheduledExport, run: ScheduledRun, now: datetime
) -> datetime | None:
    """Compute the new `exported_until` of a scheduled export whose incremental run was delivered.

    Normally, this is the later of the current value and the end of the run's period. The current
    value is kept if the run's period begins after it, or if it is null and the run's period has a
    start: the scheduled export was then changed during the run, so the next run must not continue
    where this run ends. A current value in the future is replaced, because the clock was wrong.
    """
    until, covers_until = scheduled_export.exported_until, run.covers_until
    if until is None:
        return covers_until if run.covers_from is None else None
    if covers_until is None or (run.covers_from is not None and run.covers_from > until):
        return until
    return covers_until if until > now else max(until, covers_until)


def has_current_settings(scheduled_export: ScheduledExport, export: Export) -> bool:
    """Return whether an incremental run used the current settings of its scheduled export.

    If it did not, the scheduled export was changed during the run. The next run then exports
    everything again, regardless of what this run has delivered.
    """
    has_same_format = scheduled_export.format == export.format
    has_same_options = scheduled_export.options == export.options
    filter_ = {**export.filter, "decided_after": None, "decided_before": None}
    include = {**export.include, "removed": False}
    is_incremental = scheduled_export.mode == Mode.INCREMENTAL
    has_same_filter = (scheduled_export.filter, scheduled_export.include) == (filter_, include)
    return has_same_format and has_same_options and is_incremental and has_same_filter
