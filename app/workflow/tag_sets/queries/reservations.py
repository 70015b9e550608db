"""SQL of artifacts that are reserved for a draft."""

from uuid import UUID

from sqlalchemy import text

from app.kit import db, tenancy

BATCH = 1000

_END = text(
    """
    WITH document AS (
        SELECT id FROM artifacts
        WHERE organization_id = :organization_id AND id = :artifact_id FOR NO KEY UPDATE
    )
    UPDATE tag_sets SET reserved_until = NULL
    FROM document
    WHERE organization_id = :organization_id AND artifact_id = document.id AND status = 'draft'
      AND reserved_until > now()
      AND (CAST(:user_id AS uuid) IS NULL OR labeler_id = :user_id)
    RETURNING labeler_id
    """
)
_RESERVED = text(
    """
    SELECT cardinality(array_remove(reserved_for, CAST(:user_id AS uuid))) FROM artifacts
    WHERE organization_id = :organization_id AND id = :artifact_id
    """
)
_WITH_EXPIRED = text(
    "SELECT DISTINCT organization_id FROM tag_sets"
    " WHERE reserved_until <= now() AND status = 'draft'"
)
# The artifacts are locked first, as in every change of an artifact and its tag sets. Artifacts that
# another transaction has locked are left to the next run.
_END_EXPIRED = text(
    """
    WITH expired AS (
        SELECT id FROM artifacts
        WHERE organization_id = :organization_id AND id IN (
            SELECT artifact_id FROM tag_sets
            WHERE organization_id = :organization_id AND reserved_until <= now()
              AND status = 'draft'
            LIMIT :batch)
        ORDER BY id FOR NO KEY UPDATE SKIP LOCKED
    )
    UPDATE tag_sets SET reserved_until = NULL
    FROM expired
    WHERE organization_id = :organization_id AND artifact_id = expired.id AND status = 'draft'
      AND reserved_until <= now()
    RETURNING artifact_id
    """
)


def end_reservations(artifact_id: UUID, user_id: UUID | None) -> list[UUID]:
    """Lock an artifact and end the reservations of drafts by a user, or by everybody with None.

    Return the labelers of these drafts.
    """
    values = {"artifact_id": artifact_id, "user_id": user_id, **_bind_organization()}
    return list(db.session().scalars(_END, values))


def count_reserved_for_others(artifact_id: UUID, user_id: UUID) -> int:
    """Return how many of an artifact's required tag sets are reserved for other users' drafts."""
    values = {"artifact_id": artifact_id, "user_id": user_id, **_bind_organization()}
    return int(db.session().execute(_RESERVED, values).scalar() or 0)


def list_organizations_with_expired() -> list[UUID]:
    """Return the ids of organizations with expired reservations."""
    return list(db.session().scalars(_WITH_EXPIRED))


def end_expired() -> list[UUID]:
    """End the expired reservations of at most BATCH artifacts, lock these, and return their ids."""
    values = {"batch": BATCH, **_bind_organization()}
    return sorted(set(db.session().scalars(_END_EXPIRED, values)))


def _bind_organization() -> dict[str, UUID]:
    return {"organization_id": tenancy.current_organization_id()}
