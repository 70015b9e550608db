"""Update the drift reports of a schema after a detection, and emit events for new reports."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

from app.engines.drift.model import Comparison, DriftOutcome
from app.insight.drift import emitted_events
from app.insight.drift.models import DriftDetection, DriftReport, DriftSubject, ReportStatus
from app.insight.drift.queries import records
from app.insight.drift.service.collecting import FieldTypes, list_metrics
from app.insight.drift.service.shifts import (
    MAX_DECISIONS,
    MAX_DOCUMENTS,
    DetectionData,
    ShiftPeriods,
)
from app.kit import db, events
from app.kit.days import TimeRange
from app.kit.ids import uuid7

_MAX_DESCRIBED_SHIFTS = 5


def update_reports(
    detection: DriftDetection,
    detection_data: DetectionData,
    compared_shifts: Iterable[tuple[ShiftPeriods, Comparison]],
) -> list[DriftReport]:
    """Update the reports of a schema: create, confirm or close them after a detection.

    Returns the reports that were created or confirmed. If a detected shift already has an open
    report, the report is confirmed. No report is created for a shift that was acknowledged while
    the detection was running. An open report is closed when its shift has ended, or when its field
    is not in the newest schema version or no longer has its metric.
    """
    now = db.utc_now()
    open_reports = {
        report.shift_key: report
        for report in records.lock_reports(detection.schema_id, ReportStatus.OPEN)
    }
    # A report may have been acknowledged while the samples were being read or compared.
    newly_acknowledged_keys = {
        shift.shift_key
        for shift in records.list_acknowledged_shifts(detection.schema_id)
        if detection_data.acknowledged_ends.get(shift.shift_key) != shift.current_until
    }
    reports = []
    for periods, comparison in compared_shifts:
        report = open_reports.get(comparison.key)
        if comparison.outcome == DriftOutcome.DRIFT:
            if report is not None:
                report.confirmed_at = now
                reports.append(report)
            elif comparison.key not in newly_acknowledged_keys:
                reports.append(_create_report(detection, detection_data, periods, comparison, now))
        elif comparison.outcome == DriftOutcome.GONE and report is not None:
            _close_if_ended(report, detection, now)
    for report in open_reports.values():
        if not _has_metric(detection_data.fields, report):
            _close(report, now)
    db.session().flush()
    return reports


def _close_if_ended(report: DriftReport, detection: DriftDetection, now: datetime) -> None:
    is_later = detection.current_until > report.current_until
    # A baseline that includes the shift cannot show that the shift has ended.
    has_earlier_baseline = detection.baseline_until <= report.current_from
    if is_later and (has_earlier_baseline or report.labeler_id is not None):
        _close(report, now)


def _has_metric(fields: FieldTypes, report: DriftReport) -> bool:
    """Return whether the newest schema version still has the field and the metric of a report."""
    if report.field is None:
        return True
    field_type = fields.types.get(report.field)
    if report.subject == DriftSubject.MODEL or field_type is None:
        return field_type is not None
    return report.metric in list_metrics(field_type)


def _close(report: DriftReport, now: datetime) -> None:
    report.status = ReportStatus.CLOSED.value
    report.closed_at = now


def _create_report(
    detection: DriftDetection,
    detection_data: DetectionData,
    shift_periods: ShiftPeriods,
    comparison: Comparison,
    now: datetime,
) -> DriftReport:
    shift, baseline, current = shift_periods
    report = DriftReport(
        id=uuid7(),
        schema_id=detection.schema_id,
        detection_id=detection.id,
        shift_key=shift.key,
        **shift._asdict(),
        test=comparison.test,
        category=comparison.category,
        baseline=_build_sample_summary(baseline, comparison.baseline_n, comparison.baseline_value),
        current=_build_sample_summary(current, comparison.current_n, comparison.current_value),
        current_from=current.start,
        current_until=current.end,
        p_value=comparison.p_value,
        q_value=comparison.q_value,
        effect=comparison.psi,
        js_distance=comparison.js_distance,
        warnings=_list_warnings(detection_data, shift_periods),
        status=ReportStatus.OPEN.value,
        confirmed_at=now,
    )
    db.session().add(report)
    return report


def _build_sample_summary(period: TimeRange, n: int, value: float | None) -> dict[str, Any]:
    return {
        "start": _format_timestamp(period.start),
        "end": _format_timestamp(period.end),
        "n": n,
        "value": value,
    }


def _format_timestamp(timestamp: datetime) -> str:
    return timestamp.astimezone(UTC).isoformat().replace("+00:00", "Z")


def _list_warnings(detection_data: DetectionData, shift_periods: ShiftPeriods) -> list[str]:
    warnings = []
    if shift_periods.shift.field in detection_data.fields.changed_fields:
        warnings.append(
            "The type of the field has changed. Schema versions with another type are left out."
        )
    period_data = detection_data.list_period_data(shift_periods)
    if shift_periods.shift.is_review_metric:
        if any(data.decision_count >= MAX_DECISIONS for data in period_data):
            warnings.append(
                f"Only the newest {MAX_DECISIONS:,} review decisions of a period are compared."
            )
    elif any(data.document_count >= MAX_DOCUMENTS for data in period_data):
        warnings.append(f"Only the newest {MAX_DOCUMENTS:,} documents of a period are compared.")
    return warnings


def emit_report_events(detection: DriftDetection, reports: Sequence[DriftReport]) -> None:
    """Emit one event for each new report, and one event that summarizes all new reports."""
    if not reports:
        return
    events.emit_many(emitted_events.DETECTED, [_build_payload(report) for report in reports])
    events.emit(
        emitted_events.FOUND,
        emitted_events.FoundPayload(
            detection_id=detection.id,
            schema_name=records.get_schema_name(detection.schema_id),
            count=len(reports),
            shifts=[_describe_shift(report) for report in reports[:_MAX_DESCRIBED_SHIFTS]],
        ),
    )


def _build_payload(report: DriftReport) -> emitted_events.DetectedPayload:
    return {
        "report_id": report.id,
        "schema_id": report.schema_id,
        "subject": report.subject,
        "field": report.field,
        "metric": report.metric,
        "p_value": report.p_value,
        "baseline": report.baseline["value"],
        "current": report.current["value"],
    }


def _describe_shift(report: DriftReport) -> str:
    """Describe a shift with API names and numbers only, so that the text needs no translation."""
    name = report.metric if report.field is None else f"{report.field}: {report.metric}"
    return f"{name} {report.baseline['value']:.4g} → {report.current['value']:.4g}"
