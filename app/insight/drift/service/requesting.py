"""Request detections: for clients, and daily for each schema with accepted tag sets."""

from datetime import date
from typing import Any
from uuid import UUID

from app.identity.organizations import service as organizations
from app.insight.drift import emitted_events
from app.insight.drift.models import DriftDetection
from app.insight.drift.queries import records
from app.insight.drift.queries.records import DetectionPeriods
from app.insight.drift.service import periods
from app.kit import errors, events, tenancy
from app.kit.days import TimeRange
from app.kit.db import Checkpoint
from app.schemas.artifact_schemas.service import drafts as schemas

_BATCH_SIZE = 100


def request_detection(
    *,
    schema_id: UUID,
    requested_by: UUID | None,
    baseline: dict[str, Any] | None = None,
    current: dict[str, Any] | None = None,
    fix_baseline: bool | None = None,
) -> dict[str, Any]:
    """Request a detection: insert it, emit its event, and return it in the API's format.

    `fix_baseline` stores the baseline as the fixed baseline of the schema (True), deletes the fixed
    baseline (False), or changes nothing (None).

    Raises:
        ApiError: 404 for an unknown schema; 400 for an invalid period, or if `fix_baseline` is True
            without `baseline`; 409 `conflict` with `details.detection_id` if the schema has an
            unfinished detection.
    """
    schemas.get(schema_id)
    chosen_periods = periods.choose_periods(
        schema_id,
        baseline=None if baseline is None else TimeRange(**baseline),
        current=None if current is None else TimeRange(**current),
        fix_baseline=fix_baseline,
    )
    detection_id = _insert_detection(schema_id, chosen_periods, requested_by=requested_by)
    if detection_id is None:
        raise errors.conflict(
            "A drift detection of this schema is already queued or running. Wait until it ends.",
            detection_id=records.find_unfinished_detection_id(schema_id),
        )
    if fix_baseline is True:
        records.save_baseline(
            schema_id, chosen_periods.baseline_from, chosen_periods.baseline_until, requested_by
        )
    elif fix_baseline is False:
        records.delete_baseline(schema_id)
    detection = records.find(DriftDetection, detection_id)
    assert detection is not None
    return build_detection_response(detection)


def _insert_detection(
    schema_id: UUID,
    chosen_periods: DetectionPeriods,
    *,
    due_on: date | None = None,
    requested_by: UUID | None = None,
) -> UUID | None:
    """Insert a queued detection, emit its event, and return its id.

    Returns None if the schema has an unfinished detection, or a daily detection for the same day.
    """
    detection_id = records.insert_detection(
        schema_id, chosen_periods, due_on=due_on, requested_by=requested_by
    )
    if detection_id is not None:
        events.emit(
            emitted_events.REQUESTED, emitted_events.RequestedPayload(detection_id=detection_id)
        )
    return detection_id


def build_detection_response(detection: DriftDetection) -> dict[str, Any]:
    """Build the API's representation of a detection."""
    return {
        "id": detection.id,
        "schema_id": detection.schema_id,
        "status": detection.status,
        "baseline": {"start": detection.baseline_from, "end": detection.baseline_until},
        "current": {"start": detection.current_from, "end": detection.current_until},
        "created_at": detection.created_at,
        "updated_at": detection.updated_at,
    }


def request_daily_detections(checkpoint: Checkpoint) -> None:
    """Request a daily detection for each schema with recently accepted tag sets.

    The current period is the last `periods.CURRENT_DAYS` whole days in the organization's time
    zone. A schema gets a detection if one of its tag sets was accepted since that period began,
    including today. It is skipped if it already has a daily detection for the same day or an
    unfinished detection, or if the current period begins before the end of its fixed baseline.
    `checkpoint` commits each batch.
    """
    zone = organizations.get_time_zone(tenancy.current_organization_id())
    current_period = periods.get_last_days(zone)
    last_schema_id = UUID(int=0)
    while True:
        schema_ids = records.list_schema_ids_with_work(
            current_period.start, after=last_schema_id, limit=_BATCH_SIZE
        )
        for schema_id in schema_ids:
            chosen_periods = periods.choose_daily_periods(schema_id, current_period)
            if chosen_periods is not None:
                _insert_detection(schema_id, chosen_periods, due_on=current_period.end.date())
            last_schema_id = schema_id
        checkpoint()
        if len(schema_ids) < _BATCH_SIZE:
            return
