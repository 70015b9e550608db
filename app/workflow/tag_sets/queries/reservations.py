"""SQL of documents that are kept for somebody's begun draft, or passed over for a time."""

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
# The documents are locked first, as by all who change a document and its tag sets. Those that
# somebody changes at this moment are left to the next run.
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
# Their name is taken off, or the document would come back to them as their own.
_PASS_OVER = text(
    """
    WITH rejected AS (
        SELECT CAST(key AS uuid) AS id, CAST(value AS uuid) AS user_id
        FROM jsonb_each_text(:labelers)
    ), unnamed AS (
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
    """Let a document be kept no longer for begun drafts of a user, or of anybody.

    Lock the document. Return the labelers of these drafts.
    """
    values = {"artifact_id": artifact_id, "user_id": user_id, **_organization()}
    return list(db.session().scalars(_END, values))


def count_reserved_for_others(artifact_id: UUID, user_id: UUID) -> int:
    """Return how many of a document's labeling places other users' begun drafts reserve."""
    values = {"artifact_id": artifact_id, "user_id": user_id, **_organization()}
    return int(db.session().execute(_RESERVED, values).scalar() or 0)


def list_organizations_with_expired() -> list[UUID]:
    """Return the organizations with drafts that have kept their document for long enough."""
    return list(db.session().scalars(_WITH_EXPIRED))


def end_expired() -> list[UUID]:
    """End reservations that ran out, of at most BATCH documents, which are locked; return these."""
    values = {"batch": BATCH, **_organization()}
    return sorted(set(db.session().scalars(_END_EXPIRED, values)))


def pass_over(labelers: Mapping[UUID, UUID], reason: str) -> None:
    """Let locked documents come last for somebody each, {document: user}, and unassign them."""
    if labelers:
        plain = {str(one): str(user_id) for one, user_id in labelers.items()}
        db.session().execute(_PASS_OVER, {"labelers": plain, "reason": reason, **_organization()})


def _organization() -> dict[str, UUID]:
    return {"organization_id": tenancy.current_organization_id()}
