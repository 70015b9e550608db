"""Read and compare published versions, which never change."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from app.engines.fields import CompiledFields, compare, tags_schema
from app.kit import errors
from app.kit.pagination import Page, PageRequest
from app.schemas.artifact_schemas import cache
from app.schemas.artifact_schemas.models import SchemaVersion
from app.schemas.artifact_schemas.queries import records
from app.schemas.artifact_schemas.service import drafts
from app.schemas.artifact_schemas.statuses import SchemaStatus


@dataclass(frozen=True, slots=True)
class Version:
    """The members of a published version that labeling needs; `fields` are in normal form."""

    id: UUID
    schema_id: UUID
    number: int
    fields: list[dict[str, Any]]
    review_policy: dict[str, Any]


def get_version(version_id: UUID) -> SchemaVersion:
    """Return a version. Raises 404."""
    version = records.version(version_id)
    if version is None:
        raise errors.not_found()
    return version


def list_versions(
    schema_id: UUID,
    *,
    page: PageRequest,
    created_after: datetime | None = None,
    created_before: datetime | None = None,
) -> Page:
    """Return a page of versions; fields and changes that are too large for it are null.

    Raises 404.
    """
    drafts.get(schema_id)
    return records.version_page(
        page, schema_id, created_after=created_after, created_before=created_before
    )


def diff(version_id: UUID, *, against: UUID | None = None) -> dict[str, Any]:
    """Return the changes between another version, by default the previous one, and this version.

    The result is {from: {id, number} or None, to: {id, number}, changes, breaking}. For a first
    version, every field counts as added and none as breaking. Raises 404, or 400 on `against` if it
    is not a version of the same schema.
    """
    version = get_version(version_id)
    base = _base(version, against)
    changes = [one.as_dict() for one in compare(base.fields if base else [], version.fields)]
    if base is None:
        changes = [{**change, "breaking": False} for change in changes]
    return {
        "from": base,
        "to": version,
        "changes": changes,
        "breaking": any(change["breaking"] for change in changes),
    }


def json_schema(version_id: UUID) -> dict[str, Any]:
    """Return the JSON Schema 2020-12 of the tags that a version accepts. Raises 404."""
    version = get_version(version_id)
    schema = drafts.get(version.schema_id)
    return tags_schema(
        version.fields,
        identifier=version_id.urn,
        title=f"{schema.name}, version {version.number}: tags",
    )


def _base(version: SchemaVersion, against: UUID | None) -> SchemaVersion | None:
    if against is None:
        return records.numbered(version.schema_id, version.number - 1)
    base = records.version(against)
    if base is None or base.schema_id != version.schema_id:
        raise errors.invalid("Must be a version of the same schema.", "against")
    return base


def get_active_version(schema_id: UUID) -> Version:
    """Return the version that new tag sets use.

    Raises 404, or 409 `conflict` with `details.state` when the schema is not active.
    """
    row = records.active_version(schema_id)
    if row is None:
        raise errors.not_found()
    if row.status != SchemaStatus.ACTIVE or row.id is None:
        raise errors.conflict("The schema is not open for labeling.", state=row.status)
    return Version(row.id, row.schema_id, row.number, row.fields, row.review_policy)


def compiled(version_id: UUID, fields: list[dict[str, Any]]) -> CompiledFields:
    """Return the compiled fields of a published version, from a cache: versions never change."""
    return cache.compiled(version_id, fields)
