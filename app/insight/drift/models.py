"""Database models for drift: detections, the reports that they create, and fixed baselines."""

from datetime import date, datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

from sqlalchemy import ForeignKey, Index, text
from sqlalchemy.orm import Mapped, mapped_column

from app.kit import db
from app.kit.tenancy import TenantModel, build_foreign_key


class DriftSubject(StrEnum):
    """The work that a drift report is about: a model's predictions, or labeling."""

    MODEL = "model"
    LABELING = "labeling"


class DriftMetric(StrEnum):
    """A metric whose values in two samples are compared.

    VALUES are the values of a field, LENGTH is the length of its text, and EMPTY_RATE is the
    fraction of tag sets in which the field has no value. Model predictions have ACCURACY,
    CONFIDENCE and CORRECTION_RATE. Labeling has all metrics except ACCURACY and CONFIDENCE.
    """

    VALUES = "values"
    LENGTH = "length"
    EMPTY_RATE = "empty_rate"
    ACCEPTANCE_RATE = "acceptance_rate"
    CORRECTION_RATE = "correction_rate"
    ACCURACY = "accuracy"
    CONFIDENCE = "confidence"


class ReportStatus(StrEnum):
    """The status of a drift report.

    A user can acknowledge an open report. An open report is closed when its shift has ended, or
    when its field is not in the newest schema version or no longer has its metric.
    """

    OPEN = "open"
    ACKNOWLEDGED = "acknowledged"
    CLOSED = "closed"


class DetectionStatus(StrEnum):
    """The status of a detection: queued, running, and finally completed or failed."""

    QUEUED = "queued"
    RUNNING = "running"
    COMPLETED = "completed"
    FAILED = "failed"


class DriftDetection(TenantModel, db.Record, db.Base):
    """A comparison of the labeling and the model predictions of a schema in two periods.

    A schema has at most one unfinished detection. `due_on` is the day of a daily detection, or null
    for a detection that a user requested. `report_ids` are the ids of the reports that the
    detection created or confirmed. `compared` is the number of sample pairs that were tested, and
    `not_enough` the number of sample pairs with too few values.
    """

    __tablename__ = "drift_detections"
    __table_args__ = (
        build_foreign_key("schema_id", "schemas", ondelete="CASCADE"),
        Index(
            "uq_drift_detections_unfinished",
            "organization_id",
            "schema_id",
            unique=True,
            postgresql_where=text("finished_at IS NULL"),
        ),
        Index(
            "uq_drift_detections_due",
            "organization_id",
            "schema_id",
            "due_on",
            unique=True,
            postgresql_where=text("due_on IS NOT NULL"),
        ),
        Index("ix_drift_detections_created_at", "created_at"),
    )

    schema_id: Mapped[UUID]
    due_on: Mapped[date | None]
    status: Mapped[str] = mapped_column(default=DetectionStatus.QUEUED.value)
    baseline_from: Mapped[datetime]
    baseline_until: Mapped[datetime]
    current_from: Mapped[datetime]
    current_until: Mapped[datetime]
    requested_by: Mapped[UUID | None] = mapped_column(ForeignKey("users.id"))
    report_ids: Mapped[list[Any]] = mapped_column(default=list)
    compared: Mapped[int] = mapped_column(default=0)
    not_enough: Mapped[int] = mapped_column(default=0)
    warnings: Mapped[list[Any]] = mapped_column(default=list)
    error: Mapped[dict[str, Any] | None]
    finished_at: Mapped[datetime | None]


class DriftReport(TenantModel, db.Record, db.Base):
    """A reported shift of one metric.

    `shift_key` identifies the shift; a shift has at most one open report. `baseline` and `current`
    are {start, end, n, value}, where `n` is the sample size. In a report about a labeler
    (`labeler_id`), the baseline is the work of the labeler's peers in the same period or, after an
    acknowledged shift, the labeler's own earlier work. `confirmed_at` is the time at which a
    detection last found the shift.
    """

    __tablename__ = "drift_reports"
    __table_args__ = (
        build_foreign_key("schema_id", "schemas", ondelete="CASCADE"),
        Index("ix_drift_reports_list", "organization_id", "created_at", "id"),
        Index("ix_drift_reports_schema", "organization_id", "schema_id", "status", "shift_key"),
        Index("ix_drift_reports_status", "organization_id", "status", "created_at", "id"),
        Index("ix_drift_reports_schema_list", "organization_id", "schema_id", "created_at", "id"),
        Index(
            "uq_drift_reports_open",
            "organization_id",
            "schema_id",
            "shift_key",
            unique=True,
            postgresql_where=text("status = 'open'"),
        ),
    )

    schema_id: Mapped[UUID]
    detection_id: Mapped[UUID]
    shift_key: Mapped[str]
    subject: Mapped[str]
    field: Mapped[str | None]
    metric: Mapped[str]
    labeler_id: Mapped[UUID | None] = mapped_column(ForeignKey("users.id"))
    test: Mapped[str]
    category: Mapped[str | None]
    baseline: Mapped[dict[str, Any]]
    current: Mapped[dict[str, Any]]
    current_from: Mapped[datetime]
    current_until: Mapped[datetime]
    p_value: Mapped[float]
    q_value: Mapped[float]
    effect: Mapped[float]
    js_distance: Mapped[float]
    warnings: Mapped[list[Any]] = mapped_column(default=list)
    status: Mapped[str] = mapped_column(default=ReportStatus.OPEN.value)
    confirmed_at: Mapped[datetime]
    acknowledged_by: Mapped[UUID | None] = mapped_column(ForeignKey("users.id"))
    acknowledged_at: Mapped[datetime | None]
    closed_at: Mapped[datetime | None]


class DriftBaseline(TenantModel, db.Base):
    """The fixed baseline of a schema, for daily detections and for requests without a baseline."""

    __tablename__ = "drift_baselines"
    __table_args__ = (build_foreign_key("schema_id", "schemas", ondelete="CASCADE"),)

    schema_id: Mapped[UUID] = mapped_column(primary_key=True)
    baseline_from: Mapped[datetime]
    baseline_until: Mapped[datetime]
    set_by: Mapped[UUID | None] = mapped_column(ForeignKey("users.id"))
    updated_at: Mapped[datetime] = mapped_column(default=db.utc_now, onupdate=db.utc_now)
