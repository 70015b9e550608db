"""Models for organizations, which are the tenants, and for memberships."""

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import ForeignKey, Index, text
from sqlalchemy.orm import Mapped, mapped_column

from app.kit import db
from app.kit.encryption import build_encryption_info
from app.kit.tenancy import TenantModel

CLOSED_STATUSES = ("closed", "erased")
"""Statuses of organizations that nobody can access anymore."""


class Organization(db.Revised, db.Base):
    """A tenant. `slug` never changes; `status` is active, suspended, closed or erased.

    `settings` contains only the settings that were set, not the defaults. `ai_provider_key` is
    encrypted. `erasure` is the progress of the erasure: the numbers of deleted rows by table,
    deleted accounts (`users`) and deleted files, and the files' total size in bytes. The row of an
    erased organization is kept with its slug.
    """

    __tablename__ = "organizations"
    __table_args__ = (
        Index(
            "ix_organizations_erase_after",
            "erase_after",
            postgresql_where=text("status = 'closed'"),
        ),
    )

    slug: Mapped[str] = mapped_column(unique=True)
    name: Mapped[str]
    settings: Mapped[dict[str, Any]] = mapped_column(default=dict)
    ai_provider_key: Mapped[str | None] = mapped_column(info=build_encryption_info())
    status: Mapped[str] = mapped_column(default="active")
    plan: Mapped[str] = mapped_column(default="unlimited")
    closed_at: Mapped[datetime | None]
    erase_after: Mapped[datetime | None]
    erased_at: Mapped[datetime | None]
    erasure: Mapped[dict[str, Any] | None]
    plan_limits: Mapped[dict[str, Any]] = mapped_column(default=dict, server_default="{}")
    suspended_at: Mapped[datetime | None]
    suspension_reason: Mapped[str | None]


class Membership(TenantModel, db.Base):
    """A user's role in an organization.

    Triggers maintain two columns: `sort_name` is the user's lowercase name; `ownership_id` gets a
    new value each time the role becomes owner, and is null for other roles. `ownership_id` is also
    null if the role became owner before the column existed.
    """

    __tablename__ = "memberships"
    __table_args__ = (
        Index("ix_memberships_name", "organization_id", "sort_name", "user_id"),
        Index("ix_memberships_joined", "organization_id", "created_at", "user_id"),
        Index("ix_memberships_role", "organization_id", "role", "sort_name", "user_id"),
        {"info": {"audited_as": "members"}},
    )

    user_id: Mapped[UUID] = mapped_column(
        ForeignKey("users.id", ondelete="CASCADE"), primary_key=True, index=True
    )
    role: Mapped[str]
    ownership_id: Mapped[UUID | None]
    sort_name: Mapped[str] = mapped_column(server_default="")
    created_at: Mapped[datetime] = mapped_column(default=db.utc_now)
    updated_at: Mapped[datetime | None]
    revision: Mapped[int] = mapped_column(server_default="1")


class RemovedMember(TenantModel, db.Base):
    """A user whose membership was ended by a person, not by the single sign-on policy.

    Single sign-on does not admit the user again; the user needs an invitation. The row is deleted
    when the user becomes a member again.
    """

    __tablename__ = "removed_members"

    user_id: Mapped[UUID] = mapped_column(
        ForeignKey("users.id", ondelete="CASCADE"), primary_key=True, index=True
    )
    removed_at: Mapped[datetime] = mapped_column(default=db.utc_now)
