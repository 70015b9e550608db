"""SQL query for the outcomes of a model's predictions on accepted tag sets."""

from collections.abc import Sequence
from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.dialects.postgresql import distinct_on

from app.insight.feedback.models import PredictionFeedback
from app.kit import db


class Outcome(NamedTuple):
    """The outcome of a model's prediction for a field; the confidence is in millionths."""

    tag_set_id: UUID
    field: str
    outcome: str
    confidence: int | None


def list_outcomes(tag_set_ids: Sequence[UUID]) -> list[Outcome]:
    """Return one outcome per tag set and field; table cells are left out.

    If a field has several predictions, the first one counts, because they are not independent.
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
    return [Outcome._make(row) for row in db.session().execute(statement)]
