"""SQL of decisions on many tag sets, with a fixed number of statements."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from uuid import UUID

from sqlalchemy import Row, insert, literal, select, text, update

from app.kit import db, tenancy
from app.workflow.tag_sets.models import MAKERS, REQUIRED_LABELS, TagSet, TagSetRevision
from app.workflow.tag_sets.queries.recording import (
    DECISIONS,
    REVISION,
    describe_decision,
    is_previous,
    previous,
)

# Artifacts are locked before tag sets, each in the order of their ids, to avoid deadlocks.
_LOCK_DOCUMENTS = text(
    """
    SELECT id FROM artifacts
    WHERE organization_id = :org AND id IN (
        SELECT artifact_id FROM tag_sets
        WHERE organization_id = :org AND id = ANY (CAST(:ids AS uuid[]))
    )
    ORDER BY id FOR NO KEY UPDATE
    """
)
_LOCK = text(
    f"""
    SELECT item.id, item.artifact_id, item.schema_id, item.schema_version_id, item.labeler_id,
           {MAKERS.format(of="item.")} AS makers,
           {REQUIRED_LABELS.format(of="item.")} AS required_labels,
           item.status, item.source, item.rejections, item.earlier_rejections,
           item.revision,
           CASE WHEN item.claim_expires_at > now() THEN item.claim_user_id END AS claimed_by,
           item.claim_expires_at, item.assignee_id, item.assignee_team_id, version.review_policy
    FROM tag_sets item
    JOIN schema_versions version
      ON version.organization_id = :org AND version.id = item.schema_version_id
    WHERE item.organization_id = :org AND item.id = ANY (CAST(:ids AS uuid[]))
    ORDER BY item.id FOR NO KEY UPDATE OF item
    """  # noqa: S608 - made of constants
)
_SIBLINGS = text(
    """
    SELECT id, artifact_id, labeler_id, status, source FROM tag_sets
    WHERE organization_id = :org AND artifact_id = ANY (CAST(:artifact_ids AS uuid[]))
      AND status IN ('draft', 'submitted', 'accepted')
    ORDER BY id
    """
)
# As with a single decision, a live claim of another user is not changed.
_CLAIM_ARTIFACTS = text(
    """
    UPDATE artifacts
    SET claim_user_id = assignee.user_id, claim_expires_at = now() + make_interval(mins => :minutes)
    FROM unnest(CAST(:artifact_ids AS uuid[]), CAST(:user_ids AS uuid[])) AS assignee (id, user_id)
    WHERE organization_id = :org AND artifacts.id = assignee.id
      AND (claim_user_id IS NULL OR claim_user_id = assignee.user_id OR claim_expires_at <= now())
    """
)


def _to_strings(ids: Iterable[UUID]) -> list[str]:
    return [str(id_) for id_ in ids]


def lock(tag_set_ids: Sequence[UUID]) -> list[Row[Any]]:
    """Lock tag sets and their artifacts; return those that exist, with their schemas' policies."""
    values = {"org": tenancy.current_organization_id(), "ids": _to_strings(tag_set_ids)}
    db.session().execute(_LOCK_DOCUMENTS, values)
    return list(db.session().execute(_LOCK, values))


def list_siblings(artifact_ids: Iterable[UUID]) -> list[Row[Any]]:
    """Return the tag sets of artifacts except rejected ones.

    Columns: id, artifact_id, labeler_id, status, source.
    """
    values = {"org": tenancy.current_organization_id(), "artifact_ids": _to_strings(artifact_ids)}
    return list(db.session().execute(_SIBLINGS, values))


def change(
    tag_set_ids: Sequence[UUID],
    values: Mapping[str, Any],
    *,
    kind: str,
    author_id: UUID,
    note: str | None,
) -> None:
    """Update locked tag sets to the same values and record a revision of each."""
    changed = (  # The ORM does not add the tenant filter inside an INSERT.
        update(TagSet)
        .where(TagSet.organization_id == tenancy.current_organization_id())
        .where(TagSet.id.in_(tag_set_ids))
        .values(**values, revision=TagSet.revision + 1)
        .returning(
            TagSet.organization_id,
            TagSet.id,
            TagSet.revision,
            TagSet.tags,
            TagSet.updated_at,
            TagSet.schema_id,
        )
        .cte("changed")
    )
    recorded: Any = select(
        changed.c.organization_id,
        changed.c.id,
        changed.c.revision,
        changed.c.tags,
        literal(author_id, TagSetRevision.author_id.type),
        literal(kind),
        literal(note, TagSetRevision.note.type),
        changed.c.updated_at,
        *describe_decision(kind, changed.c.schema_id, changed.c.updated_at),
    )
    if kind in DECISIONS:
        condition = is_previous(changed.c.organization_id, changed.c.id, changed.c.revision)
        recorded = recorded.outerjoin_from(changed, previous, condition)
    db.session().execute(insert(TagSetRevision).from_select(REVISION, recorded))


def claim_artifacts(next_labelers: Mapping[UUID, UUID], *, minutes: int) -> None:
    """Claim artifacts for users, {artifact_id: user_id}, unless another user has a live claim."""
    values = {
        "org": tenancy.current_organization_id(),
        "artifact_ids": _to_strings(next_labelers),
        "user_ids": _to_strings(next_labelers.values()),
        "minutes": minutes,
    }
    db.session().execute(_CLAIM_ARTIFACTS, values)
