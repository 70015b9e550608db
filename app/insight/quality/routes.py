"""Routes for quality metrics."""

from typing import Any

from app.insight.quality.schemas import (
    FieldQualities,
    LabelerFilters,
    LabelerQuality,
    LatestQuality,
    QualityPeriodQuery,
    QualityTrends,
    ReviewerQuality,
    TrendsQuery,
)
from app.insight.quality.service import latest, people, trends
from app.kit.api.blueprint import Blueprint, Listing
from app.kit.pagination import Page
from app.kit.principal import Caller

blueprint = Blueprint(
    "quality", description="Metrics of label quality: agreement, accuracy and drift."
)


@blueprint.get(
    "/quality/latest",
    permission="quality:read",
    query=QualityPeriodQuery,
    returns=LatestQuality,
)
def get_latest_quality(caller: Caller, query: dict[str, Any]) -> dict[str, Any]:
    """Get the latest quality metrics.

    Returns agreement, acceptance rate, correction rate, accuracy on gold documents, throughput and
    labeling speed for each schema.
    """
    return latest.get_latest_metrics(caller=caller, **query)


@blueprint.get(
    "/quality/trends",
    permission="quality:read",
    query=TrendsQuery,
    returns=QualityTrends,
    render_picture=trends.render_trends,
)
def get_quality_trends(caller: Caller, query: dict[str, Any]) -> dict[str, Any]:
    """Get a quality metric over time.

    Returns one metric by day, week or month, optionally grouped by schema, field, team or labeler.
    The metrics of teams and of other labelers require the reviewer role. Accuracy on gold documents
    by day, month or field also requires this role. With `Accept: image/png` or `image/svg+xml` the
    response is a chart.
    """
    return trends.get_trends(caller=caller, **query)


@blueprint.get(
    "/quality/fields",
    permission="quality:read",
    query=QualityPeriodQuery,
    returns=FieldQualities,
)
def get_field_quality(caller: Caller, query: dict[str, Any]) -> dict[str, Any]:
    """Get quality metrics by field.

    Returns the correction rate, the agreement and the prediction accuracy for each field. If the
    type of a field has changed, the metrics of its earlier types are omitted, and `warnings` names
    the field.
    """
    return latest.get_field_metrics(caller=caller, **query)


@blueprint.get(
    "/quality/labelers",
    permission="quality:review",
    query=Listing(sort_keys=("id",), filters=LabelerFilters),
    returns=LabelerQuality,
)
def get_labeler_quality(caller: Caller, query: dict[str, Any]) -> Page:
    """Get quality metrics by labeler.

    Returns acceptance and correction rates, accuracy on gold documents, agreement with other
    labelers, throughput and speed. Reviewers in teams see only the members of their teams.
    """
    return people.list_labelers(caller=caller, **query)


@blueprint.get(
    "/quality/reviewers",
    permission="quality:manage",
    query=Listing(sort_keys=("id",), filters=QualityPeriodQuery),
    returns=ReviewerQuality,
)
def get_reviewer_quality(caller: Caller, query: dict[str, Any]) -> Page:
    """Get quality metrics by reviewer.

    Returns the number of decisions, the fraction of decisions that were overturned, the acceptance
    rate, and the acceptance rate of all other reviewers together.
    """
    return people.list_reviewers(caller=caller, **query)
