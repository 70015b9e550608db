"""Quality metrics: read the daily aggregates, and keep them current."""

from app.insight.quality.service.latest import get_fields, get_latest
from app.insight.quality.service.people import list_labelers, list_reviewers
from app.insight.quality.service.trends import get_trends, render_trends
from app.insight.quality.service.updating import (
    list_incomplete_organizations,
    list_outdated_organizations,
    rebuild,
    update,
)

__all__ = [
    "get_fields",
    "get_latest",
    "get_trends",
    "list_incomplete_organizations",
    "list_labelers",
    "list_outdated_organizations",
    "list_reviewers",
    "rebuild",
    "render_trends",
    "update",
]
