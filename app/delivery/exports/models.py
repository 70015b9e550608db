"""Models for export jobs and their files, and for removed tag sets."""

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from math import ceil
from typing import Any
from uuid import UUID

from sqlalchemy import BigInteger, ForeignKey, Index, text
from sqlalchemy.orm import Mapped, mapped_column

from app.kit import db
from app.kit.tenancy import TenantModel


class ExportStatus(StrEnum):
    """The status of an export job."""

    QUEUED = "queued"
    RUNNING = "running"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"


_QUEUED, _RUNNING, _COMPLETED, _FAILED, _CANCELLED = ExportStatus

TRANSITIONS: Mapping[ExportStatus, tuple[ExportStatus, ...]] = {
    _QUEUED: (_RUNNING, _FAILED, _CANCELLED),
    # An interrupted run starts again from the beginning.
    _RUNNING: (_RUNNING, _COMPLETED, _FAILED, _CANCELLED),
    # A completed export can be retried only if its file has expired or is missing.
    _COMPLETED: (_QUEUED,),
    _FAILED: (_QUEUED,),
    _CANCELLED: (),
}
"""The statuses that may follow each status."""


class Export(TenantModel, db.Record, db.Base):
    """An export job.

    Its file is stored under `storage_key` and can be downloaded until `expires_at`. If an export
    failed or was cancelled, `storage_key` is set without `expires_at`, so that a job deletes any
    file under this key. `manifest` describes the file, and is kept after the file has expired.
    """

    __tablename__ = "exports"
    __table_args__ = (
        Index("ix_exports_list", "organization_id", "created_at", "id"),
        Index("ix_exports_filters", "organization_id", "status", "format", "created_at", "id"),
        Index("ix_exports_expiry", "expires_at", postgresql_where=text("storage_key IS NOT NULL")),
    )

    format: Mapped[str]
    filter: Mapped[dict[str, Any]] = mapped_column(default=dict)
    options: Mapped[dict[str, Any]] = mapped_column(default=dict)
    include: Mapped[dict[str, Any]] = mapped_column(default=dict)
    status: Mapped[str] = mapped_column(default=ExportStatus.QUEUED.value)
    progress_done: Mapped[int] = mapped_column(default=0)
    progress_total: Mapped[int | None]
    row_count: Mapped[int | None]
    size_bytes: Mapped[int | None] = mapped_column(BigInteger)
    sha256: Mapped[str | None]
    expires_at: Mapped[datetime | None]
    error: Mapped[dict[str, Any] | None]
    manifest: Mapped[dict[str, Any] | None]
    scheduled_export_id: Mapped[UUID | None]
    download_count: Mapped[int] = mapped_column(default=0, server_default=text("0"))
    storage_key: Mapped[str | None]
    created_by: Mapped[UUID | None] = mapped_column(ForeignKey("users.id"), index=True)
    api_key_id: Mapped[UUID | None]
    started_at: Mapped[datetime | None]
    finished_at: Mapped[datetime | None]

    @property
    def download_path(self) -> str | None:
        """Return the URL path of the download, or None if the export is not completed."""
        is_completed = self.status == ExportStatus.COMPLETED
        return f"/api/v1/exports/{self.id}/download" if is_completed else None

    @property
    def applied_include(self) -> dict[str, Any]:
        """Return `include` with defaults for the properties that earlier releases did not store."""
        return {"removed": False, **self.include}

    @property
    def progress(self) -> dict[str, Any]:
        """Return the progress: tag sets done, in total and per second, and estimated seconds left.

        Unknown values are None; only a running or completed export has a rate and an estimate.
        """
        done, total = self.progress_done, self.progress_total
        rate = eta = None
        if self.started_at is not None and self.status in (_RUNNING, _COMPLETED):
            # While the export is running, `updated_at` is the time of its latest progress report.
            seconds = ((self.finished_at or self.updated_at) - self.started_at).total_seconds()
            if done and total and seconds > 0:
                rate = round(done / seconds, 1)
                eta = ceil((total - done) * seconds / done)
        return {"done": done, "total": total, "rate_per_second": rate, "eta_seconds": eta}


class RemovedTagSet(TenantModel, db.Base):
    """A record of an accepted tag set that was reopened or deleted.

    Triggers on `tag_sets` write the record. When the record is committed, its `removed_at` is at
    or after the organization's watermark (see `app.kit.watermarks`). If the tag set is accepted
    again, the record is kept, but exports ignore it.
    """

    __tablename__ = "removed_tag_sets"
    __table_args__ = (
        Index("ix_removed_tag_sets_list", "organization_id", "removed_at", "tag_set_id"),
        Index("ix_removed_tag_sets_age", "removed_at"),
    )

    tag_set_id: Mapped[UUID] = mapped_column(primary_key=True)
    artifact_id: Mapped[UUID]
    schema_id: Mapped[UUID]
    schema_version_id: Mapped[UUID]
    labeler_id: Mapped[UUID | None]
    removed_at: Mapped[datetime]
