"""Read and compare published schema versions, which never change."""

from datetime import datetime
from typing import Any
from uuid import UUID

from app.engines.fields import compare
from app.kit import errors
from app.kit.pagination import Page, PageRequest
from app.schemas.artifact_schemas import queries
from app.schemas.artifact_schemas.models import CurrentVersion, SchemaVersion
from app.schemas.artifact_schemas.service import drafts
from app.schemas.artifact_schemas.transitions import SchemaStatus


def get_version(version_id: UUID) -> SchemaVersion:
    """Return a published schema version. Raises 404 if it does not exist."""
    return errors.require_found(queries.find_version(version_id))


def list_versions(schema_id: UUID, *, page: PageRequest, **filters: datetime) -> Page:
    """Return a page of a schema's versions. Raises 404 if the schema does not exist.

    `fields` and `changes` are None if they are too large for the page. `filters` are
    `created_after` and `created_before`.
    """
    drafts.get(schema_id)
    return queries.list_versions(page, schema_id, **filters)


def compare_versions(version_id: UUID, *, against: UUID | None = None) -> dict[str, Any]:
    """Compare a version with the version `against`, and return the changes.

    By default, `against` is the previous version. The result has the two versions as `from` and
    `to`, the list `changes`, and `breaking`, which is true if a change is breaking. The first
    version has no previous version: `from` is None, every field counts as added, and no change
    counts as breaking. Raises 404 if the version does not exist, or 400 if `against` is not a
    version of the same schema.
    """
    version = get_version(version_id)
    base = _find_base_version(version, against)
    changes = [change.as_dict() for change in compare(base.fields if base else [], version.fields)]
    if base is None:
        changes = [{**change, "breaking": False} for change in changes]
    return {
        "from": base,
        "to": version,
        "changes": changes,
        "breaking": any(change["breaking"] for change in changes),
    }


def build_json_schema(version_id: UUID) -> dict[str, Any]:
    """Build a JSON Schema (draft 2020-12) for the tags that a version accepts.

    Raises 404 if the version does not exist.
    """
    # Imported on first use, because it loads the libraries for all field types.
    from app.engines.fields.json_schema.tags import build_tags_schema  # noqa: PLC0415

    version = get_version(version_id)
    schema = drafts.get(version.schema_id)
    return build_tags_schema(
        version.fields,
        identifier=version_id.urn,
        title=f"{schema.name}, version {version.number}: tags",
    )


def _find_base_version(version: SchemaVersion, against: UUID | None) -> SchemaVersion | None:
    if against is None:
        return queries.find_version_by_number(version.schema_id, version.number - 1)
    base = queries.find_version(against)
    if base is None or base.schema_id != version.schema_id:
        raise errors.invalid("Must be the id of a version of the same schema.", "against")
    return base


def get_active_version(schema_id: UUID) -> CurrentVersion:
    """Return the version that new tag sets of a schema use; lock the schema against deletion.

    Raises 404 if the schema does not exist, or 409 `conflict` with `details.state` if it is not
    active.
    """
    status, version = errors.require_found(queries.find_current_version(schema_id))
    if status != SchemaStatus.ACTIVE or version is None:
        raise errors.conflict("The schema is not active; activate it first.", state=status)
    return version
