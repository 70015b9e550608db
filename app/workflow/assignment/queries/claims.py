"""SQL queries that claim and release artifacts, and that mark nearly due artifacts."""

from uuid import UUID

from sqlalchemy import (
    ColumnElement,
    Integer,
    and_,
    case,
    exists,
    func,
    literal_column,
    not_,
    or_,
    select,
    text,
    update,
)

from app.documents.artifacts.models.documents import ARTIFACT_COLUMNS, Artifact, ArtifactRow
from app.documents.artifacts.statuses import CLAIMABLE, ArtifactStatus
from app.kit import db
from app.kit.permissions import Role
from app.kit.tenancy import build_join
from app.workflow.assignment.queries.claimable_tables import ClaimableTable, build_claim
from app.workflow.tag_sets.models import TagSet
from app.workflow.tag_sets.transitions import TagSetStatus

_REQUIRED_LABELS: ColumnElement[int] = literal_column(
    """(
    SELECT coalesce(max(CAST(version.review_policy ->> 'labels_per_artifact' AS int)), 1)
    FROM schemas JOIN schema_versions version ON version.organization_id = schemas.organization_id
     AND version.id = schemas.current_version_id
    WHERE schemas.organization_id = artifacts.organization_id AND schemas.id = artifacts.schema_id)
    """,
    Integer,
)

# Without a claim, an artifact is in progress only if it has a tag set that was not rejected.
CLAIMABLE_ARTIFACTS = ClaimableTable(
    "artifacts",
    Role.labeler,
    time_sql=", updated_at = now()",
    status_sql=""", status = CASE WHEN status = 'in_progress' AND NOT EXISTS (
        SELECT FROM tag_sets
        WHERE tag_sets.organization_id = artifacts.organization_id
          AND tag_sets.artifact_id = artifacts.id
          AND tag_sets.status <> 'rejected') THEN 'ready' ELSE status END""",
)


def _build_labeled_without_draft_condition(user_id: UUID) -> ColumnElement[bool]:
    # A labeler who has submitted a tag set must not prevent other labelers from claiming.
    own_draft = exists().where(
        build_join(TagSet.artifact_id, Artifact),
        TagSet.labeler_id == user_id,
        TagSet.status == TagSetStatus.DRAFT,
    )
    has_labeled = func.array_position(Artifact.labeled_by, user_id).is_not(None)
    return and_(has_labeled, not_(own_draft))


def _lock(artifact_id: UUID) -> None:
    # A statement that waits for a lock reads the tag sets as they were before the wait, so the
    # artifact is locked by a separate statement.
    statement = select(Artifact.id).where(Artifact.id == artifact_id)
    db.session().execute(statement.with_for_update(key_share=True))


def claim(artifact_id: UUID, user_id: UUID, *, minutes: int) -> ArtifactRow | None:
    """Claim an artifact for a user or renew the user's claim, and return the artifact's row.

    The claim expires after `minutes`. Returns None if the artifact does not exist or cannot be
    labeled, if another user has claimed it, if the user has labeled it and has no draft, or if
    every remaining tag set that its schema requires is reserved for another user.
    """
    _lock(artifact_id)
    reserved_for_others = func.cardinality(func.array_remove(Artifact.reserved_for, user_id))
    statement = (
        update(Artifact)
        .where(
            Artifact.id == artifact_id,
            Artifact.status.in_(CLAIMABLE),
            Artifact.archived.is_(False),
            or_(CLAIMABLE_ARTIFACTS.is_unclaimed, Artifact.claim_user_id == user_id),
            not_(_build_labeled_without_draft_condition(user_id)),
            or_(
                reserved_for_others == 0,
                func.cardinality(Artifact.labeled_by) + reserved_for_others < _REQUIRED_LABELS,
            ),
        )
        .values(
            **build_claim(user_id, minutes),
            status=case(
                (Artifact.status == ArtifactStatus.READY, ArtifactStatus.IN_PROGRESS),
                else_=Artifact.status,
            ),
            updated_at=func.now(),
        )
        .returning(*ARTIFACT_COLUMNS)
    )
    row = db.execute_bulk(statement).one_or_none()
    return None if row is None else ArtifactRow._make(row)


def has_labeled_without_draft(artifact_id: UUID, user_id: UUID) -> bool:
    """Return whether a user has labeled an artifact and has no draft for it."""
    statement = select(Artifact.id).where(
        Artifact.id == artifact_id, _build_labeled_without_draft_condition(user_id)
    )
    return db.session().execute(statement).first() is not None


# Locked rows are skipped until the next run, so that the statement never blocks.
_MARK_NEARLY_DUE = text(
    """
    WITH due AS (
        SELECT organization_id, id FROM artifacts
        WHERE due_at <= now() + interval '24 hours' AND NOT nearly_due AND NOT archived
          AND status IN ('ready', 'in_progress')
        ORDER BY due_at LIMIT 1000 FOR NO KEY UPDATE SKIP LOCKED
    )
    UPDATE artifacts SET nearly_due = true FROM due
    WHERE artifacts.organization_id = due.organization_id AND artifacts.id = due.id
    RETURNING 1
    """
)


def mark_nearly_due() -> int:
    """Mark at most 1,000 open artifacts that are due within 24 hours or overdue; return how many.

    Artifacts of all organizations are included.
    """
    return len(db.session().execute(_MARK_NEARLY_DUE).all())
