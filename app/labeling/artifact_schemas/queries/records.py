"""SQL of labeling schemas and their versions."""

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import Row, select

from app.kit import db
from app.kit.pagination import Page, PageRequest, paginate
from app.labeling.artifact_schemas.models import ArtifactSchema, SchemaVersion

_SORTS = {
    "created_at": ArtifactSchema.created_at,
    "name": ArtifactSchema.name,
    "updated_at": ArtifactSchema.updated_at,
}
_ACTIVE_VERSION = (
    ArtifactSchema.status,
    SchemaVersion.id,
    SchemaVersion.schema_id,
    SchemaVersion.number,
    SchemaVersion.fields,
    SchemaVersion.review_policy,
)


def page(
    request: PageRequest,
    *,
    status: str | None,
    document_type: str | None,
    created_after: datetime | None,
    created_before: datetime | None,
) -> Page:
    """A page of schemas."""
    statement = select(ArtifactSchema)
    if status is not None:
        statement = statement.where(ArtifactSchema.status == status)
    if document_type is not None:
        statement = statement.where(ArtifactSchema.document_type == document_type)
    if created_after is not None:
        statement = statement.where(ArtifactSchema.created_at > created_after)
    if created_before is not None:
        statement = statement.where(ArtifactSchema.created_at < created_before)
    return paginate(statement, request, sorts=_SORTS, unique=ArtifactSchema.id)


def schema(schema_id: UUID, *, lock: bool = False) -> ArtifactSchema | None:
    """One schema; with `lock` no other writer touches it until the transaction ends."""
    statement = select(ArtifactSchema).where(ArtifactSchema.id == schema_id)
    if lock:
        statement = statement.with_for_update()
    return db.session().execute(statement).scalar_one_or_none()


def version(version_id: UUID) -> SchemaVersion | None:
    """One version."""
    statement = select(SchemaVersion).where(SchemaVersion.id == version_id)
    return db.session().execute(statement).scalar_one_or_none()


def active_version(schema_id: UUID) -> Row[Any] | None:
    """The schema's status beside its current version's members, null before the first one."""
    statement = (
        select(*_ACTIVE_VERSION)
        .select_from(ArtifactSchema)
        .outerjoin(SchemaVersion, SchemaVersion.id == ArtifactSchema.current_version_id)
        .where(ArtifactSchema.id == schema_id)
    )
    return db.session().execute(statement).one_or_none()
