"""Database models for feedback on predictions."""

from datetime import date, datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

from sqlalchemy import ForeignKey, Index, SmallInteger, text
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from app.kit import db
from app.kit.ids import uuid7
from app.kit.tenancy import TenantModel, build_foreign_key


class FeedbackOutcome(StrEnum):
    """The result of comparing a predicted value with the correct value.

    CORRECTED: the correct value differs from the predicted value. MISSED: a correct value was not
    predicted. SPURIOUS: a value was predicted where no value is correct.
    """

    CORRECT = "correct"
    CORRECTED = "corrected"
    MISSED = "missed"
    SPURIOUS = "spurious"


class PredictionFeedback(TenantModel, db.Base):
    """Feedback on one predicted or missed value. Immutable.

    Automatic feedback belongs to the revision `accepted_revision` of an accepted tag set.
    `position` numbers the feedback on that revision, starting at 0. The compared values are in the
    revisions of the tag set. For reported feedback, `accepted_revision` and `position` are null,
    and `predicted` and `correct` are the compared values. If the field allows several values,
    reported feedback also has a `value_key`, so that each value is reported only once.

    `confidence` is in millionths. `bin` is the calibration bin of the prediction, or null if the
    prediction is not used for calibration. `day` is the day, in UTC, on which the tag set was
    accepted or the feedback was reported.
    """

    __tablename__ = "prediction_feedback"
    __table_args__ = (
        build_foreign_key("artifact_id", "artifacts", ondelete="CASCADE"),
        build_foreign_key("schema_id", "schemas", ondelete="CASCADE"),
        build_foreign_key("tag_set_id", "tag_sets", ondelete="CASCADE"),
        Index("ix_prediction_feedback_document", "organization_id", "artifact_id", "model"),
        Index("ix_prediction_feedback_model", "organization_id", "schema_id", "model", "day"),
        Index(
            "uq_prediction_feedback_tag_set",
            "organization_id",
            "tag_set_id",
            "position",
            unique=True,
        ),
        Index(
            "uq_prediction_feedback_reported",
            "organization_id",
            "artifact_id",
            "model",
            "field",
            "row",
            "value_key",
            unique=True,
            postgresql_nulls_not_distinct=True,
            postgresql_where=text("position IS NULL"),
        ),
    )

    id: Mapped[UUID] = mapped_column(primary_key=True, default=uuid7)
    artifact_id: Mapped[UUID]
    schema_id: Mapped[UUID]
    field: Mapped[str]
    row: Mapped[int | None]
    model: Mapped[str]
    outcome: Mapped[str]
    predicted: Mapped[Any | None] = mapped_column(JSONB(none_as_null=True))
    correct: Mapped[Any | None] = mapped_column(JSONB(none_as_null=True))
    confidence: Mapped[int | None]
    bin: Mapped[int | None] = mapped_column(SmallInteger)
    tag_set_id: Mapped[UUID | None]
    labeler_id: Mapped[UUID | None] = mapped_column(ForeignKey("users.id"), index=True)
    day: Mapped[date]
    accepted_revision: Mapped[int | None]
    position: Mapped[int | None]
    value_key: Mapped[str | None]
    recorded_by: Mapped[UUID | None] = mapped_column(ForeignKey("users.id"), index=True)
    created_at: Mapped[datetime] = mapped_column(default=db.utc_now)


class FeedbackDocument(TenantModel, db.Base):
    """The number of values by outcome, for one model, document and schema; used to compare models.

    `shared` is true if another model also has feedback on the document with the same schema.
    """

    __tablename__ = "feedback_documents"
    __table_args__ = (
        build_foreign_key("artifact_id", "artifacts", ondelete="CASCADE"),
        build_foreign_key("schema_id", "schemas", ondelete="CASCADE"),
        Index("ix_feedback_documents_schema", "organization_id", "schema_id"),
        Index(
            "ix_feedback_documents_shared",
            "organization_id",
            "schema_id",
            "model",
            "artifact_id",
            postgresql_where=text("shared"),
        ),
    )

    artifact_id: Mapped[UUID] = mapped_column(primary_key=True)
    schema_id: Mapped[UUID] = mapped_column(primary_key=True)
    model: Mapped[str] = mapped_column(primary_key=True)
    correct: Mapped[int]
    corrected: Mapped[int]
    missed: Mapped[int]
    spurious: Mapped[int]
    shared: Mapped[bool]
