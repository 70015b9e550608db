"""SQL query for the outcomes of predictions on accepted tag sets."""

from collections.abc import Sequence
from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.dialects.postgresql import distinct_on

from app.insight.feedback.models import PredictionFeedback
from app.kit import db


class PredictionOutcome(NamedTuple):
    """The outcome of a model's prediction for a field; the confidence is in millionths."""

    tag_set_id: UUID
    field: str
    outcome: str
    confidence: int | None


def list_outcomes(tag_set_ids: Sequence[UUID]) -> list[PredictionOutcome]:
    """List the prediction outcomes on tag sets, one per tag set and field.

    Table cells are left out. If a field has several predictions, only the first outcome is
    returned, because predictions for the same field are not independent of each other.
    """
    columns: tuple[Any, ...] = (PredictionFeedback.tag_set_id, PredictionFeedback.field)
    statement = (
        select(*columns, PredictionFeedback.outcome, PredictionFeedback.confidence)
        .ext(distinct_on(*columns))
        .where(
            PredictionFeedback.tag_set_id.in_(tag_set_ids),
            PredictionFeedback.row.is_(None),
            PredictionFeedback.field.not_like("%.%"),
        )
        .order_by(*columns, PredictionFeedback.position, PredictionFeedback.id)
    )
    return [PredictionOutcome._make(row) for row in db.session().execute(statement)]
