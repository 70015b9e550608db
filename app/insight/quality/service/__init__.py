"""Quality metrics: read the daily aggregates, and keep them current."""

from app.insight.quality.service.latest import get_fields, get_latest
from app.insight.quality.service.people import list_labelers, list_reviewers
from app.insight.quality.service.trends import draw_trends, get_trends
from app.insight.quality.service.updating import list_incomplete, list_outdated, rebuild, update

__all__ = [
    "draw_trends",
    "get_fields",
    "get_latest",
    "get_trends",
    "list_incomplete",
    "list_labelers",
    "list_outdated",
    "list_reviewers",
    "rebuild",
    "update",
]
