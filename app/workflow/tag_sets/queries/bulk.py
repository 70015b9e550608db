"""SQL of deciding on many label sets: a fixed number of statements, however many they are."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from uuid import UUID

from sqlalchemy import Row, insert, literal, select, text, update

from app.kit import db, tenancy
from app.workflow.tag_sets.models import LABELS_WANTED, MAKERS, TagSet, TagSetRevision
from app.workflow.tag_sets.queries.recording import (
    DECISIONS,
    REVISION,
    describe_decision,
    earlier,
    is_before,
)

# Whoever takes many takes documents, then label sets, each in the order of their ids.
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
           {LABELS_WANTED.format(of="item.")} AS labels_wanted,
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
# As for a single one: a claim that somebody else holds stays theirs.
_TAKE_CLAIMS = text(
    """
    UPDATE artifacts
    SET claim_user_id = heir.user_id, claim_expires_at = now() + make_interval(mins => :minutes)
    FROM unnest(CAST(:artifact_ids AS uuid[]), CAST(:user_ids AS uuid[])) AS heir (id, user_id)
    WHERE organization_id = :org AND artifacts.id = heir.id
      AND (claim_user_id IS NULL OR claim_user_id = heir.user_id OR claim_expires_at <= now())
    """
)


def _texts(ids: Iterable[UUID]) -> list[str]:
    return [str(one) for one in ids]


def lock(tag_set_ids: Sequence[UUID]) -> list[Row[Any]]:
    """Lock label sets and their documents; those there are, with what their schemas ask for."""
    values = {"org": tenancy.current_organization_id(), "ids": _texts(tag_set_ids)}
    db.session().execute(_LOCK_DOCUMENTS, values)
    return list(db.session().execute(_LOCK, values))


def siblings(artifact_ids: Iterable[UUID]) -> list[Row[Any]]:
    """id, artifact_id, labeler_id, status, source of documents' label sets but rejected ones."""
    values = {"org": tenancy.current_organization_id(), "artifact_ids": _texts(artifact_ids)}
    return list(db.session().execute(_SIBLINGS, values))


def change(
    tag_set_ids: Sequence[UUID],
    values: Mapping[str, Any],
    *,
    kind: str,
    author_id: UUID,
    note: str | None,
) -> None:
    """Change locked label sets alike, and note the change of each as a revision."""
    changed = (
        update(TagSet)
        # Under an insert the ORM does not add it.
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
    held: Any = select(
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
        before = is_before(changed.c.organization_id, changed.c.id, changed.c.revision)
        held = held.outerjoin_from(changed, earlier, before)
    db.session().execute(insert(TagSetRevision).from_select(REVISION, held))


def take_claims(heirs: Mapping[UUID, UUID], *, minutes: int) -> None:
    """Give documents' claims to users, {document: user}, where nobody else holds a live one."""
    values = {
        "org": tenancy.current_organization_id(),
        "artifact_ids": _texts(heirs),
        "user_ids": _texts(heirs.values()),
        "minutes": minutes,
    }
    db.session().execute(_TAKE_CLAIMS, values)
