"""Models for ingestion jobs and their items."""

from datetime import datetime
from math import ceil
from typing import Any
from uuid import UUID

from sqlalchemy import BigInteger, ForeignKey, Index, text
from sqlalchemy.orm import Mapped, mapped_column

from app.intake.ingestion_jobs.statuses import JobStatus
from app.kit import db
from app.kit.tenancy import TenantModel, build_foreign_key

COUNT_NAMES = ("found", "created", "duplicate", "skipped", "failed")
"""The names of a job's counts, in the API's order; all except `found` are outcomes of items."""


class IngestionJob(TenantModel, db.Record, db.Base):
    """A job that imports documents, crawls a source, extracts tags, or reprocesses documents.

    The uploaded file is stored under `source_key`; the key is null after the file has been deleted.
    The next batch starts at the byte `next_offset` of the file, with the document `next_number`.
    Documents with numbers below `retried_until` were handled by an earlier run; only the failed
    documents among them are retried. `cursor` depends on `kind`. For a crawl, it is the path up to
    which documents of the source in `options` were handled. For an extraction, it is the number of
    the last item of the source job for which a prediction was requested. For a reprocessing of
    failed documents, it is the creation time and id of the last document that was handled.
    """

    __tablename__ = "ingestion_jobs"
    __table_args__ = (
        Index("ix_ingestion_jobs_list", "organization_id", "created_at", "id"),
        Index("ix_ingestion_jobs_kind", "organization_id", "kind", "created_at", "id"),
        Index("ix_ingestion_jobs_status", "organization_id", "status", "created_at", "id"),
        Index(
            "ix_ingestion_jobs_sources",
            "finished_at",
            postgresql_where=text("source_key IS NOT NULL"),
        ),
        Index(
            "uq_ingestion_jobs_crawl",
            "organization_id",
            "connector_id",
            unique=True,
            postgresql_where=text("kind = 'crawl' AND status IN ('queued', 'running')"),
        ),
        Index(
            "ix_ingestion_jobs_connector",
            "organization_id",
            "connector_id",
            "created_at",
            "id",
            postgresql_where=text("connector_id IS NOT NULL"),
        ),
    )

    kind: Mapped[str]
    name: Mapped[str]
    format: Mapped[str | None]
    options: Mapped[dict[str, Any]] = mapped_column(default=dict)
    connector_id: Mapped[UUID | None]
    status: Mapped[str] = mapped_column(default=JobStatus.QUEUED.value)
    total: Mapped[int | None]
    found: Mapped[int] = mapped_column(default=0)
    created: Mapped[int] = mapped_column(default=0)
    duplicate: Mapped[int] = mapped_column(default=0)
    skipped: Mapped[int] = mapped_column(default=0)
    failed: Mapped[int] = mapped_column(default=0)
    size_bytes: Mapped[int | None] = mapped_column(BigInteger)
    source_key: Mapped[str | None]
    next_offset: Mapped[int] = mapped_column(BigInteger, default=0)
    next_number: Mapped[int] = mapped_column(default=1)
    retried_until: Mapped[int] = mapped_column(default=1)
    cursor: Mapped[str | None]
    error: Mapped[dict[str, Any] | None]
    created_by: Mapped[UUID | None] = mapped_column(ForeignKey("users.id"), index=True)
    started_at: Mapped[datetime | None]
    finished_at: Mapped[datetime | None]

    @property
    def counts(self) -> dict[str, int]:
        """Return the number of documents found, and the number with each outcome."""
        return {name: getattr(self, name) for name in COUNT_NAMES}

    @property
    def progress(self) -> dict[str, Any]:
        """Return the progress: documents done, total, rate per second, estimated remaining seconds.

        The total, the rate and the estimate are None while they are unknown.
        """
        done, total = self.next_number - 1, self.total
        rate = eta = None
        if self.started_at is not None and done:
            # While the job runs, `updated_at` is the time of its latest batch.
            seconds = ((self.finished_at or self.updated_at) - self.started_at).total_seconds()
            if seconds > 0:
                rate = round(done / seconds, 1)
                if total is not None and self.status == JobStatus.RUNNING:
                    eta = ceil(max(0, total - done) * seconds / done)
        return {"done": done, "total": total, "rate_per_second": rate, "eta_seconds": eta}


class IngestionItem(TenantModel, db.Base):
    """The outcome of one document in an ingestion job.

    `number` is the position in the job, starting at 1. `artifact_id` is the id of the document that
    was created, reprocessed or sent to a model, or of the existing document with the same content;
    it is null if there is no such document. The id is kept even if the document is deleted.
    """

    __tablename__ = "ingestion_items"
    __table_args__ = (
        build_foreign_key("job_id", "ingestion_jobs", ondelete="CASCADE"),
        Index("ix_ingestion_items_status", "organization_id", "job_id", "status", "number"),
        Index(
            "ix_ingestion_items_processing",
            "organization_id",
            "artifact_id",
            postgresql_where=text("status = 'processing'"),
        ),
    )

    job_id: Mapped[UUID] = mapped_column(primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True)
    uri: Mapped[str]
    status: Mapped[str]
    artifact_id: Mapped[UUID | None]
    error: Mapped[dict[str, Any] | None]
    seconds: Mapped[float]
    created_at: Mapped[datetime] = mapped_column(default=db.utc_now)
