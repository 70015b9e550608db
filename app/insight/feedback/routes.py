"""Routes for feedback on predictions."""

from typing import Any

from app.insight.feedback import model_schemas, schemas
from app.insight.feedback.service import comparing, reporting, summaries
from app.kit.api.blueprint import MIB, Blueprint, Listing
from app.kit.errors import ApiError
from app.kit.pagination import Page
from app.kit.principal import Caller

blueprint = Blueprint("feedback", description="Comparison of predictions with correct values.")


@blueprint.post(
    "/feedback/predictions",
    permission="feedback:write",
    body=schemas.NewFeedback,
    returns=schemas.Feedback,
    status=201,
)
def create_prediction_feedback(caller: Caller, body: dict[str, Any]) -> dict[str, Any]:
    """Create prediction feedback.

    Records how one prediction of any model compares with the correct value. Both values are
    normalized first. Do not report a prediction from which a tag set was started: the service
    records its feedback when the tag set is accepted, and then refuses reports on this artifact and
    model with 409 `conflict`. A second report of the same prediction is refused in the same way.
    """
    return reporting.create(body, caller=caller)


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

    Records up to 1,000 reports and returns the result of each report, in the same order. If a
    report fails, the other reports are still recorded.
    """
    results = reporting.create_many(body["items"], caller=caller)
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

    Returns the accuracy of models, from accepted tag sets and from reported feedback: in total, by
    model and over time.
    """
    return summaries.get_summary(caller=caller, **query)


@blueprint.get(
    "/feedback/summary/fields",
    permission="feedback:read",
    query=schemas.FieldsQuery,
    returns=schemas.FeedbackByField,
    render_picture=summaries.render_calibration,
)
def get_feedback_by_field(caller: Caller, query: dict[str, Any]) -> dict[str, Any]:
    """Get the feedback summary by field.

    Returns the accuracy of each field with its calibration and a recommended confidence threshold.
    With `Accept: image/png` or `image/svg+xml` the response is a chart of the calibration curve.
    If the summary has only one field, the chart shows this field, otherwise all fields combined.
    """
    return summaries.get_summary_by_field(caller=caller, **query)


@blueprint.get(
    "/feedback/models",
    permission="feedback:read",
    query=Listing(sort_keys=("-last_date",), filters=model_schemas.ModelsQuery),
    returns=model_schemas.FeedbackModel,
)
def list_feedback_models(caller: Caller, query: dict[str, Any]) -> Page:
    """List models with feedback.

    Returns the models of each schema with their accuracy over time. Each model is compared with
    another model by a paired bootstrap, on the documents with feedback on both models; `verdict` is
    the result in words. A page has at most 10 comparisons; `comparison_omitted` is true for the
    models whose comparison was left out.
    """
    return comparing.list_models(**query)
