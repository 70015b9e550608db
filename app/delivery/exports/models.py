"""Models of export jobs and their files."""

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import BigInteger, ForeignKey, Index, text
from sqlalchemy.orm import Mapped, mapped_column

from app.kit import db
from app.kit.tenancy import TenantModel


class Export(TenantModel, db.Record, db.Base):
    """An export job.

    `status` is queued, running, completed, failed or cancelled. The file is in the storage under
    `storage_key` and can be downloaded until `expires_at`.
    """

    __tablename__ = "exports"
    __table_args__ = (
        Index("ix_exports_list", "organization_id", "created_at", "id"),
        Index("ix_exports_expiry", "expires_at", postgresql_where=text("storage_key IS NOT NULL")),
    )

    format: Mapped[str]
    filter: Mapped[dict[str, Any]] = mapped_column(default=dict)
    options: Mapped[dict[str, Any]] = mapped_column(default=dict)
    include: Mapped[dict[str, Any]] = mapped_column(default=dict)
    status: Mapped[str] = mapped_column(default="queued")
    progress_done: Mapped[int] = mapped_column(default=0)
    progress_total: Mapped[int | None]
    row_count: Mapped[int | None]
    size_bytes: Mapped[int | None] = mapped_column(BigInteger)
    sha256: Mapped[str | None]
    expires_at: Mapped[datetime | None]
    error: Mapped[dict[str, Any] | None]
    scheduled_export_id: Mapped[UUID | None]
    download_count: Mapped[int] = mapped_column(default=0, server_default=text("0"))
    storage_key: Mapped[str | None]
    created_by: Mapped[UUID | None] = mapped_column(ForeignKey("users.id"))
    started_at: Mapped[datetime | None]
    finished_at: Mapped[datetime | None]
