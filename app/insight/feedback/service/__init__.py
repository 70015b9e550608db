"""Public functions of feedback: record feedback on predictions, and summarize it."""

from app.insight.feedback.service.automatic import rebuild, record
from app.insight.feedback.service.comparing import list_models
from app.insight.feedback.service.reporting import create, create_many
from app.insight.feedback.service.summaries import (
    get_outcomes_by_field,
    get_summary,
    get_summary_by_field,
)

__all__ = [
    "create",
    "create_many",
    "get_outcomes_by_field",
    "get_summary",
    "get_summary_by_field",
    "list_models",
    "rebuild",
    "record",
]
