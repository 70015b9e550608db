"""SQL of claims, and of the state that follows from a document's label sets."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from sqlalchemy import (
    ColumnElement,
    Integer,
    Row,
    TextClause,
    and_,
    case,
    func,
    literal_column,
    or_,
    select,
    text,
    update,
)

from app.documents.artifacts.models import Artifact
from app.documents.artifacts.queries.reading import COLUMNS
from app.identity.organizations.models import Organization
from app.kit import db, tenancy

DEFAULT_MINUTES = 30
BATCH = 1000
_START = (datetime(1970, 1, 1, tzinfo=UTC), UUID(int=0))
CLAIMABLE = ("ready", "in_progress")
_LIVE = and_(Artifact.claim_user_id.is_not(None), Artifact.claim_expires_at > func.now())

# Sent-back and begun work keeps a place of its document.
_SETS: ColumnElement[int] = literal_column(
    """(
    SELECT coalesce(max(CAST(version.review_policy ->> 'labels_per_artifact' AS int)), 1)
    FROM schemas JOIN schema_versions version ON version.organization_id = schemas.organization_id
     AND version.id = schemas.current_version_id
    WHERE schemas.organization_id = artifacts.organization_id AND schemas.id = artifacts.schema_id)
    """,
    Integer,
)

_minutes = (
    select(func.coalesce(Organization.settings["claim_minutes"].as_integer(), DEFAULT_MINUTES))
    .where(Organization.id == Artifact.organization_id)
    .scalar_subquery()
)
_END = func.now() + _minutes * text("interval '1 minute'")

# The documents' own rows are written last, from counts of the moment; their label sets decide, then
# a live claim. What is being read or could not be keeps its state. A document whose label sets
# were all rejected waits for labels again. A draft that has a reason was sent back or handed to its
# labeler. It is reserved for them, as one that they have begun is for a time, unless they skipped
# the document since, or label here no more.
_COUNT_ANEW = """
    WITH counted AS (
        SELECT document.id,
               count(*) FILTER (WHERE tag_sets.status = 'draft') AS draft,
               count(*) FILTER (WHERE tag_sets.status = 'submitted') AS submitted,
               count(*) FILTER (WHERE tag_sets.status = 'accepted') AS accepted,
               count(*) FILTER (WHERE tag_sets.status = 'rejected') AS rejected,
               coalesce(array_agg(tag_sets.labeler_id)
                   FILTER (WHERE tag_sets.status IN ('submitted', 'accepted')), '{{}}')
                   AS labeled_by,
               coalesce(array_agg(tag_sets.labeler_id)
                   FILTER (WHERE tag_sets.status = 'draft'
                       AND (tag_sets.reason IS NOT NULL OR tag_sets.reserved_until > now())
                       AND keeper.user_id IS NOT NULL AND skip.user_id IS NULL),
                   '{{}}') AS reserved_for,
               bool_or(tag_sets.source = 'merge' AND tag_sets.status = 'accepted') AS merged,
               bool_or(tag_sets.source = 'merge' AND tag_sets.status = 'submitted') AS merging,
               coalesce(max(CAST(version.review_policy ->> 'labels_per_artifact' AS int)), 1)
                   AS sets
        FROM artifacts document
        LEFT JOIN tag_sets ON tag_sets.organization_id = document.organization_id
                          AND tag_sets.artifact_id = document.id
        LEFT JOIN (memberships keeper
                   JOIN users ON users.id = keeper.user_id AND users.disabled_at IS NULL)
                           ON keeper.organization_id = document.organization_id
                          AND keeper.user_id = tag_sets.labeler_id AND keeper.role <> 'viewer'
        LEFT JOIN artifact_skips skip ON skip.organization_id = document.organization_id
                          AND skip.artifact_id = document.id
                          AND skip.user_id = tag_sets.labeler_id
                          AND skip.created_at > greatest(tag_sets.created_at, tag_sets.decided_at)
        LEFT JOIN schemas ON schemas.organization_id = document.organization_id
                         AND schemas.id = document.schema_id
        LEFT JOIN schema_versions version ON version.organization_id = schemas.organization_id
                                         AND version.id = schemas.current_version_id
        WHERE document.organization_id = :organization_id
          AND document.id = ANY (CAST(:artifact_ids AS uuid[]))
        GROUP BY document.id
    )
    UPDATE artifacts SET
        label_counts = jsonb_build_object('draft', draft, 'submitted', submitted,
                                          'accepted', accepted, 'rejected', rejected),
        labeled_by = counted.labeled_by, reserved_for = counted.reserved_for,
        status = CASE
            WHEN status IN ('processing', 'failed') THEN status
            WHEN accepted >= sets OR merged THEN 'done'
            WHEN draft = 0 AND submitted > 0 AND (submitted + accepted >= sets OR merging)
                THEN 'in_review'
            WHEN draft + submitted + accepted > 0 THEN 'in_progress'
            WHEN claim_user_id IS NOT NULL AND claim_expires_at > now() THEN 'in_progress'
            ELSE 'ready' END,
        {more} updated_at = now()
    FROM counted
    WHERE organization_id = :organization_id AND artifacts.id = counted.id
    RETURNING artifacts.id, status
"""
_REFRESH = text(_COUNT_ANEW.format(more=""))
_TAKE_BACK = text(_COUNT_ANEW.format(more="archived = false, revision = revision + 1,"))
_GIVE_BACK = """
    UPDATE artifacts SET
        claim_user_id = NULL, claim_expires_at = NULL, updated_at = now(),
        status = CASE WHEN status = 'in_progress' AND NOT EXISTS (
            SELECT FROM tag_sets
            WHERE tag_sets.organization_id = artifacts.organization_id
              AND tag_sets.artifact_id = artifacts.id
              AND tag_sets.status <> 'rejected') THEN 'ready' ELSE status END
"""
# Rows that somebody changes at this moment are left to the next run: nobody waits for a clean-up.
_EXPIRE = text(
    f"""
    WITH expired AS (
        SELECT organization_id, id FROM artifacts
        WHERE claim_user_id IS NOT NULL AND claim_expires_at <= now()
        LIMIT 1000 FOR NO KEY UPDATE SKIP LOCKED
    )
    {_GIVE_BACK}
    FROM expired
    WHERE artifacts.organization_id = expired.organization_id AND artifacts.id = expired.id
    """  # noqa: S608 - made of constants
)

# As many at once as a person holds; the state that follows is the same as when a claim runs out.
_RELEASE_ALL = text(
    f"""
    {_GIVE_BACK}
    WHERE organization_id = :organization_id AND claim_user_id = :user_id
    RETURNING id
    """
)

_RESERVED = text(
    """
    SELECT id FROM artifacts
    WHERE organization_id = :organization_id AND id > :after AND :user_id = ANY (reserved_for)
      AND id IN (SELECT artifact_id FROM tag_sets
                 WHERE organization_id = :organization_id AND labeler_id = :user_id
                   AND status = 'draft')
    ORDER BY id LIMIT 1000 FOR NO KEY UPDATE
    """
)

# Found in the order of the index, locked in the order of the ids, as by any other who takes many.
_LABELED = text(
    """
    SELECT id, created_at FROM artifacts
    WHERE organization_id = :organization_id AND id IN (
        SELECT id FROM artifacts
        WHERE organization_id = :organization_id AND schema_id = :schema_id
          AND status IN ('in_progress', 'in_review')
          AND (created_at, id) > (:since, CAST(:after AS uuid))
        ORDER BY created_at, id LIMIT :batch
    )
    ORDER BY id FOR NO KEY UPDATE
    """
)


def claim(artifact_id: UUID, user_id: UUID) -> Row[Any] | None:
    """Take or renew the claim, if the document can be claimed and nobody else holds it, or has the
    last place of it."""
    reserved = func.cardinality(func.array_remove(Artifact.reserved_for, user_id))
    statement = (
        update(Artifact)
        .where(
            Artifact.id == artifact_id,
            Artifact.status.in_(CLAIMABLE),
            Artifact.archived.is_(False),
            or_(
                Artifact.claim_user_id.is_(None),
                Artifact.claim_user_id == user_id,
                Artifact.claim_expires_at <= func.now(),
            ),
            or_(reserved == 0, func.cardinality(Artifact.labeled_by) + reserved < _SETS),
        )
        .values(
            claim_user_id=user_id,
            claim_expires_at=_END,
            status=case((Artifact.status == "ready", "in_progress"), else_=Artifact.status),
            updated_at=func.now(),
        )
        .returning(*COLUMNS)
        .execution_options(synchronize_session=False)
    )
    return db.session().execute(statement).one_or_none()


def release(artifact_id: UUID, user_id: UUID | None) -> UUID | None:
    """End a live claim, of this user or, with None, of anybody; whose it was."""
    held = select(Artifact.claim_user_id).where(Artifact.id == artifact_id, _LIVE)
    if user_id is not None:
        held = held.where(Artifact.claim_user_id == user_id)
    holder = db.session().execute(held.with_for_update(key_share=True)).scalar_one_or_none()
    if holder is not None:
        db.session().execute(
            update(Artifact)
            .where(Artifact.id == artifact_id)
            .values(claim_user_id=None, claim_expires_at=None, updated_at=func.now())
            .execution_options(synchronize_session=False)
        )
    return holder


def release_all(user_id: UUID) -> list[UUID]:
    """End every claim of a user; the documents."""
    values = {"organization_id": tenancy.current_organization_id(), "user_id": user_id}
    return list(db.session().execute(_RELEASE_ALL, values).scalars())


def lock_reserved(user_id: UUID, after: UUID) -> list[UUID]:
    """Lock the next documents, by their ids, that are reserved for a user (at most 1,000)."""
    values = {
        "organization_id": tenancy.current_organization_id(),
        "user_id": user_id,
        "after": after,
    }
    return list(db.session().execute(_RESERVED, values).scalars())


def lock_labeled(schema_id: UUID, place: tuple[datetime, UUID] | None) -> Sequence[Row[Any]]:
    """Lock the next documents of a schema, the oldest first, that are being labeled or reviewed;
    id and created_at of at most BATCH."""
    since, after = place or _START
    values = {
        "organization_id": tenancy.current_organization_id(),
        "schema_id": schema_id,
        "since": since,
        "after": after,
        "batch": BATCH,
    }
    return db.session().execute(_LABELED, values).all()


def refresh(artifact_ids: Sequence[UUID]) -> dict[UUID, str]:
    """Count the label sets anew and set the states that follow; the state of each document."""
    return _counted_anew(_REFRESH, artifact_ids)


def take_back(artifact_ids: Sequence[UUID]) -> None:
    """Take the mark off documents that are archived and locked, with the states that follow from
    their label sets, in one statement."""
    _counted_anew(_TAKE_BACK, artifact_ids)


def _counted_anew(statement: TextClause, artifact_ids: Sequence[UUID]) -> dict[UUID, str]:
    if not artifact_ids:
        return {}
    values = {
        "organization_id": tenancy.current_organization_id(),
        "artifact_ids": [str(one) for one in artifact_ids],
    }
    return {row.id: row.status for row in db.session().execute(statement, values)}


def expire() -> int:
    """End claims that ran out, of every organization; how many (at most 1,000 a call)."""
    return int(db.session().execute(_EXPIRE).rowcount)  # type: ignore[attr-defined]
