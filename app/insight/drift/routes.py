"""Routes for drift reports and detections."""

from typing import Any
from uuid import UUID

from app.insight.drift.models import DriftReport as Report
from app.insight.drift.schemas import DetectDrift, DriftDetection, DriftFilters, DriftReport
from app.insight.drift.service import reading, requesting
from app.kit.api.blueprint import Blueprint, Listing
from app.kit.pagination import Page
from app.kit.principal import Caller

blueprint = Blueprint("drift", tag="quality", record_type="drift_reports")


@blueprint.get(
    "/quality/drift",
    permission="drift:read",
    query=Listing(sort_keys=("-created_at",), filters=DriftFilters, has_period=True),
    returns=DriftReport,
)
def list_drift_reports(caller: Caller, query: dict[str, Any]) -> Page:
    """List drift reports.

    Returns the shifts that were found in model predictions and in labeling. A report about a
    labeler is shown to that labeler and to reviewers; reviewers in teams see only reports about
    members of their teams. With `detection_id`, responds with 409 `conflict` until the detection is
    completed; `details.status` is the status of the detection.
    """
    return reading.list_reports(caller=caller, **query)


@blueprint.get("/quality/drift/{report_id}", permission="drift:read", returns=DriftReport)
def get_drift_report(caller: Caller, report_id: UUID) -> Report:
    """Get a drift report.

    Returns the shifted metric, the test and its p-value, the effect sizes and the sample sizes.
    """
    return reading.get_report(report_id, caller=caller)


@blueprint.post(
    "/quality/drift/detect",
    permission="drift:manage",
    body=DetectDrift,
    returns=DriftDetection,
    status=202,
)
def detect_drift(caller: Caller, body: dict[str, Any]) -> dict[str, Any]:
    """Detect drift.

    Compares two periods of a schema in the background. To get the result, list the drift reports
    with `detection_id`. Emits `drift.detected` once for each new report. Responds with 409
    `conflict` while another detection of the schema is unfinished; `details.detection_id` is the id
    of the unfinished detection.
    """
    return requesting.request_detection(requested_by=caller.user_id, **body)


@blueprint.post(
    "/quality/drift/{report_id}/acknowledge", permission="drift:manage", returns=DriftReport
)
def acknowledge_drift_report(caller: Caller, report_id: UUID) -> Report:
    """Acknowledge a drift report.

    Accepts the shift: the period after the shift becomes the baseline of later detections, and the
    same shift is not reported again. Responds with 409 `conflict` if the report is closed.
    """
    return reading.acknowledge(report_id, caller=caller)
