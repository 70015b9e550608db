"""Models of predictions and of trained extraction models."""

from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

from sqlalchemy import ForeignKey, Index, LargeBinary, Uuid
from sqlalchemy.dialects.postgresql import ARRAY, JSONB
from sqlalchemy.orm import Mapped, mapped_column

from app.kit import db
from app.kit.tenancy import TenantModel, build_foreign_key, build_index


class PredictionStatus(StrEnum):
    """The status of a prediction: queued, or ended as completed or failed."""

    QUEUED = "queued"
    COMPLETED = "completed"
    FAILED = "failed"


class ModelState(StrEnum):
    """The state of a trained model.

    A candidate was not activated, because it was significantly worse than the active model. A model
    whose training failed has no content. A retired model was active before.
    """

    ACTIVE = "active"
    CANDIDATE = "candidate"
    RETIRED = "retired"
    FAILED = "failed"


class Prediction(TenantModel, db.Record, db.Base):
    """A prediction of one artifact's tags. A completed prediction never changes.

    `tags` has the same format as the tags of a tag set. Each tag has a confidence and the source
    `model`. The column `model` is `builtin` or the name of the organization's own model.
    `model_version` is the version of a trained model, `rules-N` if the organization has no trained
    model yet, or the version that the model server returned. `model` and `model_version` are None
    until the prediction is completed. `pages` and the token counts are the usage; a trigger copies
    them to `PredictionUsage`. `ingestion_job_id` is the id of the ingestion job (`extract`) that
    requested the prediction, or None.
    """

    __tablename__ = "predictions"
    __table_args__ = (
        build_foreign_key("artifact_id", "artifacts", ondelete="CASCADE"),
        build_foreign_key("schema_id", "schemas", ondelete="CASCADE"),
        build_foreign_key("schema_version_id", "schema_versions", ondelete="CASCADE"),
        build_index("ix_predictions_artifact", "artifact_id", "created_at", "id"),
        build_index("ix_predictions_created", "schema_id", "created_at", "id"),
        build_index("uq_predictions_queued", "artifact_id", where="status = 'queued'", unique=True),
        Index("ix_predictions_age", "created_at"),
    )

    artifact_id: Mapped[UUID]
    schema_id: Mapped[UUID]
    schema_version_id: Mapped[UUID]
    status: Mapped[str] = mapped_column(default=PredictionStatus.QUEUED.value)
    model: Mapped[str | None]
    model_version: Mapped[str | None]
    tags: Mapped[list[Any]] = mapped_column(default=list)
    error: Mapped[dict[str, Any] | None] = mapped_column(JSONB(none_as_null=True))
    pages: Mapped[int] = mapped_column(default=0)
    prompt_tokens: Mapped[int] = mapped_column(default=0)
    completion_tokens: Mapped[int] = mapped_column(default=0)
    ingestion_job_id: Mapped[UUID | None]
    requested_by: Mapped[UUID | None] = mapped_column(ForeignKey("users.id"), index=True)
    completed_at: Mapped[datetime | None]


class PredictionUsage(TenantModel, db.Base):
    """The usage of a completed prediction. The row is kept when the prediction is deleted.

    A trigger inserts the row in the transaction that completes the prediction. The row never
    changes. Failed predictions have no row. `prediction_id` is not a foreign key, because
    predictions are deleted when they are outdated, or when their document or schema is deleted. The
    row is deleted only when the organization is erased.
    """

    __tablename__ = "prediction_usage"
    __table_args__ = (build_index("ix_prediction_usage_time", "completed_at"),)

    prediction_id: Mapped[UUID] = mapped_column(primary_key=True)
    pages: Mapped[int]
    prompt_tokens: Mapped[int]
    completion_tokens: Mapped[int]
    completed_at: Mapped[datetime]


class ExtractionModel(TenantModel, db.Record, db.Base):
    """A model that was trained on an organization's accepted tag sets.

    Only `state`, `error` and `activated_at` change after the training. `version` is a hash of the
    training examples' ids and revisions, the schema version with its fields, and the versions of
    the engine and its libraries. `content` is the model, serialized by the extraction engine. `mac`
    authenticates the content together with the organization, the schema version and `version`. The
    content is parsed only after the MAC has been verified. `artifact_ids` lists the ids of the
    training documents. `report` contains the training metrics.
    """

    __tablename__ = "extraction_models"
    __table_args__ = (
        build_foreign_key("schema_id", "schemas", ondelete="CASCADE"),
        build_foreign_key("schema_version_id", "schema_versions", ondelete="CASCADE"),
        build_index("ix_extraction_models_list", "schema_version_id", "created_at", "id"),
        build_index(
            "uq_extraction_models_active",
            "schema_version_id",
            where="state = 'active'",
            unique=True,
        ),
    )

    schema_id: Mapped[UUID]
    schema_version_id: Mapped[UUID]
    version: Mapped[str]
    state: Mapped[str] = mapped_column(default=ModelState.CANDIDATE.value)
    document_count: Mapped[int] = mapped_column(default=0)
    f1: Mapped[float | None]
    report: Mapped[dict[str, Any]] = mapped_column(default=dict)
    error: Mapped[dict[str, Any] | None] = mapped_column(JSONB(none_as_null=True))
    artifact_ids: Mapped[list[UUID]] = mapped_column(
        ARRAY(Uuid()), default=list, server_default="{}"
    )
    content: Mapped[bytes | None] = mapped_column(LargeBinary, deferred=True)
    mac: Mapped[str | None]
    activated_at: Mapped[datetime | None]
