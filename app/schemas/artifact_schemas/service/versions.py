"""Read and compare published versions, which never change."""

from datetime import datetime
from typing import Any
from uuid import UUID

from app.engines.fields import build_tags_schema, compare
from app.kit import errors
from app.kit.pagination import Page, PageRequest
from app.schemas.artifact_schemas.models import SchemaVersion
from app.schemas.artifact_schemas.queries import records
from app.schemas.artifact_schemas.queries.records import CurrentVersion
from app.schemas.artifact_schemas.service import drafts
from app.schemas.artifact_schemas.statuses import SchemaStatus


def get_version(version_id: UUID) -> SchemaVersion:
    """Return a version. Raises 404."""
    version = records.find_version(version_id)
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
    return records.list_versions(
        page, schema_id, created_after=created_after, created_before=created_before
    )


def diff(version_id: UUID, *, against: UUID | None = None) -> dict[str, Any]:
    """Return the changes between another version, by default the previous one, and this version.

    The result is {from: {id, number} or None, to: {id, number}, changes, breaking}. For a first
    version, every field counts as added and none as breaking. Raises 404, or 400 on `against` if it
    is not a version of the same schema.
    """
    version = get_version(version_id)
    base = _find_base(version, against)
    changes = [change.as_dict() for change in compare(base.fields if base else [], version.fields)]
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
    return build_tags_schema(
        version.fields,
        identifier=version_id.urn,
        title=f"{schema.name}, version {version.number}: tags",
    )


def _find_base(version: SchemaVersion, against: UUID | None) -> SchemaVersion | None:
    if against is None:
        return records.find_version_by_number(version.schema_id, version.number - 1)
    base = records.find_version(against)
    if base is None or base.schema_id != version.schema_id:
        raise errors.invalid("Must be a version of the same schema.", "against")
    return base


def get_active_version(schema_id: UUID) -> CurrentVersion:
    """Return the version that new tag sets use.

    Raises 404, or 409 `conflict` with `details.state` if the schema is not active.
    """
    current = records.find_current_version(schema_id)
    if current is None:
        raise errors.not_found()
    status, version = current
    if status != SchemaStatus.ACTIVE or version is None:
        raise errors.conflict("The schema is not active; activate it first.", state=status)
    return version
