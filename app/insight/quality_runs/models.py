"""Database models for quality runs and for disagreements between labelers."""

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from math import ceil
from typing import Any
from uuid import UUID

from sqlalchemy import ForeignKey, Index, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from app.kit import db
from app.kit.ids import uuid7
from app.kit.tenancy import TenantModel, build_foreign_key

FRACTION_SCALE = 1_000_000
"""The value of the column `share` that represents the fraction 1.0."""


class RunStatus(StrEnum):
    """The status of a quality run: queued, running, and finally completed or failed."""

    QUEUED = "queued"
    RUNNING = "running"
    COMPLETED = "completed"
    FAILED = "failed"


_QUEUED, _RUNNING, _COMPLETED, _FAILED = RunStatus

TRANSITIONS: Mapping[RunStatus, tuple[RunStatus, ...]] = {
    _QUEUED: (_RUNNING, _FAILED),
    # An interrupted run starts again from the beginning.
    _RUNNING: (_RUNNING, _COMPLETED, _FAILED),
    _COMPLETED: (),
    # An operator can retry the job of a failed run.
    _FAILED: (_QUEUED,),
}
"""The statuses that may follow each status."""


class QualityRun(TenantModel, db.Record, db.Base):
    """A computation of the agreement between labelers for one schema and one period.

    `fields` are the names of the requested fields; an empty list means all fields. The period
    begins with `starts_at`, or with the first tag set, and ends before `ends_at`. `results`,
    `warnings` and `pairs` are stored in the API's format, but the labelers of a pair are user ids.
    `confusions` maps each choice field to its matrices (see `service.confusion_matrices`).
    `results`, `warnings`, `pairs` and `confusions` are loaded on access, because lists do not show
    them.
    """

    __tablename__ = "quality_runs"
    __table_args__ = (
        build_foreign_key("schema_id", "schemas", ondelete="CASCADE"),
        Index("ix_quality_runs_list", "organization_id", "created_at", "id"),
        Index("ix_quality_runs_schema", "organization_id", "schema_id", "created_at", "id"),
        Index("ix_quality_runs_status", "organization_id", "status", "created_at", "id"),
        Index(
            "ix_quality_runs_newest", "organization_id", "schema_id", "status", "finished_at", "id"
        ),
        Index("ix_quality_runs_age", "created_at"),
    )

    schema_id: Mapped[UUID]
    fields: Mapped[list[Any]] = mapped_column(default=list)
    metrics: Mapped[list[Any]] = mapped_column(default=list)
    starts_at: Mapped[datetime | None]
    ends_at: Mapped[datetime]
    status: Mapped[str] = mapped_column(default=RunStatus.QUEUED.value)
    progress_done: Mapped[int] = mapped_column(default=0)
    progress_total: Mapped[int | None]
    results: Mapped[list[Any]] = mapped_column(default=list, deferred=True)
    pairs: Mapped[list[Any]] = mapped_column(default=list, deferred=True)
    confusions: Mapped[dict[str, Any]] = mapped_column(default=dict, deferred=True)
    warnings: Mapped[list[Any]] = mapped_column(default=list, deferred=True)
    error: Mapped[dict[str, Any] | None]
    created_by: Mapped[UUID | None] = mapped_column(ForeignKey("users.id"))
    started_at: Mapped[datetime | None]
    finished_at: Mapped[datetime | None]

    @property
    def progress(self) -> dict[str, Any]:
        """Return the number of tag sets read, the total, the rate, and the estimated seconds left.

        Values that are not known yet are None.
        """
        done, total = self.progress_done, self.progress_total
        rate = eta = None
        if self.started_at is not None and self.status in (_RUNNING, _COMPLETED):
            # While the run is running, `updated_at` is the time of its latest progress report.
            seconds = ((self.finished_at or self.updated_at) - self.started_at).total_seconds()
            if done and total and seconds > 0:
                rate = round(done / seconds, 1)
                eta = ceil((total - done) * seconds / done)
        return {"done": done, "total": total, "rate_per_second": rate, "eta_seconds": eta}


class Disagreement(TenantModel, db.Base):
    """The disagreement between labelers on one field of a document.

    `share` is the mean disagreement over all pairs of labelers. It is an integer number of
    millionths, so that lists are sorted by exact values. `answers` has the most frequent answers,
    each with the number of labelers who gave it. `raters` is the number of labelers whose answers
    were compared. `compared_at` is the time of the first comparison with this result.
    """

    __tablename__ = "quality_disagreements"
    __table_args__ = (
        build_foreign_key("artifact_id", "artifacts", ondelete="CASCADE"),
        build_foreign_key("schema_id", "schemas", ondelete="CASCADE"),
        UniqueConstraint(
            "organization_id",
            "artifact_id",
            "schema_id",
            "field",
            name="uq_quality_disagreements_place",
        ),
        Index("ix_quality_disagreements_list", "organization_id", "share", "id"),
        Index("ix_quality_disagreements_schema", "organization_id", "schema_id", "share", "id"),
        Index(
            "ix_quality_disagreements_field", "organization_id", "schema_id", "field", "share", "id"
        ),
    )

    id: Mapped[UUID] = mapped_column(primary_key=True, default=uuid7)
    artifact_id: Mapped[UUID]
    schema_id: Mapped[UUID]
    field: Mapped[str]
    share: Mapped[int]
    raters: Mapped[int]
    answers: Mapped[list[Any]]
    compared_at: Mapped[datetime]
