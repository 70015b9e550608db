"""Write the reports of a detection, and emit their events."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

from app.engines.drift import Comparison, Verdict
from app.insight.drift import emitted_events
from app.insight.drift.models import DriftDetection, DriftReport, ReportStatus
from app.insight.drift.queries import records
from app.insight.drift.service.periods import Range
from app.insight.drift.service.shifts import MAX_DECISIONS, MAX_DOCUMENTS, Material, Pair
from app.kit import db, events
from app.kit.ids import uuid7

_MAX_DESCRIBED = 5


def write_reports(
    detection: DriftDetection,
    material: Material,
    compared_pairs: Iterable[tuple[Pair, Comparison]],
) -> list[DriftReport]:
    """Create, confirm and close reports; return the reports that were created or confirmed.

    A shift that has an open report confirms it. An open report is closed when its shift has ended.
    """
    now = db.utc_now()
    open_reports = {
        report.shift_key: report
        for report in records.lock_reports(detection.schema_id, ReportStatus.OPEN)
    }
    # A report may have been acknowledged while the samples were compared.
    newly_acknowledged_keys = {
        shift.shift_key
        for shift in records.list_acknowledged(detection.schema_id)
        if material.known_ends.get(shift.shift_key) != shift.current_until
    }
    reports = []
    for pair, comparison in compared_pairs:
        report = open_reports.get(comparison.key)
        if comparison.verdict == Verdict.DRIFT:
            if report is not None:
                report.confirmed_at = now
                reports.append(report)
            elif comparison.key not in newly_acknowledged_keys:
                reports.append(_create_report(detection, material, pair, comparison, now))
        elif comparison.verdict == Verdict.GONE and report is not None:
            _close_if_ended(report, detection, now)
    db.session().flush()
    return reports


def _close_if_ended(report: DriftReport, detection: DriftDetection, now: datetime) -> None:
    is_later = detection.current_until > report.current_until
    # A baseline after the shift contains the shift already, so it cannot show that the shift ended.
    is_before = detection.baseline_until <= report.current_from
    if is_later and (is_before or report.labeler_id is not None):
        report.status = ReportStatus.CLOSED.value
        report.closed_at = now


def _create_report(
    detection: DriftDetection,
    material: Material,
    pair: Pair,
    comparison: Comparison,
    now: datetime,
) -> DriftReport:
    shift = pair.shift
    report = DriftReport(
        id=uuid7(),
        schema_id=detection.schema_id,
        detection_id=detection.id,
        shift_key=shift.key,
        subject=shift.subject.value,
        field=shift.field,
        metric=shift.metric.value,
        labeler_id=shift.labeler_id,
        test=comparison.test,
        category=comparison.category,
        baseline=_describe_sample(pair.baseline, comparison.baseline_n, comparison.baseline_value),
        current=_describe_sample(pair.current, comparison.current_n, comparison.current_value),
        current_from=pair.current.start,
        current_until=pair.current.end,
        p_value=comparison.p_value,
        q_value=comparison.q_value,
        effect=comparison.psi,
        js_distance=comparison.js_distance,
        warnings=_list_warnings(material, pair),
        status=ReportStatus.OPEN.value,
        confirmed_at=now,
    )
    db.session().add(report)
    return report


def _describe_sample(period: Range, n: int, value: float | None) -> dict[str, Any]:
    return {
        "start": _format_timestamp(period.start),
        "end": _format_timestamp(period.end),
        "n": n,
        "value": value,
    }


def _format_timestamp(timestamp: datetime) -> str:
    return timestamp.astimezone(UTC).isoformat().replace("+00:00", "Z")


def _list_warnings(material: Material, pair: Pair) -> list[str]:
    warnings = []
    if pair.shift.field in material.fields.changed:
        warnings.append(
            "The type of the field has changed. Only versions with the current type are compared."
        )
    compared = material.list_compared(pair)
    if pair.shift.is_review_metric:
        if any(data.decisions >= MAX_DECISIONS for data in compared):
            warnings.append(
                f"Only the newest {MAX_DECISIONS:,} review decisions of a period are compared."
            )
    elif any(data.documents >= MAX_DOCUMENTS for data in compared):
        warnings.append(f"Only the newest {MAX_DOCUMENTS:,} documents of a period are compared.")
    return warnings


def emit_reports(detection: DriftDetection, reports: Sequence[DriftReport]) -> None:
    """Emit one event for each new report, and one event for all new reports together."""
    if not reports:
        return
    events.emit_many(emitted_events.DETECTED, [_build_payload(report) for report in reports])
    events.emit(
        emitted_events.FOUND,
        {
            "detection_id": detection.id,
            "schema_name": records.get_schema_name(detection.schema_id),
            "count": len(reports),
            "shifts": [_describe_shift(report) for report in reports[:_MAX_DESCRIBED]],
        },
    )


def _build_payload(report: DriftReport) -> dict[str, Any]:
    return {
        "report_id": report.id,
        "schema_id": report.schema_id,
        "subject": report.subject,
        "field": report.field,
        "metric": report.metric,
        "baseline": report.baseline["value"],
        "current": report.current["value"],
        "p_value": report.p_value,
    }


def _describe_shift(report: DriftReport) -> str:
    """Return a shift as text of API names and numbers, which needs no translation."""
    name = report.metric if report.field is None else f"{report.field}: {report.metric}"
    return f"{name} {report.baseline['value']:.4g} → {report.current['value']:.4g}"
