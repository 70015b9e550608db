"""SQL queries that read and lock schemas and their versions."""

from dataclasses import replace
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, Label, String, case, cast, func, select

from app.kit import db, tenancy
from app.kit.pagination import KeyQuery, Page, PageRequest, build_period_conditions, paginate
from app.kit.periods import Column, build_filter_conditions
from app.kit.prepared import Prepared
from app.schemas.artifact_schemas.models import (
    DELETED,
    ArtifactSchema,
    CurrentVersion,
    SchemaVersion,
)

_SORT_COLUMNS = {
    "created_at": ArtifactSchema.created_at,
    "name": ArtifactSchema.name,
    "updated_at": ArtifactSchema.updated_at,
}
MAX_PAGE_BYTES = 16 * 1024 * 1024
"""The maximum total size in bytes of each large column on a page.

The limit applies separately to `fields`, `changes` and `guidelines`, and is divided equally among
the records of the page. Larger values are returned as None."""


def _list_columns(model: type[db.Base], *excluded: str) -> list[Column]:
    """Return the columns of a model except `organization_id` and the `excluded` columns."""
    names = [str(column.key) for column in model.__table__.columns]
    return [getattr(model, name) for name in names if name not in ("organization_id", *excluded)]


_LISTED_COLUMNS = _list_columns(ArtifactSchema, "fields", "guidelines", "required_skill_keys")
_VERSION_COLUMNS = _list_columns(SchemaVersion, "fields", "changes")
_HAS_SCHEMA = Prepared(
    "has_schema",
    "uuid, uuid",
    f"SELECT FROM schemas WHERE organization_id = $1 AND id = $2 AND status <> '{DELETED}'",
)
_NOT_DELETED = ArtifactSchema.status != DELETED


def list_schemas(page: PageRequest, **filters: Any) -> Page:
    """Return a page of schemas. `fields` and `guidelines` are None if too large for the page.

    `filters` maps columns to values. Two other keys are allowed: created_after and created_before.
    """
    conditions = [_NOT_DELETED, *build_filter_conditions(ArtifactSchema, filters)]
    # The sizes of the fields are read only for the rows of the page, not for all sorted rows.
    keys = select(_SORT_COLUMNS[page.sort.lstrip("-")], ArtifactSchema.id).where(*conditions)
    large_columns = (ArtifactSchema.fields, ArtifactSchema.guidelines)
    rows_page = paginate(
        select(
            *_LISTED_COLUMNS,
            *(_build_size_limited_column(column, page) for column in large_columns),
        ),
        page,
        sort_columns=_SORT_COLUMNS,
        unique=ArtifactSchema.id,
        counted_rows=select(ArtifactSchema.id).where(*conditions),
        key_queries=[KeyQuery(keys)],
    )
    return replace(rows_page, items=[ArtifactSchema(**row._mapping) for row in rows_page.items])  # noqa: SLF001 - public in SQLAlchemy


def find_schema(schema_id: UUID) -> ArtifactSchema | None:
    """Return a schema with the fields of its draft, or None if it does not exist."""
    statement = select(ArtifactSchema).where(ArtifactSchema.id == schema_id, _NOT_DELETED)
    return db.session().execute(statement).scalar_one_or_none()


def has_schema(schema_id: UUID) -> bool:
    """Return whether a schema exists in the current organization."""
    return bool(_HAS_SCHEMA.execute(str(tenancy.current_organization_id()), str(schema_id)))


def lock_reference(schema_id: UUID) -> bool:
    """Lock a schema against deletion until the transaction ends; return False if it is missing."""
    statement = select(ArtifactSchema.id).where(ArtifactSchema.id == schema_id, _NOT_DELETED)
    statement = statement.with_for_update(read=True, key_share=True)
    return db.session().execute(statement).first() is not None


def lock_schema(schema_id: UUID, *, to_delete: bool = False) -> ArtifactSchema | None:
    """Lock a schema until the transaction ends, and return it, or None if it does not exist.

    By default, other transactions can still insert rows that refer to the schema, so labeling
    continues. If `to_delete` is set, these transactions wait.
    """
    return _lock(_NOT_DELETED, schema_id, key_share=not to_delete)


def lock_deleted_schema(schema_id: UUID) -> ArtifactSchema | None:
    """Lock a schema that has the status DELETED, and return it, or None if it does not exist."""
    return _lock(ArtifactSchema.status == DELETED, schema_id, key_share=False)


def _lock(
    condition: ColumnElement[bool], schema_id: UUID, *, key_share: bool
) -> ArtifactSchema | None:
    statement = select(ArtifactSchema).where(ArtifactSchema.id == schema_id, condition)
    statement = statement.with_for_update(key_share=key_share)
    statement = statement.execution_options(populate_existing=True)
    return db.session().execute(statement).scalar_one_or_none()


def find_version(version_id: UUID) -> SchemaVersion | None:
    """Return a schema version, or None if it does not exist or its schema was deleted."""
    statement = select(SchemaVersion).join(
        ArtifactSchema, (ArtifactSchema.id == SchemaVersion.schema_id) & _NOT_DELETED
    )
    statement = statement.where(SchemaVersion.id == version_id)
    return db.session().execute(statement).scalar_one_or_none()


def find_version_by_number(schema_id: UUID, number: int) -> SchemaVersion | None:
    """Return the version of a schema with this number, or None if it does not exist."""
    statement = select(SchemaVersion).where(
        SchemaVersion.schema_id == schema_id, SchemaVersion.number == number
    )
    return db.session().execute(statement).scalar_one_or_none()


def list_versions(
    request: PageRequest,
    schema_id: UUID,
    *,
    created_after: datetime | None = None,
    created_before: datetime | None = None,
) -> Page:
    """Return a page of a schema's versions.

    `fields` and `changes` are None if they are too large for the page.
    """
    conditions = [SchemaVersion.schema_id == schema_id]
    conditions += build_period_conditions(SchemaVersion.created_at, created_after, created_before)
    statement = select(
        *_VERSION_COLUMNS,
        _build_size_limited_column(SchemaVersion.fields, request),
        _build_size_limited_column(SchemaVersion.changes, request),
    ).where(*conditions)
    return paginate(
        statement,
        request,
        sort_columns={"number": SchemaVersion.number},
        unique=SchemaVersion.id,
        counted_rows=select(SchemaVersion.id).where(*conditions),
    )


def _build_size_limited_column(column: Column, request: PageRequest) -> Label[Any]:
    """Build an expression for a column that is null if the value is too large for the page."""
    max_bytes = MAX_PAGE_BYTES // request.page_size
    is_small = func.octet_length(cast(column, String)) <= max_bytes
    return case((is_small, column)).label(str(column.key))


def find_current_version(schema_id: UUID) -> tuple[str, CurrentVersion | None] | None:
    """Return a schema's status and its current version, or None if the schema does not exist.

    The version is None if the schema has no published version. Until the transaction ends, the
    schema cannot be deleted.
    """
    statement = (
        select(ArtifactSchema.status, *db.build_columns(CurrentVersion._fields, SchemaVersion))
        .select_from(ArtifactSchema)
        .outerjoin(SchemaVersion, SchemaVersion.id == ArtifactSchema.current_version_id)
        .where(ArtifactSchema.id == schema_id, _NOT_DELETED)
        .with_for_update(of=ArtifactSchema, read=True, key_share=True)
    )
    row = db.session().execute(statement).one_or_none()
    if row is None:
        return None
    status, *columns = row
    return status, None if columns[0] is None else CurrentVersion(*columns)
