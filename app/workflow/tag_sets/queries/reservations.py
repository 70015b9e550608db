"""SQL of artifacts that are reserved for a draft, or not offered to a labeler any more."""

from collections.abc import Mapping
from uuid import UUID

from sqlalchemy import bindparam, text
from sqlalchemy.dialects.postgresql import JSONB

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
# The users are unassigned, because assigned artifacts would be offered to them first.
_SKIP_REJECTED = text(
    """
    WITH rejected AS (
        SELECT CAST(key AS uuid) AS id, CAST(value AS uuid) AS user_id
        FROM jsonb_each_text(:labelers)
    ), unassigned AS (
        UPDATE artifacts SET assignees = coalesce((
            SELECT jsonb_agg(one ORDER BY place)
            FROM jsonb_array_elements(assignees) WITH ORDINALITY AS list (one, place)
            WHERE one ->> 'user_id' IS DISTINCT FROM CAST(rejected.user_id AS text)
        ), '[]')
        FROM rejected
        WHERE organization_id = :organization_id AND artifacts.id = rejected.id
          AND assignees <> '[]'
    )
    INSERT INTO artifact_skips
        (organization_id, artifact_id, user_id, reason, created_at, rejected)
    SELECT :organization_id, id, user_id, :reason, clock_timestamp(), true FROM rejected
    ON CONFLICT (organization_id, artifact_id, user_id) DO NOTHING
    """
).bindparams(bindparam("labelers", type_=JSONB))


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


def skip_rejected(labelers: Mapping[UUID, UUID], reason: str) -> None:
    """Skip locked artifacts for one user each, {artifact_id: user_id}, and unassign them."""
    if labelers:
        user_ids = {str(artifact_id): str(user_id) for artifact_id, user_id in labelers.items()}
        db.session().execute(
            _SKIP_REJECTED, {"labelers": user_ids, "reason": reason, **_bind_organization()}
        )


def _bind_organization() -> dict[str, UUID]:
    return {"organization_id": tenancy.current_organization_id()}
