"""Whether a schema is open for labeling, and whether AI assists in it."""

from uuid import UUID

from app.kit import db, errors
from app.labeling.artifact_schemas.models import ArtifactSchema
from app.labeling.artifact_schemas.service.drafts import lock


def activate(schema_id: UUID) -> ArtifactSchema:
    """Open a schema for labeling. Raises 404, or 409 while nothing of it is published."""
    schema = lock(schema_id, None)
    if schema.current_version_id is None:
        raise errors.conflict("Publish the schema before activating it.", state=schema.status)
    schema.status = "active"
    db.session().flush()
    return schema


def deactivate(schema_id: UUID) -> ArtifactSchema:
    """Close a schema for new labeling. Raises 404, or 409 when it was never active."""
    schema = lock(schema_id, None)
    if schema.status == "draft":
        raise errors.conflict("A draft was never open for labeling.", state=schema.status)
    schema.status = "inactive"
    db.session().flush()
    return schema


def enable_ai_assist(schema_id: UUID) -> ArtifactSchema:
    """Turn AI assistance on, for the fields that take it; again, it stays as it is. Raises 404."""
    return _assist(schema_id, enabled=True)


def disable_ai_assist(schema_id: UUID) -> ArtifactSchema:
    """Turn AI assistance off; what it proposed stays. Raises 404."""
    return _assist(schema_id, enabled=False)


def _assist(schema_id: UUID, *, enabled: bool) -> ArtifactSchema:
    schema = lock(schema_id, None)
    schema.ai_assist_enabled = enabled
    db.session().flush()
    return schema
