"""Read and acknowledge drift reports."""

from typing import Any
from uuid import UUID

from app.insight.drift.models import DetectionStatus, DriftReport, ReportStatus
from app.insight.drift.queries import records
from app.kit import db, errors
from app.kit.pagination import Page, PageRequest
from app.kit.permissions import Role
from app.kit.principal import Caller


def list_reports(
    *, caller: Caller, page: PageRequest, detection_id: UUID | None = None, **filters: Any
) -> Page:
    """Return a page of reports, newest first.

    Labelers and viewers see no reports about other labelers. `detection_id` selects the reports
    that a detection created or confirmed.

    Raises:
        ApiError: 409 `conflict` with `details.status` if the detection is not completed.
    """
    report_ids = None if detection_id is None else _list_found(detection_id)
    viewer = _find_viewer(caller)
    return records.list_reports(page, visible_to=viewer, report_ids=report_ids, **filters)


def _find_viewer(caller: Caller) -> UUID | None:
    return None if caller.has(Role.reviewer) else caller.user_id


def _list_found(detection_id: UUID) -> list[UUID]:
    """Return the reports of a completed detection; none if there is no such detection."""
    detection = records.get_detection(detection_id)
    if detection is None:
        return []
    if detection.status == DetectionStatus.FAILED:
        raise errors.conflict("The detection has failed. Start another one.", status="failed")
    if detection.status != DetectionStatus.COMPLETED:
        message = "The detection has not ended. Try again in a few seconds."
        raise errors.conflict(message, status=detection.status)
    return [UUID(report_id) for report_id in detection.report_ids]


def get_report(report_id: UUID, *, caller: Caller) -> DriftReport:
    """Return a report. Raises 404 if it does not exist, or is about another labeler."""
    report = records.get_report(report_id)
    viewer = _find_viewer(caller)
    if report is None or (viewer is not None and report.labeler_id not in (None, viewer)):
        raise errors.not_found()
    return report


def acknowledge(report_id: UUID, *, caller: Caller) -> DriftReport:
    """Acknowledge an open report, and return it. An acknowledged one is returned unchanged.

    Raises:
        ApiError: 404; 409 `conflict` with `details.status` if the report is closed.
    """
    report = records.get_report(report_id, lock=True)
    if report is None:
        raise errors.not_found()
    if report.status == ReportStatus.CLOSED:
        raise errors.conflict("The shift is gone; the report is closed.", status=report.status)
    if report.status == ReportStatus.OPEN:
        report.status = ReportStatus.ACKNOWLEDGED.value
        report.acknowledged_by = caller.user_id
        report.acknowledged_at = db.utc_now()
        db.session().flush()
    return report
