"""Routes of feedback on predictions."""

from typing import Any

from app.insight.feedback import charts, schemas, service
from app.kit.api.blueprint import MIB, Blueprint, Listing
from app.kit.errors import ApiError
from app.kit.pagination import Page
from app.kit.principal import Caller

blueprint = Blueprint("feedback", description="How predictions compare with accepted tag sets.")


@blueprint.post(
    "/feedback/predictions",
    permission="feedback:write",
    body=schemas.NewFeedback,
    returns=schemas.Feedback,
    status=201,
)
def create_prediction_feedback(caller: Caller, body: dict[str, Any]) -> dict[str, Any]:
    """Create prediction feedback.

    Records how one prediction of any model compares with what was right. The values are compared in
    normal form. Feedback on tag sets that began from a prediction is recorded without it, when they
    are accepted. A prediction has feedback once: a second report is a conflict.
    """
    return service.create(body, caller=caller)


@blueprint.post(
    "/feedback/predictions/bulk",
    permission="feedback:write",
    body=schemas.NewFeedbackList,
    returns=schemas.FeedbackBulkResult,
    status=201,
    max_body=16 * MIB,
)
def create_prediction_feedback_bulk(caller: Caller, body: dict[str, Any]) -> dict[str, Any]:
    """Create prediction feedback in bulk.

    Records up to 1,000 reports. Each has an outcome; one that fails does not undo the others.
    """
    results = service.create_many(body["items"], caller=caller)
    outcomes = [_build_outcome(index, result) for index, result in enumerate(results)]
    failed = sum(not outcome["ok"] for outcome in outcomes)
    return {"succeeded": len(outcomes) - failed, "failed": failed, "outcomes": outcomes}


def _build_outcome(index: int, result: dict[str, Any] | ApiError) -> dict[str, Any]:
    failure = result if isinstance(result, ApiError) else None
    row = {} if isinstance(result, ApiError) else result
    return {
        "index": index,
        "ok": failure is None,
        "id": row.get("id"),
        "outcome": row.get("outcome"),
        "code": failure.code if failure else None,
        "message": failure.message if failure else None,
        "field": failure.field if failure else None,
    }


@blueprint.get(
    "/feedback/summary",
    permission="feedback:read",
    query=schemas.SummaryQuery,
    returns=schemas.FeedbackSummary,
)
def get_feedback_summary(caller: Caller, query: dict[str, Any]) -> dict[str, Any]:
    """Get the feedback summary.

    Shows the accuracy of models against accepted tag sets: in all, by model, and over time.
    """
    return service.get_summary(caller=caller, **query)


@blueprint.get(
    "/feedback/summary/fields",
    permission="feedback:read",
    query=schemas.FieldsQuery,
    returns=schemas.FeedbackByField,
    picture=charts.draw_calibration,
)
def get_feedback_by_field(caller: Caller, query: dict[str, Any]) -> dict[str, Any]:
    """Get the feedback summary by field.

    Shows the accuracy of each field with its calibration and a recommended confidence threshold. As
    a picture, it is the calibration curve: of the only field, or of all fields together.
    """
    return service.get_by_field(caller=caller, **query)


@blueprint.get(
    "/feedback/models",
    permission="feedback:read",
    query=Listing(sorts=("-last_date",), filters=schemas.ModelsQuery),
    returns=schemas.FeedbackModel,
)
def list_feedback_models(caller: Caller, query: dict[str, Any]) -> Page:
    """List feedback models.

    Each model of a schema has its accuracy over time, and a comparison with another one on the
    documents that both have feedback on: by a paired bootstrap, with the result in words. A page
    has at most 10 models, even with a larger `page_size`.
    """
    return service.list_models(**query)
