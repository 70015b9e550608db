"""Database models for relations between users and documents: assignees, skips and other actions."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import ForeignKey, Uuid, false, text
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.orm import Mapped, mapped_column

from app.kit import db
from app.kit.ids import uuid7
from app.kit.tenancy import TenantModel, build_foreign_key, build_index

SCHEMA_OR_NONE = """(
CASE
    WHEN schema_id IS NULL THEN '00000000-0000-0000-0000-000000000000'::uuid
    ELSE schema_id
END)"""
"""The schema id, or the all-zero UUID if there is no schema. Must equal the index expression. The
index does not use `coalesce`, because PostgreSQL would not use such an index under row-level
security: `coalesce` is not leakproof."""


class ArtifactAssignee(TenantModel, db.Base):
    """An assignee of a document, indexed by assignee.

    `is_open` is true while the document is `ready` or `in_progress` and is not archived. `priority`
    and `urgent_at` are the sort keys (`URGENCY`, `URGENT_AT`) of the order in which labelers get
    documents. `places_taken` is the number of submitted or accepted tag sets plus the number of
    users for whom the document is reserved; `assignees_hash` is a hash of all assignees. Only
    triggers on the table of documents write these rows. An index on the document's list of
    assignees would not help: PostgreSQL cannot use such an index under row-level security.
    """

    __tablename__ = "artifact_assignees"
    __table_args__ = (
        build_foreign_key("artifact_id", "artifacts", ondelete="CASCADE"),
        build_index(
            "ix_artifact_assignees_work",
            "assignee_id",
            "is_open",
            "schema_id",
            text("priority DESC"),
            "urgent_at",
            "artifact_id",
            included=["labeled_by"],
        ),
        build_index(
            "ix_artifact_assignees_list", "assignee_id", "archived", "created_at", "artifact_id"
        ),
        build_index(
            "ix_artifact_assignees_state",
            "assignee_id",
            "archived",
            text(SCHEMA_OR_NONE),
            "status",
            "created_at",
            "artifact_id",
        ),
        build_index(
            "ix_artifact_assignees_due",
            "assignee_id",
            "due_at",
            where="is_open AND due_at IS NOT NULL",
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
    status: Mapped[str]
    archived: Mapped[bool]
    created_at: Mapped[datetime]
    due_at: Mapped[datetime | None]
    places_taken: Mapped[int]
    assignees_hash: Mapped[str]


class ArtifactSkip(TenantModel, db.Base):
    """A document that a user no longer gets as the next document to label.

    The user gets it again only if it is assigned or returned to them. Either the user released the
    document with a `reason`, or, if `rejected` is true, a reviewer rejected the user's tag set, so
    that another user labels the document.
    """

    __tablename__ = "artifact_skips"
    __table_args__ = (
        build_foreign_key("artifact_id", "artifacts", ondelete="CASCADE"),
        build_index("ix_artifact_skips_user", "user_id", "artifact_id"),
    )

    artifact_id: Mapped[UUID] = mapped_column(primary_key=True)
    user_id: Mapped[UUID] = mapped_column(
        ForeignKey("users.id", ondelete="CASCADE"), primary_key=True
    )
    reason: Mapped[str]
    created_at: Mapped[datetime] = mapped_column(default=db.utc_now)
    rejected: Mapped[bool] = mapped_column(default=False, server_default=false())


class ArtifactAction(TenantModel, db.Base):
    """An action on a document that is not recorded in any other table; rows are never updated.

    `kind` is `release`, `skip` (a release with the reason in `note`), or `discard` (a draft was
    deleted). Timestamps come from the database clock, like those of the audit log, because the
    actions and the audit entries are sorted into one list.
    """

    __tablename__ = "artifact_acts"
    __table_args__ = (
        build_foreign_key("artifact_id", "artifacts", ondelete="CASCADE"),
        build_index("ix_artifact_acts_of", "artifact_id"),
    )

    id: Mapped[UUID] = mapped_column(primary_key=True, default=uuid7)
    artifact_id: Mapped[UUID]
    kind: Mapped[str]
    user_id: Mapped[UUID] = mapped_column(ForeignKey("users.id"), index=True)
    tag_set_id: Mapped[UUID | None]
    note: Mapped[str | None]
    created_at: Mapped[datetime]
