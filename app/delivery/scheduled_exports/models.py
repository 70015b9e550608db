"""Models for scheduled exports and their runs."""

from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

from sqlalchemy import BigInteger, ForeignKey, Index, func, text
from sqlalchemy.dialects.postgresql import ARRAY, TEXT
from sqlalchemy.orm import Mapped, mapped_column

from app.kit import db
from app.kit.encryption import build_encryption_info
from app.kit.tenancy import TenantModel, build_foreign_key


class Mode(StrEnum):
    """The mode of a scheduled export: each run exports everything, or only recent changes.

    Recent changes are changes since the end of the last delivered period.
    """

    FULL = "full"
    INCREMENTAL = "incremental"


class Trigger(StrEnum):
    """The cause of a run: the schedule, or a request to run the export now."""

    SCHEDULE = "schedule"
    MANUAL = "manual"


class DeliveryStatus(StrEnum):
    """The delivery status of a run's file."""

    PENDING = "pending"
    DELIVERED = "delivered"
    FAILED = "failed"


CANCELLED_CODE = "cancelled"
"""The error code of a delivery that was cancelled; its status is `failed`."""


class ScheduledExport(TenantModel, db.Revised, db.Base):
    """An export that runs at the times of a cron expression.

    `filter`, `options` and `include` have defaults filled in. `settings` holds the destination's
    settings without secrets, `credentials` the encrypted JSON object with its secrets, and
    `stored_secrets` their names. `next_run_at` is null if the export is paused or never due again.
    `exported_until` is the end of the last delivered period, where the next incremental run's
    period begins; if it is null, that run exports everything. The revision counts edits, not runs.
    """

    __tablename__ = "scheduled_exports"
    __table_args__ = (
        Index("ix_scheduled_exports_list", "organization_id", "created_at", "id"),
        Index(
            "ix_scheduled_exports_due",
            "next_run_at",
            postgresql_where=text("next_run_at IS NOT NULL"),
        ),
    )

    name: Mapped[str]
    format: Mapped[str]
    filter: Mapped[dict[str, Any]] = mapped_column(default=dict)
    options: Mapped[dict[str, Any]] = mapped_column(default=dict)
    include: Mapped[dict[str, Any]] = mapped_column(default=dict)
    cron: Mapped[str]
    time_zone: Mapped[str]
    mode: Mapped[str] = mapped_column(default=Mode.FULL.value)
    destination: Mapped[str]
    settings: Mapped[dict[str, Any]] = mapped_column(default=dict)
    credentials: Mapped[str | None] = mapped_column(info=build_encryption_info())
    stored_secrets: Mapped[list[str]] = mapped_column(ARRAY(TEXT), default=list)
    paused: Mapped[bool] = mapped_column(default=False)
    next_run_at: Mapped[datetime | None]
    exported_until: Mapped[datetime | None]
    created_by: Mapped[UUID | None] = mapped_column(ForeignKey("users.id"))


class ScheduledRun(TenantModel, db.Base):
    """A run of a scheduled export: the export job with the same id, and the delivery of its file.

    `covers_from` and `covers_until` are the start and end of an incremental run's period. A run has
    ended when its job has failed or was cancelled, or when its delivery is no longer pending.
    """

    __tablename__ = "scheduled_export_runs"
    __table_args__ = (
        build_foreign_key("scheduled_export_id", "scheduled_exports", ondelete="CASCADE"),
        build_foreign_key("job_id", "exports", ondelete="CASCADE"),
        Index(
            "ix_scheduled_export_runs_list",
            "organization_id",
            "scheduled_export_id",
            "created_at",
            "job_id",
        ),
        Index(
            "uq_scheduled_export_runs_due",
            "organization_id",
            "scheduled_export_id",
            "due_at",
            unique=True,
            postgresql_where=text("due_at IS NOT NULL"),
        ),
        Index(
            "ix_scheduled_export_runs_pending",
            "organization_id",
            "scheduled_export_id",
            postgresql_where=text("delivery_status = 'pending'"),
        ),
    )

    job_id: Mapped[UUID] = mapped_column(primary_key=True)
    scheduled_export_id: Mapped[UUID]
    trigger: Mapped[str]
    due_at: Mapped[datetime | None]
    covers_from: Mapped[datetime | None]
    covers_until: Mapped[datetime | None]
    delivery_status: Mapped[str] = mapped_column(default=DeliveryStatus.PENDING.value)
    delivery_error: Mapped[dict[str, Any] | None]
    delivered_at: Mapped[datetime | None]
    delivered_to: Mapped[str | None]
    sent_bytes: Mapped[int] = mapped_column(BigInteger, default=0)
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())
