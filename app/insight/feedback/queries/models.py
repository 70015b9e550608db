"""SQL queries for models with feedback, and for documents with feedback on two models."""

from datetime import date
from typing import NamedTuple
from uuid import UUID

from sqlalchemy import and_, func, lateral, select, true
from sqlalchemy.orm import aliased

from app.engines.calibration import Outcomes
from app.insight.feedback.counters import OUTCOMES
from app.insight.feedback.models import FeedbackDocument, PredictionFeedback
from app.insight.feedback.queries.summaries import SummaryCriteria
from app.kit import counters, db, tenancy

MAX_DOCUMENTS = 1000
"""The maximum number of documents on which two models are compared. The newest are used."""


class ModelWithFeedback(NamedTuple):
    """A model of a schema, with the days of its first and its last feedback."""

    schema_id: UUID
    model: str
    first_day: date
    last_day: date


def list_models_with_feedback(schema_id: UUID | None) -> list[ModelWithFeedback]:
    """Return the models that have feedback, for one schema or all schemas, in any order."""
    cells = counters.select_cells(
        OUTCOMES, ("schema_id", "model"), SummaryCriteria(schema_id).build_where()
    )
    models_with_feedback = (
        select(
            cells.c.schema_id.cast(PredictionFeedback.schema_id.type).label("schema_id"),
            cells.c.model,
        )
        .group_by(cells.c.schema_id, cells.c.model)
        .having(func.sum(cells.c.n) > 0)
        .subquery()
    )
    # The day is the last index column, so an index lookup finds the first or last day of a model.
    days = lateral(
        select(
            func.min(PredictionFeedback.day).label("first_day"),
            func.max(PredictionFeedback.day).label("last_day"),
        ).where(
            PredictionFeedback.organization_id == tenancy.current_organization_id(),
            PredictionFeedback.schema_id == models_with_feedback.c.schema_id,
            PredictionFeedback.model == models_with_feedback.c.model,
        )
    )
    statement = (
        select(
            models_with_feedback.c.schema_id,
            models_with_feedback.c.model,
            days.c.first_day,
            days.c.last_day,
        )
        .join(days, true())
        .where(days.c.first_day.is_not(None))
    )
    return [ModelWithFeedback._make(row) for row in db.session().execute(statement)]


_other_document = aliased(FeedbackDocument)


def list_shared_outcomes(
    schema_id: UUID, model: str, other_model: str
) -> list[tuple[Outcomes, Outcomes]]:
    """Return, for each document with feedback on both models, the outcomes of both, in this order.

    Only the newest `MAX_DOCUMENTS` documents are returned, newest first.
    """
    names = Outcomes._fields
    statement = (
        select(
            *(getattr(FeedbackDocument, name) for name in names),
            *(getattr(_other_document, name) for name in names),
        )
        .join(
            _other_document,
            and_(
                _other_document.organization_id == FeedbackDocument.organization_id,
                _other_document.artifact_id == FeedbackDocument.artifact_id,
                _other_document.schema_id == FeedbackDocument.schema_id,
            ),
        )
        .where(
            FeedbackDocument.schema_id == schema_id,
            FeedbackDocument.model == model,
            FeedbackDocument.shared,
            _other_document.model == other_model,
            _other_document.shared,
        )
        .order_by(FeedbackDocument.artifact_id.desc())
        .limit(MAX_DOCUMENTS)
    )
    column_count = len(names)
    return [
        (Outcomes(*row[:column_count]), Outcomes(*row[column_count:]))
        for row in db.session().execute(statement)
    ]
