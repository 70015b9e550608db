"""Quality metrics: read the daily aggregates, and keep them current."""

from app.insight.quality.service.latest import get_field_metrics, get_latest_metrics
from app.insight.quality.service.people import list_labelers, list_reviewers
from app.insight.quality.service.trends import get_trends, render_trends
from app.insight.quality.service.updating import (
    list_incomplete_organizations,
    list_outdated_organizations,
    rebuild,
    update,
)

__all__ = [
    "get_field_metrics",
    "get_latest_metrics",
    "get_trends",
    "list_incomplete_organizations",
    "list_labelers",
    "list_outdated_organizations",
    "list_reviewers",
    "rebuild",
    "render_trends",
    "update",
]
