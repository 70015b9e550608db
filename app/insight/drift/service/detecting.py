"""Run a detection: read the samples, compare them, and write the reports."""

from collections.abc import Iterator
from datetime import datetime
from uuid import UUID

from app.engines.drift.model import Comparison, Hypothesis
from app.engines.drift.process import find_drift
from app.insight.drift.models import DetectionStatus, DriftDetection
from app.insight.drift.queries import records, samples
from app.insight.drift.queries.records import DetectionPeriods
from app.insight.drift.service import reporting
from app.insight.drift.service.collecting import FieldTypes, PeriodData, compare_versions
from app.insight.drift.service.shifts import (
    MAX_DECISIONS,
    MAX_DOCUMENTS,
    THRESHOLDS,
    DetectionData,
    ShiftPeriods,
    find_reference_starts,
    iterate_comparisons,
)
from app.kit import db
from app.kit.jobs import Job, LostLease

MAX_REFERENCES = 10
"""The maximum number of reference periods (see `find_reference_starts`) with different starts."""


def detect(job: Job, detection_id: UUID) -> None:
    """Run a detection, in several transactions, unless it has ended. May raise LostLease."""
    detection = _start(detection_id)
    if detection is None:
        return
    schema_id = detection.schema_id
    periods = DetectionPeriods(*(getattr(detection, name) for name in DetectionPeriods._fields))
    job.checkpoint()
    detection_data = _read_detection_data(job, schema_id, periods)
    shift_periods_by_key: dict[str, ShiftPeriods] = {}

    def iterate_hypotheses() -> Iterator[Hypothesis]:
        for shift_periods, hypothesis in iterate_comparisons(detection_data):
            shift_periods_by_key[hypothesis.key] = shift_periods
            yield hypothesis

    comparisons = find_drift(iterate_hypotheses(), THRESHOLDS)
    compared_shifts = [(shift_periods_by_key[item.key], item) for item in comparisons]
    _complete(job, detection_id, detection_data, compared_shifts)


def _start(detection_id: UUID) -> DriftDetection | None:
    detection = records.find(DriftDetection, detection_id, lock=True)
    if detection is None or detection.finished_at is not None:
        return None
    detection.status = DetectionStatus.RUNNING.value
    db.session().flush()
    return detection


def _read_detection_data(job: Job, schema_id: UUID, periods: DetectionPeriods) -> DetectionData:
    fields = compare_versions(records.list_versions(schema_id))
    shifts = records.list_acknowledged_shifts(schema_id)
    starts = _limit_starts(find_reference_starts(periods, shifts))
    acknowledged_shifts = {
        shift.shift_key: shift._replace(current_until=starts[shift.shift_key])
        for shift in shifts
        if shift.shift_key in starts
    }
    job.checkpoint()

    def read_period(start: datetime, end: datetime) -> PeriodData:
        return _read_period(job, schema_id, fields, start, end)

    return DetectionData(
        fields,
        periods,
        read_period(periods.baseline_from, periods.baseline_until),
        read_period(periods.current_from, periods.current_until),
        {shift.shift_key: shift.current_until for shift in shifts},
        acknowledged_shifts,
        {start: read_period(start, periods.current_from) for start in sorted(set(starts.values()))},
    )


def _limit_starts(starts: dict[str, datetime]) -> dict[str, datetime]:
    """Replace the earliest starts with a later start, so that at most MAX_REFERENCES differ."""
    kept_starts = sorted(set(starts.values()))[-MAX_REFERENCES:]
    return {key: max(start, kept_starts[0]) for key, start in starts.items()}


def _read_period(
    job: Job, schema_id: UUID, fields: FieldTypes, start: datetime, end: datetime
) -> PeriodData:
    data = PeriodData(fields)
    if start >= end:
        return data
    data.add_decisions(samples.count_decisions(schema_id, start, end, limit=MAX_DECISIONS))
    for batch in samples.iterate_documents(schema_id, start, end, limit=MAX_DOCUMENTS):
        for document in batch:
            data.add_document(document)
        tag_set_ids = [tag_set.id for document in batch for tag_set in document]
        data.add_outcomes(batch, samples.list_outcomes(tag_set_ids))
        job.checkpoint()
    return data


def _complete(
    job: Job,
    detection_id: UUID,
    detection_data: DetectionData,
    compared_shifts: list[tuple[ShiftPeriods, Comparison]],
) -> None:
    """Complete the detection and update the reports, unless the detection has already ended.

    Raises LostLease if another attempt of the job holds the lease.
    """
    if not job.lock_lease():
        raise LostLease
    detection = records.find(DriftDetection, detection_id, lock=True)
    if detection is None or detection.finished_at is not None:
        return
    reports = reporting.update_reports(detection, detection_data, compared_shifts)
    detection.report_ids = [str(report.id) for report in reports]
    detection.not_enough = sum(comparison.p_value is None for _, comparison in compared_shifts)
    detection.compared = len(compared_shifts) - detection.not_enough
    detection.status = DetectionStatus.COMPLETED.value
    detection.finished_at = db.utc_now()
    created_reports = [report for report in reports if report.detection_id == detection_id]
    reporting.emit_report_events(detection, created_reports)


def fail(detection_id: UUID) -> None:
    """Mark a detection as failed, unless it has already ended."""
    detection = records.find(DriftDetection, detection_id, lock=True)
    if detection is not None and detection.finished_at is None:
        detection.status = DetectionStatus.FAILED.value
        detection.error = {
            "code": "internal_error",
            "message": "The detection failed after several attempts. Start a new detection.",
        }
        detection.finished_at = db.utc_now()


def reopen(detection_id: UUID) -> None:
    """Set a failed detection to queued, unless its schema has an unfinished detection."""
    detection = records.find(DriftDetection, detection_id, lock=True)
    if detection is None or detection.status != DetectionStatus.FAILED:
        return
    if records.find_unfinished_detection_id(detection.schema_id) is None:
        detection.status = DetectionStatus.QUEUED.value
        detection.error = detection.finished_at = None
