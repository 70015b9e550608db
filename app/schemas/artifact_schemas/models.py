"""Models of labeling schemas: the editable draft and its immutable published versions."""

from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import ARRAY, ForeignKey, String, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from app.engines.fields import Field
from app.kit import db
from app.kit.ids import uuid7
from app.kit.tenancy import TenantModel, build_foreign_key, build_index
from app.schemas.artifact_schemas.transitions import SchemaStatus

DELETED = "deleted"
"""The stored status of a deleted schema until a job has deleted its row. Clients never see such a
schema, so `SchemaStatus` does not contain this status."""


class ArtifactSchema(TenantModel, db.Revised, db.Base):
    """A labeling schema: the fields to extract from a type of document.

    `fields` contains the fields of the draft. `status` is a SchemaStatus. Each required skill must
    be a skill of at least one of the labeler's teams. `required_skills` contains the skills in the
    form in which they are shown, and `required_skill_keys` contains their comparison keys, in which
    differences of case and spacing are removed. `current_version_number` is 0 if no version has
    been published.
    """

    __tablename__ = "schemas"
    __table_args__ = (build_index("ix_schemas_list", "created_at", "id"),)

    name: Mapped[str]
    document_type: Mapped[str]
    description: Mapped[str] = mapped_column(default="")
    guidelines: Mapped[str] = mapped_column(default="")
    review_policy: Mapped[dict[str, Any]]
    fields: Mapped[list[Any]]
    status: Mapped[str] = mapped_column(default=SchemaStatus.DRAFT)
    ai_assist_enabled: Mapped[bool] = mapped_column(default=False)
    required_skills: Mapped[list[Any]] = mapped_column(default=list, server_default="[]")
    required_skill_keys: Mapped[list[str]] = mapped_column(
        ARRAY(String()), default=list, server_default="{}"
    )
    current_version_id: Mapped[UUID | None]
    current_version_number: Mapped[int] = mapped_column(default=0)
    current_version_published_at: Mapped[datetime | None]
    created_by: Mapped[UUID | None] = mapped_column(ForeignKey("users.id"))

    @property
    def current_version(self) -> dict[str, Any] | None:
        """Return id, number and published_at of the current version, or None if there is none."""
        if self.current_version_id is None:
            return None
        return {
            "id": self.current_version_id,
            "number": self.current_version_number,
            "published_at": self.current_version_published_at,
        }


class SchemaVersion(TenantModel, db.Base):
    """A published version of a schema. A version never changes."""

    __tablename__ = "schema_versions"
    __table_args__ = (
        build_foreign_key("schema_id", "schemas", ondelete="CASCADE"),
        UniqueConstraint("organization_id", "schema_id", "number"),
    )

    id: Mapped[UUID] = mapped_column(primary_key=True, default=uuid7)
    schema_id: Mapped[UUID]
    number: Mapped[int]
    fields: Mapped[list[Any]]
    review_policy: Mapped[dict[str, Any]]
    published_by: Mapped[UUID | None] = mapped_column(ForeignKey("users.id"))
    published_at: Mapped[datetime] = mapped_column(default=db.utc_now)
    changes: Mapped[list[Any]] = mapped_column(default=list)
    breaking: Mapped[bool] = mapped_column(default=False)
    note: Mapped[str | None]
    created_at: Mapped[datetime] = mapped_column(default=db.utc_now)
    updated_at: Mapped[datetime] = mapped_column(default=db.utc_now)


class CurrentVersion(NamedTuple):
    """The columns of a schema's current version that labeling needs."""

    id: UUID
    schema_id: UUID
    number: int
    fields: list[Field]
    review_policy: dict[str, Any]
