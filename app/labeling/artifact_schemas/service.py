"""Labeling schemas: an editable draft, published as immutable versions, open or closed."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from app.engines.fields import CompiledFields, FieldError, check_fields, compare
from app.kit import db, errors
from app.kit.errors import ApiError
from app.kit.ids import uuid7
from app.kit.pagination import Page, PageRequest
from app.labeling.artifact_schemas import cache, queries
from app.labeling.artifact_schemas.models import ArtifactSchema, SchemaVersion

DEFAULT_POLICY: dict[str, Any] = {
    "labels_per_artifact": 1,
    "sample_rate": 1.0,
    "auto_accept_agreement": None,
    "auto_accept_confidence": None,
    "max_rejections": 3,
}


@dataclass(frozen=True, slots=True)
class Version:
    """What labeling needs of a published version; `fields` are in normal form."""

    id: UUID
    schema_id: UUID
    number: int
    fields: list[dict[str, Any]]
    review_policy: dict[str, Any]


def list_schemas(
    *,
    page: PageRequest,
    status: str | None = None,
    document_type: str | None = None,
    created_after: datetime | None = None,
    created_before: datetime | None = None,
) -> Page:
    """A page of schemas."""
    return queries.page(
        page,
        status=status,
        document_type=document_type,
        created_after=created_after,
        created_before=created_before,
    )


def create(
    *,
    created_by: UUID,
    name: str,
    document_type: str,
    description: str = "",
    guidelines: str = "",
    review_policy: dict[str, Any] | None = None,
    fields: list[dict[str, Any]],
) -> ArtifactSchema:
    """A new draft. Raises 400 with the code of what is wrong with a field."""
    schema = ArtifactSchema(
        name=name,
        document_type=document_type,
        description=description,
        guidelines=guidelines,
        review_policy={**DEFAULT_POLICY, **(review_policy or {})},
        fields=_checked(fields),
        created_by=created_by,
    )
    db.session().add(schema)
    db.session().flush()
    return schema


def get(schema_id: UUID) -> ArtifactSchema:
    """One schema. Raises 404."""
    schema = queries.schema(schema_id)
    if schema is None:
        raise errors.not_found()
    return schema


def update(schema_id: UUID, *, revision: int | None, changes: dict[str, Any]) -> ArtifactSchema:
    """Change members of the draft. Raises 404, 409 `stale_precondition`, 400 on a field."""
    schema = _locked(schema_id, revision)
    if "fields" in changes:
        changes = {**changes, "fields": _checked(changes["fields"])}
    if "review_policy" in changes:
        changes = {**changes, "review_policy": {**schema.review_policy, **changes["review_policy"]}}
    for name, value in changes.items():
        setattr(schema, name, value)
    db.session().flush()
    return schema


def publish(
    schema_id: UUID,
    *,
    revision: int | None,
    published_by: UUID,
    base_version: int | None = None,
    note: str | None = None,
    allow_breaking: bool = False,
    dry_run: bool = False,
) -> dict[str, Any]:
    """Freeze the draft as the next version; the version with `dry_run`.

    Raises 404, 409 `stale_precondition`, 409 `schema_version_conflict` when `base_version` is not
    the current one (0 before the first), 400 without fields, and 400 `schema_breaking_change`
    unless breaking is allowed. A dry run writes nothing and lists what would break.
    """
    schema = _locked(schema_id, revision)
    _check_base(schema, base_version)
    if not schema.fields:
        raise errors.invalid("A version needs at least one field.", "fields")
    changes = _changes(schema)
    breaking = [change for change in changes if change["breaking"]]
    if breaking and not (allow_breaking or dry_run):
        raise ApiError(
            "schema_breaking_change",
            "Labels of the version before would not fit this one.",
            details={"changes": breaking},
        )
    version = _next(schema, changes, published_by=published_by, note=note)
    if not dry_run:
        _freeze(schema, version)
    return {**version, "dry_run": dry_run}


def _next(
    schema: ArtifactSchema, changes: list[dict[str, Any]], *, published_by: UUID, note: str | None
) -> dict[str, Any]:
    return {
        "id": None,
        "schema_id": schema.id,
        "number": schema.current_version_number + 1,
        "fields": schema.fields,
        "review_policy": schema.review_policy,
        "published_by": published_by,
        "published_at": None,
        "changes": changes,
        "breaking": any(change["breaking"] for change in changes),
        "note": note,
        "created_at": None,
        "updated_at": None,
    }


def _freeze(schema: ArtifactSchema, version: dict[str, Any]) -> None:
    now = db.utc_now()
    version.update(id=uuid7(), published_at=now, created_at=now, updated_at=now)
    db.session().add(SchemaVersion(**version))
    schema.current_version_id = version["id"]
    schema.current_version_number = version["number"]
    schema.current_version_published_at = now
    db.session().flush()


def activate(schema_id: UUID) -> ArtifactSchema:
    """Open a schema for labeling. Raises 404, or 409 while nothing of it is published."""
    schema = _locked(schema_id, None)
    if schema.current_version_id is None:
        raise errors.conflict("Publish the schema before activating it.", state=schema.status)
    schema.status = "active"
    db.session().flush()
    return schema


def deactivate(schema_id: UUID) -> ArtifactSchema:
    """Close a schema for new labeling. Raises 404, or 409 when it was never active."""
    schema = _locked(schema_id, None)
    if schema.status == "draft":
        raise errors.conflict("A draft was never open for labeling.", state=schema.status)
    schema.status = "inactive"
    db.session().flush()
    return schema


def get_version(version_id: UUID) -> SchemaVersion:
    """One version. Raises 404."""
    version = queries.version(version_id)
    if version is None:
        raise errors.not_found()
    return version


def get_active_version(schema_id: UUID) -> Version:
    """The version that new label sets use.

    Raises 404, or 409 `conflict` with `details.state` when the schema is not active.
    """
    row = queries.active_version(schema_id)
    if row is None:
        raise errors.not_found()
    if row.status != "active" or row.id is None:
        raise errors.conflict("The schema is not open for labeling.", state=row.status)
    return Version(row.id, row.schema_id, row.number, row.fields, row.review_policy)


def compiled(version_id: UUID, fields: list[dict[str, Any]]) -> CompiledFields:
    """The fields of a published version made ready; kept, as a version never changes."""
    return cache.compiled(version_id, fields)


def _locked(schema_id: UUID, revision: int | None) -> ArtifactSchema:
    schema = queries.schema(schema_id, lock=True)
    if schema is None:
        raise errors.not_found()
    if revision is not None and revision != schema.revision:
        raise errors.stale(schema.revision)
    return schema


def _checked(fields: list[dict[str, Any]]) -> list[Any]:
    try:
        return check_fields(fields)
    except FieldError as error:
        message = f"{error.path} {error.message}."
        raise ApiError(error.code, message, field=error.path) from None


def _check_base(schema: ArtifactSchema, base_version: int | None) -> None:
    if base_version is not None and base_version != schema.current_version_number:
        raise ApiError(
            "schema_version_conflict",
            "Another version was published over the one this draft was built on.",
            field="base_version",
            details={"current_version": schema.current_version_number},
        )


def _changes(schema: ArtifactSchema) -> list[dict[str, Any]]:
    if schema.current_version_id is None:
        return []
    previous = get_version(schema.current_version_id)
    return [change.as_dict() for change in compare(previous.fields, schema.fields)]
