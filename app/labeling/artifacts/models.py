"""Artifacts: the documents, their text and their pages."""

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import (
    BigInteger,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    UniqueConstraint,
    Uuid,
    text,
)
from sqlalchemy.dialects.postgresql import ARRAY, TSVECTOR
from sqlalchemy.orm import Mapped, mapped_column

from app.kit import db
from app.kit.ids import uuid7
from app.kit.tenancy import TenantModel

STATUSES = ("processing", "ready", "in_progress", "in_review", "done", "failed")


def _listing(name: str, *columns: str) -> Index:
    # Lists leave archived documents out: with the mark in the index it alone gives their total.
    return Index(name, "organization_id", *columns, postgresql_include=["archived"])


def no_labels() -> dict[str, int]:
    """The label counts of a document without label sets."""
    return {"draft": 0, "submitted": 0, "accepted": 0, "rejected": 0}


class Artifact(TenantModel, db.Revised, db.Base):
    """A document. `status` is one of STATUSES.

    Its bytes are in the storage under `storage.blob_key(organization_id, sha256)`. `label_counts`
    has a number per state of its label sets, kept by whoever changes one. The revision counts edits
    of what a writer may send; labeling moves claim, status and counts without it. `labeled_by` has
    the labeler of each label set that is submitted or accepted, null for a model's; `reserved_for`
    whom a draft was sent back or handed to: with them a row alone says who may be given it.
    """

    __tablename__ = "artifacts"
    __table_args__ = (
        ForeignKeyConstraint(
            ["organization_id", "schema_id"], ["schemas.organization_id", "schemas.id"]
        ),
        UniqueConstraint("organization_id", "sha256", name="uq_artifacts_content"),
        _listing("ix_artifacts_created", "created_at", "id"),
        _listing("ix_artifacts_status", "status", "created_at", "id"),
        _listing("ix_artifacts_schema", "schema_id", "created_at", "id"),
        Index("ix_artifacts_priority", "organization_id", "priority", "id"),
        Index("ix_artifacts_name", "organization_id", "name", "id"),
        Index("ix_artifacts_external", "organization_id", "external_id"),
        # Without the time of expiry: every save moves it, and would have to move the index too.
        Index(
            "ix_artifacts_claimed",
            "organization_id",
            "claim_user_id",
            postgresql_where=text("claim_user_id IS NOT NULL"),
        ),
        # Few are; what waits of them is left out of the review queue.
        Index("ix_artifacts_archived", "organization_id", "id", postgresql_where=text("archived")),
        # What nobody is assigned to and nobody holds, in the order in which it is handed out.
        Index(
            "ix_artifacts_pool",
            "organization_id",
            "schema_id",
            text("priority DESC"),
            text("coalesce(due_at, created_at)"),
            "id",
            postgresql_where=text(
                "status IN ('ready', 'in_progress') AND NOT archived AND claim_user_id IS NULL"
                " AND assignees = '[]' AND schema_id IS NOT NULL"
            ),
            postgresql_include=["labeled_by", "reserved_for", "language", "due_at", "created_at"],
        ),
    )

    name: Mapped[str]
    schema_id: Mapped[UUID | None]
    external_id: Mapped[str | None]
    meta: Mapped[dict[str, Any]] = mapped_column("metadata", default=dict)
    priority: Mapped[int] = mapped_column(default=50)
    due_at: Mapped[datetime | None]
    gold: Mapped[bool] = mapped_column(default=False)
    archived: Mapped[bool] = mapped_column(default=False)
    media_type: Mapped[str]
    size_bytes: Mapped[int] = mapped_column(BigInteger)
    sha256: Mapped[str]
    page_count: Mapped[int | None]
    language: Mapped[str | None]
    text_length: Mapped[int] = mapped_column(default=0)
    status: Mapped[str] = mapped_column(default="processing")
    failure: Mapped[dict[str, Any] | None]
    connector_id: Mapped[UUID | None]
    ingestion_job_id: Mapped[UUID | None]
    assignees: Mapped[list[Any]] = mapped_column(default=list)
    claim_user_id: Mapped[UUID | None] = mapped_column(ForeignKey("users.id"))
    claim_expires_at: Mapped[datetime | None]
    label_counts: Mapped[dict[str, Any]] = mapped_column(default=no_labels)
    labeled_by: Mapped[list[UUID | None]] = mapped_column(
        ARRAY(Uuid()), default=list, server_default="{}"
    )
    reserved_for: Mapped[list[UUID]] = mapped_column(
        ARRAY(Uuid()), default=list, server_default="{}"
    )
    created_by: Mapped[UUID | None] = mapped_column(ForeignKey("users.id"))


def _of_artifact() -> ForeignKeyConstraint:
    return ForeignKeyConstraint(
        ["organization_id", "artifact_id"],
        ["artifacts.organization_id", "artifacts.id"],
        ondelete="CASCADE",
    )


class ArtifactAssignee(TenantModel, db.Base):
    """Who a document is assigned to, to be found from their side. `is_open`: there is to label.

    `urgent_at` is when it is due or, without, when it came. Follows the document by triggers;
    nothing else writes it. A text index on the list would not serve: under row-level security
    PostgreSQL may not use it.
    """

    __tablename__ = "artifact_assignees"
    __table_args__ = (
        _of_artifact(),
        Index(
            "ix_artifact_assignees_work",
            "organization_id",
            "assignee_id",
            "is_open",
            "schema_id",
            text("priority DESC"),
            "urgent_at",
            "artifact_id",
            postgresql_include=["labeled_by"],
        ),
    )

    artifact_id: Mapped[UUID] = mapped_column(primary_key=True)
    assignee_id: Mapped[UUID] = mapped_column(primary_key=True)
    is_team: Mapped[bool]
    is_open: Mapped[bool]
    schema_id: Mapped[UUID | None]
    priority: Mapped[int]
    urgent_at: Mapped[datetime]
    labeled_by: Mapped[list[UUID | None]] = mapped_column(ARRAY(Uuid()), server_default="{}")


class ArtifactSkip(TenantModel, db.Base):
    """Somebody gave a document back with a reason: it is not handed to them again by itself, until
    it is assigned or sent to them by name."""

    __tablename__ = "artifact_skips"
    __table_args__ = (_of_artifact(),)

    artifact_id: Mapped[UUID] = mapped_column(primary_key=True)
    user_id: Mapped[UUID] = mapped_column(
        ForeignKey("users.id", ondelete="CASCADE"), primary_key=True
    )
    reason: Mapped[str]
    created_at: Mapped[datetime] = mapped_column(default=db.utc_now)


class ArtifactAct(TenantModel, db.Base):
    """What somebody did with a document that no other record tells. `kind`: `release` or `skip`
    (given back, with the reason as `note`), or `discard` of a draft, which is gone.

    Only ever added to. Times are the database's, as in the audit log, beside whose entries they
    are told.
    """

    __tablename__ = "artifact_acts"
    __table_args__ = (
        _of_artifact(),
        Index("ix_artifact_acts_of", "organization_id", "artifact_id"),
    )

    id: Mapped[UUID] = mapped_column(primary_key=True, default=uuid7)
    artifact_id: Mapped[UUID]
    kind: Mapped[str]
    user_id: Mapped[UUID] = mapped_column(ForeignKey("users.id"))
    tag_set_id: Mapped[UUID | None]
    note: Mapped[str | None]
    created_at: Mapped[datetime]


class ArtifactText(TenantModel, db.Base):
    """The extracted text; apart, so that lists do not carry it.

    `search` is of old: what `q` matched before `ArtifactSearch`, of documents in the backlog.
    """

    __tablename__ = "artifact_texts"
    __table_args__ = (
        _of_artifact(),
        Index("ix_artifact_texts_search", "search", postgresql_using="gin"),
    )

    artifact_id: Mapped[UUID] = mapped_column(primary_key=True)
    text: Mapped[str]
    search: Mapped[Any] = mapped_column(TSVECTOR, server_default="")


class ArtifactSearch(TenantModel, db.Base):
    """What `q` matches of a document: name, metadata and text, as words of its language.

    Triggers keep it. `language` names a configuration (`english`), `simple` where none is known.
    The `filler` makes PostgreSQL keep vectors out of the rows (see decision 0023). Searched only
    through the view `searchable_artifacts`, which sees the bound organization alone: a policy
    would keep PostgreSQL from using the text index.
    """

    __tablename__ = "artifact_search"
    __table_args__ = (
        _of_artifact(),
        Index("ix_artifact_search_vector", "vector", postgresql_using="gin"),
        Index("ix_artifact_search_language", "organization_id", "language"),
    )

    artifact_id: Mapped[UUID] = mapped_column(primary_key=True)
    created_at: Mapped[datetime]
    archived: Mapped[bool]
    language: Mapped[str]
    filler: Mapped[str]
    vector: Mapped[Any] = mapped_column(TSVECTOR)


class ArtifactSearchBacklog(TenantModel, db.Base):
    """That an organization's documents are to be indexed anew; those up to `after` are."""

    __tablename__ = "artifact_search_backlog"

    after: Mapped[UUID | None]


class ArtifactPage(TenantModel, db.Base):
    """One page: size in points, its span of the text, and its words with their boxes.

    `words` is null in documents whose text flows: their words are laid out from the text when they
    are asked for, and would take fifteen times its room.
    """

    __tablename__ = "artifact_pages"
    __table_args__ = (_of_artifact(),)

    artifact_id: Mapped[UUID] = mapped_column(primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True)
    width: Mapped[float]
    height: Mapped[float]
    rotation: Mapped[int]
    start: Mapped[int]
    end: Mapped[int]
    words: Mapped[list[Any] | None]
