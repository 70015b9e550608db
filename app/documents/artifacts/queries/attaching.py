"""SQL queries for emails and their attachments."""

from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import select, text

from app.documents.artifacts.models.documents import Artifact
from app.kit import db, tenancy

# The parent of a document is the first email to which it was attached, while this email exists.
_SET_MISSING_PARENT = text(
    """
    UPDATE artifacts SET parent_id = :parent_id, updated_at = now()
    WHERE organization_id = :organization_id AND id = :artifact_id AND id <> :parent_id
      AND NOT EXISTS (SELECT FROM artifacts parent WHERE parent.organization_id = :organization_id
                      AND parent.id = artifacts.parent_id)
    """
)
_COUNT_ANCESTORS = text(
    """
    WITH RECURSIVE above AS (
        SELECT parent_id, 0 AS depth FROM artifacts
        WHERE organization_id = :organization_id AND id = :artifact_id
        UNION ALL
        SELECT parent.parent_id, above.depth + 1 FROM above
        JOIN artifacts AS parent
          ON parent.organization_id = :organization_id AND parent.id = above.parent_id
        WHERE above.depth < :limit
    )
    SELECT max(depth) FROM above
    """
)


class ParentEmail(NamedTuple):
    """The columns of an email that attachments inherit, and those for reading the email's file."""

    schema_id: UUID | None
    meta: dict[str, Any]
    priority: int
    archived: bool
    created_by: UUID | None
    connector_id: UUID | None
    ingestion_job_id: UUID | None
    media_type: str
    sha256: str


def find_parent_email(artifact_id: UUID) -> ParentEmail | None:
    """Return the columns of the email `artifact_id`, or None if the email does not exist."""
    columns = (getattr(Artifact, name) for name in ParentEmail._fields)
    return db.find_row(ParentEmail, select(*columns).where(Artifact.id == artifact_id))


def set_missing_parent(artifact_id: UUID, parent_id: UUID) -> None:
    """Make an email the parent of a document, unless the document has a parent that still exists.

    Does nothing if the email and the document are the same artifact.
    """
    values = {
        "organization_id": tenancy.current_organization_id(),
        "artifact_id": artifact_id,
        "parent_id": parent_id,
    }
    db.session().execute(_SET_MISSING_PARENT, values)


def count_ancestors(artifact_id: UUID, limit: int) -> int:
    """Count the emails in which a document is nested, up to `limit`."""
    values = {
        "organization_id": tenancy.current_organization_id(),
        "artifact_id": artifact_id,
        "limit": limit,
    }
    return int(db.session().execute(_COUNT_ANCESTORS, values).scalar_one() or 0)
