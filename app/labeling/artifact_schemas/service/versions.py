"""Published versions, which never change."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from app.engines.fields import CompiledFields
from app.kit import errors
from app.labeling.artifact_schemas import cache
from app.labeling.artifact_schemas.models import SchemaVersion
from app.labeling.artifact_schemas.queries import records


@dataclass(frozen=True, slots=True)
class Version:
    """What labeling needs of a published version; `fields` are in normal form."""

    id: UUID
    schema_id: UUID
    number: int
    fields: list[dict[str, Any]]
    review_policy: dict[str, Any]


def get_version(version_id: UUID) -> SchemaVersion:
    """One version. Raises 404."""
    version = records.version(version_id)
    if version is None:
        raise errors.not_found()
    return version


def get_active_version(schema_id: UUID) -> Version:
    """The version that new label sets use.

    Raises 404, or 409 `conflict` with `details.state` when the schema is not active.
    """
    row = records.active_version(schema_id)
    if row is None:
        raise errors.not_found()
    if row.status != "active" or row.id is None:
        raise errors.conflict("The schema is not open for labeling.", state=row.status)
    return Version(row.id, row.schema_id, row.number, row.fields, row.review_policy)


def compiled(version_id: UUID, fields: list[dict[str, Any]]) -> CompiledFields:
    """The fields of a published version made ready; kept, as a version never changes."""
    return cache.compiled(version_id, fields)
