"""Models of the audit log, which only triggers, database functions and migrations write.

`organization_id` is not a foreign key, because entries about an organization outlive the
organization. The value is NO_ORGANIZATION for entries about records that belong to no organization.
"""

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import ARRAY, BigInteger, Identity, Index, LargeBinary, String, Uuid, text
from sqlalchemy.orm import Mapped, mapped_column

from app.kit import db

NO_ORGANIZATION = UUID(int=0)


class AuditEntry(db.Base):
    """An audit entry, which records one change to a record; entries are never modified."""

    __tablename__ = "audit_entries"
    __table_args__ = (
        Index(
            "ix_audit_entries_list",
            "organization_id",
            "at",
            "id",
            postgresql_include=["actor_kind", "action", "target_type"],
        ),
        Index("ix_audit_entries_actor", "organization_id", "actor_id", "at", "id"),
        Index("ix_audit_entries_target", "organization_id", "target_id", "at", "id"),
        Index("ix_audit_entries_action", "organization_id", "action", "actor_kind", "at", "id"),
        Index(
            "ix_audit_entries_session_of",
            text("coalesce((changes -> 'user_id') ->> 1, (changes -> 'user_id') ->> 0)"),
            postgresql_where=text(
                f"organization_id = '{NO_ORGANIZATION}' AND target_type = 'sessions'"
            ),
        ),
    )

    id: Mapped[UUID] = mapped_column(primary_key=True)
    organization_id: Mapped[UUID]
    at: Mapped[datetime]
    actor_kind: Mapped[str]
    actor_id: Mapped[UUID | None]
    actor_label: Mapped[str]
    operation: Mapped[str | None]
    action: Mapped[str]
    target_type: Mapped[str]
    target_id: Mapped[UUID | None]
    target_label: Mapped[str | None]
    changes: Mapped[dict[str, Any]]
    request_id: Mapped[str | None]
    ip_address: Mapped[str | None]


class PendingAuditBatch(db.Base):
    """The ids of audit entries that are pending, which means not in a hash chain yet.

    Each row contains the ids of up to a thousand entries that one statement wrote.
    """

    __tablename__ = "audit_unsealed"

    organization_id: Mapped[UUID] = mapped_column(primary_key=True)
    id: Mapped[int] = mapped_column(BigInteger, Identity(always=True), primary_key=True)
    entries: Mapped[list[UUID]] = mapped_column(ARRAY(Uuid()))


class AuditBlock(db.Base):
    """A block of an audit chain: the ids and digests of fewer than 2,000 consecutive entries."""

    __tablename__ = "audit_blocks"

    organization_id: Mapped[UUID] = mapped_column(primary_key=True)
    number: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    position: Mapped[int] = mapped_column(BigInteger)
    entries: Mapped[list[UUID]] = mapped_column(ARRAY(Uuid()))
    digests: Mapped[bytes] = mapped_column(LargeBinary)
    hash: Mapped[bytes] = mapped_column(LargeBinary)


class AuditHead(db.Base):
    """The length and last hash of an audit chain, signed with a message authentication code.

    Without the head, somebody could remove the last blocks of the chain unnoticed.
    """

    __tablename__ = "audit_heads"

    organization_id: Mapped[UUID] = mapped_column(primary_key=True)
    blocks: Mapped[int] = mapped_column(BigInteger)
    entries: Mapped[int] = mapped_column(BigInteger)
    hash: Mapped[bytes] = mapped_column(LargeBinary)
    mac: Mapped[bytes] = mapped_column(LargeBinary)


class AuditRemoval(db.Base):
    """The id of an audit entry that was removed with an account.

    `forgotten_by` is the id of the `users.forget` entry that records the removal.
    """

    __tablename__ = "audit_forgotten"

    entry_id: Mapped[UUID] = mapped_column(primary_key=True)
    forgotten_by: Mapped[UUID] = mapped_column(index=True)


class AuditTableSettings(db.Base):
    """The audit settings of one table, which migrations write (see `migrations/auditing.py`).

    `kind` is the type of the table's records in the log. `label` and `target` are the columns with
    a record's label and id. The log never contains the values of the columns in `secret`, and does
    not record changes of the columns in `ignored`.
    """

    __tablename__ = "audit_watches"

    table_name: Mapped[str] = mapped_column(primary_key=True)
    kind: Mapped[str]
    label: Mapped[str | None]
    target: Mapped[str]
    secret: Mapped[list[str]] = mapped_column(ARRAY(String()))
    ignored: Mapped[list[str]] = mapped_column(ARRAY(String()))
