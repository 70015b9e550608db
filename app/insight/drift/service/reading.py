"""Read and acknowledge drift reports."""

from typing import Unpack
from uuid import UUID

from app.insight.drift.models import DetectionStatus, DriftDetection, DriftReport, ReportStatus
from app.insight.drift.queries import records
from app.insight.drift.queries.records import ReportFilters
from app.insight.visibility.service import get_visibility
from app.kit import db, errors
from app.kit.pagination import Page, PageRequest
from app.kit.principal import Caller


def list_reports(
    *,
    caller: Caller,
    page: PageRequest,
    detection_id: UUID | None = None,
    **filters: Unpack[ReportFilters],
) -> Page:
    """Return a page of reports, newest first by default.

    Reports about labelers whom the caller may not see are left out. `detection_id` limits the list
    to reports that the detection created or confirmed. Raises 409 `conflict` with `details.status`
    if the detection is not completed.
    """
    report_ids = None if detection_id is None else _list_report_ids(detection_id)
    labeler_ids = get_visibility(caller).labeler_ids
    return records.list_reports(page, labeler_ids=labeler_ids, report_ids=report_ids, **filters)


def _list_report_ids(detection_id: UUID) -> list[UUID]:
    """Return the report ids of a completed detection, or an empty list if it does not exist.

    Raises 409 `conflict` with `details.status` if the detection is not completed.
    """
    detection = records.find(DriftDetection, detection_id)
    if detection is None:
        return []
    if detection.status == DetectionStatus.FAILED:
        raise errors.conflict("The detection has failed. Start a new detection.", status="failed")
    if detection.status != DetectionStatus.COMPLETED:
        message = "The detection is not completed yet. Try again in a few seconds."
        raise errors.conflict(message, status=detection.status)
    return [UUID(report_id) for report_id in detection.report_ids]


def get_report(report_id: UUID, *, caller: Caller, lock: bool = False) -> DriftReport:
    """Return a report; lock it if `lock` is true.

    Raises 404 if the report does not exist, or is about a labeler whom the caller may not see.
    """
    report = errors.require_found(records.find(DriftReport, report_id, lock=lock))
    if report.labeler_id is not None and not get_visibility(caller).has_labeler(report.labeler_id):
        raise errors.not_found()
    return report


def acknowledge(report_id: UUID, *, caller: Caller) -> DriftReport:
    """Acknowledge an open report, and return it. An acknowledged report is returned unchanged.

    Raises:
        ApiError: 404 if the report does not exist, or is about a labeler whom the caller may not
            see; 409 `conflict` with `details.status` if the report is closed.
    """
    report = get_report(report_id, caller=caller, lock=True)
    if report.status == ReportStatus.CLOSED:
        raise errors.conflict(
            "The report is closed and can no longer be acknowledged.",
            status=report.status,
        )
    if report.status == ReportStatus.OPEN:
        report.status = ReportStatus.ACKNOWLEDGED.value
        report.acknowledged_by = caller.user_id
        report.acknowledged_at = db.utc_now()
        db.session().flush()
    return report
