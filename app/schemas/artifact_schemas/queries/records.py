"""SQL that reads and locks schemas and their versions."""

from dataclasses import replace
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import Label, Row, String, case, cast, func, select

from app.kit import db
from app.kit.pagination import Page, PageRequest, paginate, within
from app.schemas.artifact_schemas.models import ArtifactSchema, SchemaVersion

_SORTS = {
    "created_at": ArtifactSchema.created_at,
    "name": ArtifactSchema.name,
    "updated_at": ArtifactSchema.updated_at,
}
PAGE_BYTES = 16 * 1024 * 1024
"""The size limit of all fields of a page, and of all changes; each record gets an equal quota."""

_LISTED_COLUMNS = (
    ArtifactSchema.id,
    ArtifactSchema.name,
    ArtifactSchema.document_type,
    ArtifactSchema.description,
    ArtifactSchema.guidelines,
    ArtifactSchema.review_policy,
    ArtifactSchema.required_skills,
    ArtifactSchema.status,
    ArtifactSchema.ai_assist_enabled,
    ArtifactSchema.created_by,
    ArtifactSchema.created_at,
    ArtifactSchema.updated_at,
    ArtifactSchema.revision,
    ArtifactSchema.current_version_id,
    ArtifactSchema.current_version_number,
    ArtifactSchema.current_version_published_at,
)

_VERSION_COLUMNS = (
    SchemaVersion.id,
    SchemaVersion.schema_id,
    SchemaVersion.number,
    SchemaVersion.review_policy,
    SchemaVersion.published_by,
    SchemaVersion.published_at,
    SchemaVersion.breaking,
    SchemaVersion.note,
    SchemaVersion.created_at,
    SchemaVersion.updated_at,
)
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
    """Return a page of schemas; fields that are too large for it are null."""
    statement = select(*_LISTED_COLUMNS, _fitting(ArtifactSchema.fields, request))
    if status is not None:
        statement = statement.where(ArtifactSchema.status == status)
    if document_type is not None:
        statement = statement.where(ArtifactSchema.document_type == document_type)
    statement = statement.where(*within(ArtifactSchema.created_at, created_after, created_before))
    found = paginate(statement, request, sorts=_SORTS, unique=ArtifactSchema.id)
    return replace(found, items=[ArtifactSchema(**row._mapping) for row in found.items])  # noqa: SLF001 - its public name


def schema(schema_id: UUID) -> ArtifactSchema | None:
    """Return a schema, or None."""
    statement = select(ArtifactSchema).where(ArtifactSchema.id == schema_id)
    return db.session().execute(statement).scalar_one_or_none()


def lock(schema_id: UUID, *, to_delete: bool = False) -> ArtifactSchema | None:
    """Return the current row of a schema, locked against other writers until the transaction ends.

    Labeling with the schema continues meanwhile. With `to_delete` it waits: then no new row can
    refer to the schema.
    """
    statement = select(ArtifactSchema).where(ArtifactSchema.id == schema_id)
    locked = statement.with_for_update(key_share=not to_delete)
    fresh = locked.execution_options(populate_existing=True)
    return db.session().execute(fresh).scalar_one_or_none()


def version(version_id: UUID) -> SchemaVersion | None:
    """Return a version, or None."""
    statement = select(SchemaVersion).where(SchemaVersion.id == version_id)
    return db.session().execute(statement).scalar_one_or_none()


def numbered(schema_id: UUID, number: int) -> SchemaVersion | None:
    """Return the schema's version with this number, or None."""
    statement = select(SchemaVersion).where(
        SchemaVersion.schema_id == schema_id, SchemaVersion.number == number
    )
    return db.session().execute(statement).scalar_one_or_none()


def version_page(
    request: PageRequest,
    schema_id: UUID,
    *,
    created_after: datetime | None,
    created_before: datetime | None,
) -> Page:
    """Return a page of versions; fields and changes that are too large for it are null."""
    conditions = [SchemaVersion.schema_id == schema_id]
    conditions += within(SchemaVersion.created_at, created_after, created_before)
    statement = select(
        *_VERSION_COLUMNS,
        _fitting(SchemaVersion.fields, request),
        _fitting(SchemaVersion.changes, request),
    ).where(*conditions)
    return paginate(
        statement,
        request,
        sorts={"number": SchemaVersion.number},
        unique=SchemaVersion.id,
        count=select(SchemaVersion.id).where(*conditions),
    )


def _fitting(column: Any, request: PageRequest) -> Label[Any]:
    """Return a JSON column that is null where it is larger than a record's quota of the page."""
    share = PAGE_BYTES // request.page_size
    return case((func.octet_length(cast(column, String)) <= share, column)).label(column.key)


def active_version(schema_id: UUID) -> Row[Any] | None:
    """Return the schema's status and its current version's columns, null before the first."""
    statement = (
        select(*_ACTIVE_VERSION)
        .select_from(ArtifactSchema)
        .outerjoin(SchemaVersion, SchemaVersion.id == ArtifactSchema.current_version_id)
        .where(ArtifactSchema.id == schema_id)
    )
    return db.session().execute(statement).one_or_none()
