"""SQL queries for bulk import."""

from uuid import UUID

from sqlalchemy import select

from app.kit import db
from app.schemas.artifact_schemas.models import ArtifactSchema


def schema_exists(schema_id: UUID) -> bool:
    """Return whether the current organization has the schema."""
    statement = select(ArtifactSchema.id).where(ArtifactSchema.id == schema_id)
    return db.session().execute(statement).first() is not None
