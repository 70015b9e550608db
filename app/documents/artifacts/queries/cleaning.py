"""SQL that deletes documents and finds the contents that documents still use."""

from collections.abc import Sequence
from uuid import UUID

from sqlalchemy import delete, text

from app.documents.artifacts.models import Artifact
from app.kit import db

_USED = text(
    """
    SELECT CAST(content.organization_id AS text), content.sha256
    FROM unnest(CAST(:organizations AS uuid[]), CAST(:digests AS text[]))
        AS content (organization_id, sha256)
    JOIN artifacts ON artifacts.organization_id = content.organization_id
                  AND artifacts.sha256 = content.sha256
    """
)


# Locks in the given order: all callers lock contents in the order of their digests.
_LOCK = text(
    """
    SELECT pg_advisory_xact_lock(hashtextextended(:organization || '/' || content.sha256, 0))
    FROM unnest(CAST(:digests AS text[])) WITH ORDINALITY AS content (sha256, place)
    ORDER BY content.place
    """
)


def delete_one(artifact_id: UUID) -> None:
    """Delete a document with its text, pages and tag sets."""
    statement = delete(Artifact).where(Artifact.id == artifact_id)
    db.session().execute(statement.execution_options(synchronize_session=False))


def find_used_contents(contents: Sequence[tuple[str, str]]) -> set[tuple[str, str]]:
    """Return those (organization id, sha256) pairs that belong to a document."""
    values = {
        "organizations": [organization for organization, _ in contents],
        "digests": [digest for _, digest in contents],
    }
    return {(organization, digest) for organization, digest in db.session().execute(_USED, values)}


def lock_unused(organization_id: UUID, digests: Sequence[str]) -> list[str]:
    """Lock all given contents until the transaction ends, and return those that no artifact has."""
    ordered = sorted(set(digests))
    db.session().execute(_LOCK, {"organization": str(organization_id), "digests": ordered})
    used = find_used_contents([(str(organization_id), digest) for digest in ordered])
    return [digest for digest in ordered if (str(organization_id), digest) not in used]
