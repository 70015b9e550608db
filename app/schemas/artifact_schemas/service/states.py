"""Activate and deactivate schemas, and turn their AI assistance on and off."""

from uuid import UUID

from app.kit import db, errors
from app.schemas.artifact_schemas.models import ArtifactSchema
from app.schemas.artifact_schemas.service.drafts import lock
from app.schemas.artifact_schemas.statuses import ACTIVATE, DEACTIVATE


def activate(schema_id: UUID, *, revision: int | None) -> ArtifactSchema:
    """Open a schema for labeling.

    Raises 404, 409 `stale_precondition`, or 409 `conflict` if no version is published.
    """
    schema = lock(schema_id, revision)
    if schema.current_version_id is None:
        raise errors.conflict("Publish the schema before activating it.", state=schema.status)
    schema.status = ACTIVATE.target
    db.session().flush()
    return schema


def deactivate(schema_id: UUID, *, revision: int | None) -> ArtifactSchema:
    """Close a schema for new labeling.

    Raises 404, 409 `stale_precondition`, or 409 `conflict` if it was never active.
    """
    schema = lock(schema_id, revision)
    if schema.status not in DEACTIVATE.sources:
        raise errors.conflict("The schema is a draft; it was never activated.", state=schema.status)
    schema.status = DEACTIVATE.target
    db.session().flush()
    return schema


def enable_ai_assist(schema_id: UUID, *, revision: int | None) -> ArtifactSchema:
    """Turn AI assistance on for the fields that allow it. Safe to repeat.

    Raises 404, 409 `stale_precondition`.
    """
    return _set_ai_assist(schema_id, revision=revision, enabled=True)


def disable_ai_assist(schema_id: UUID, *, revision: int | None) -> ArtifactSchema:
    """Turn AI assistance off; keep its proposals. Raises 404, 409 `stale_precondition`."""
    return _set_ai_assist(schema_id, revision=revision, enabled=False)


def _set_ai_assist(schema_id: UUID, *, revision: int | None, enabled: bool) -> ArtifactSchema:
    schema = lock(schema_id, revision)
    schema.ai_assist_enabled = enabled
    db.session().flush()
    return schema
