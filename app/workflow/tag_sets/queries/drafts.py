"""SQL queries that create, save and delete drafts, and that claim and release their artifacts.

Saves are the most frequent writes. A save takes two statements, which are prepared on each
connection, because planning takes longer than execution.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

import orjson
from sqlalchemy import bindparam, delete, func, insert, null, select, text, update

from app.documents.artifacts.models.documents import Artifact
from app.identity.members.eligibility import build_eligible_members
from app.kit import db, tenancy
from app.kit.permissions import Role
from app.kit.prepared import Prepared
from app.kit.tenancy import build_join
from app.workflow.tag_sets.models import TagSet
from app.workflow.tag_sets.queries.deciding import insert_revisions
from app.workflow.tag_sets.queries.locking import add_row_locks
from app.workflow.tag_sets.queries.reading import select_tag_sets


def insert_tag_set(
    values: Mapping[str, object], *, author_id: UUID, kind: str = "create", note: str | None = None
) -> TagSet:
    """Insert a tag set and its first revision, and return the tag set."""
    tag_set = TagSet(**values)
    db.session().add(tag_set)
    db.session().flush()
    insert_revisions([tag_set.id], kind=kind, author_id=author_id, note=note)
    return tag_set


def insert_tag_sets(
    rows: Sequence[Mapping[str, Any]], *, author_id: UUID | None, kind: str
) -> None:
    """Insert tag sets and their first revisions. Each row must include the tag set's id."""
    organization_id = tenancy.current_organization_id()
    values = [{**row, "organization_id": organization_id} for row in rows]
    db.session().execute(insert(TagSet), values)
    insert_revisions([row["id"] for row in rows], kind=kind, author_id=author_id)


def delete_tag_set(tag_set_id: UUID) -> None:
    """Delete a tag set. Its revisions are deleted with it (ON DELETE CASCADE)."""
    db.execute_bulk(delete(TagSet).where(TagSet.id == tag_set_id))


def count_rejections(artifact_id: UUID, schema_id: UUID, *, labeler_id: UUID | None) -> int:
    """Return the number of rejections so far for an artifact and schema.

    `labeler_id` restricts the count to the tag sets of one labeler. Each tag set also stores the
    number of rejections of earlier tag sets, so the result is the maximum over all tag sets.
    """
    rejections = TagSet.rejections + TagSet.earlier_rejections
    statement = select(func.coalesce(func.max(rejections), 0)).where(
        TagSet.artifact_id == artifact_id, TagSet.schema_id == schema_id
    )
    if labeler_id is not None:
        statement = statement.where(TagSet.labeler_id == labeler_id)
    return int(db.session().execute(statement).scalar_one())


class TagSetToSave(NamedTuple):
    """A tag set that is locked for a save, in any status, with columns of its artifact."""

    id: UUID
    artifact_id: UUID
    schema_id: UUID
    schema_version_id: UUID
    labeler_id: UUID | None
    reviewer_id: UUID | None
    labeler: dict[str, Any] | None
    reviewer: dict[str, Any] | None
    source: str
    status: str
    submitted_at: datetime | None
    decided_at: datetime | None
    reason: str | None
    rejections: int
    seconds_spent: int
    comment_count: int
    created_at: datetime
    revision: int
    prediction: dict[str, Any] | None
    text_length: int
    page_count: int | None
    artifact_updated_at: datetime


class SavedColumns(NamedTuple):
    """The new values of the columns that a save changes, except the tags."""

    revision: int
    tag_count: int
    seconds_spent: int
    updated_at: datetime


# One statement is enough for one artifact. With a separate statement for the artifact, as in
# `locking.lock`, the median save took 10 % longer.
_LOCK = Prepared.from_select(
    "lock_draft",
    add_row_locks(
        select_tag_sets(
            TagSetToSave._fields,
            text_length=Artifact.text_length,
            page_count=Artifact.page_count,
            artifact_updated_at=Artifact.updated_at,
        ).join(Artifact, build_join(TagSet.artifact_id, Artifact)),
        TagSet.organization_id == bindparam("organization_id"),
        TagSet.id == bindparam("tag_set_id"),
    ),
    organization_id="uuid",
    tag_set_id="uuid",
)
_LOCK.build_row = TagSetToSave._make

_CLAIMABLE = "(claim_user_id IS NULL OR claim_user_id = $7 OR claim_expires_at <= now())"
# A draft reserves its artifact for its labeler as soon as it has tags.
_STARTS_RESERVATION = "($3 <> '[]' AND $7 <> ALL (reserved_for))"
# A draft reserves nothing if its labeler can no longer label, or has skipped the artifact after the
# draft was created or returned. `queries.statuses` has the same conditions. If the author of the
# save is the labeler, the request has already checked that the author may label.
_KEEPS_ARTIFACT = f"""
              ($5 = $7 OR EXISTS (
                  SELECT FROM {build_eligible_members(Role.labeler)}
                  WHERE member.organization_id = $1 AND member.user_id = $7))
              AND NOT EXISTS (
                  SELECT FROM artifact_skips
                  WHERE organization_id = $1 AND artifact_id = $6 AND user_id = $7
                    AND created_at > $10)"""  # noqa: S608 - made of constants
_SAVE = Prepared(
    "save_draft",
    "uuid, uuid, jsonb, int, uuid, uuid, uuid, int, int, timestamptz",
    f"""
    WITH saved AS (
        UPDATE tag_sets SET tags = $3, seconds_spent = COALESCE($4, seconds_spent),
                            revision = revision + 1, updated_at = now(),
                            reserved_until = CASE WHEN $3 = '[]' THEN reserved_until
                                             ELSE now() + make_interval(hours => $9, mins => $8) END
        WHERE organization_id = $1 AND id = $2
        RETURNING revision, tags, tag_count, tags_bytes, seconds_spent, updated_at
    ), recorded AS (
        INSERT INTO tag_set_revisions
            (organization_id, tag_set_id, number, tags, author_id, kind, tag_count, tags_bytes,
             created_at)
        SELECT $1, $2, revision, tags, $5, 'save', tag_count, tags_bytes, updated_at FROM saved
    ), claimed AS (
        UPDATE artifacts SET
            claim_user_id = CASE WHEN {_CLAIMABLE} THEN $7 ELSE claim_user_id END,
            claim_expires_at = CASE WHEN {_CLAIMABLE} THEN now() + make_interval(mins => $8)
                               ELSE claim_expires_at END,
            reserved_for = CASE WHEN {_STARTS_RESERVATION} THEN array_append(reserved_for, $7)
                           ELSE reserved_for END
        WHERE organization_id = $1 AND id = $6 AND $7 IS NOT NULL AND NOT archived
          AND ({_CLAIMABLE} OR {_STARTS_RESERVATION})
          AND {_KEEPS_ARTIFACT}
    )
    SELECT revision, tag_count, seconds_spent, updated_at FROM saved
    """,  # noqa: S608 - made of constants
)
_GET_TAGS = Prepared(
    "get_draft_tags",
    "uuid, uuid",
    "SELECT tags FROM tag_sets WHERE organization_id = $1 AND id = $2",
)


def lock(tag_set_id: UUID) -> TagSetToSave | None:
    """Lock a tag set and its artifact, and return the tag set, or None if it does not exist."""
    organization_id = str(tenancy.current_organization_id())
    tag_set: TagSetToSave | None = _LOCK.first(organization_id, str(tag_set_id))
    return tag_set


def get_tags(tag_set_id: UUID) -> list[dict[str, Any]]:
    """Return the stored tags of a tag set, or an empty list if the tag set does not exist."""
    row = _GET_TAGS.first(str(tenancy.current_organization_id()), str(tag_set_id))
    return list(row[0]) if row is not None else []


def save(
    draft: TagSetToSave,
    tags: list[dict[str, Any]],
    *,
    author_id: UUID,
    seconds_spent: int | None,
    claim_minutes: int,
    draft_hours: int,
) -> SavedColumns:
    """Save the tags, record a revision, and renew the claim of the draft's labeler.

    A claim by another user is not changed. A draft with tags reserves its artifact until
    `draft_hours` hours after the claim expires. A labeler who can no longer label, or who has
    skipped the artifact since the draft was created or returned, gets no claim and no reservation.
    """
    row = _SAVE.first(
        str(tenancy.current_organization_id()),
        str(draft.id),
        orjson.dumps(tags).decode(),
        seconds_spent,
        str(author_id),
        str(draft.artifact_id),
        str(draft.labeler_id) if draft.labeler_id else None,
        claim_minutes,
        draft_hours,
        max(draft.created_at, draft.decided_at or draft.created_at),
    )
    assert row is not None, "the draft is locked"
    return SavedColumns(*row)


_CLAIM_ARTIFACTS = text(
    """
    UPDATE artifacts
    SET claim_user_id = assignee.user_id, claim_expires_at = now() + make_interval(mins => :minutes)
    FROM unnest(CAST(:artifact_ids AS uuid[]), CAST(:user_ids AS uuid[])) AS assignee (id, user_id)
    WHERE organization_id = :org AND artifacts.id = assignee.id AND NOT archived
      AND (claim_user_id IS NULL OR claim_user_id = assignee.user_id OR claim_expires_at <= now())
    """
)


def claim_artifacts(labeler_ids: Mapping[UUID, UUID], *, minutes: int) -> None:
    """Claim artifacts for labelers, except artifacts that are archived or claimed by another user.

    `labeler_ids` maps artifact ids to user ids.
    """
    values = {
        "org": tenancy.current_organization_id(),
        "artifact_ids": list(map(str, labeler_ids)),
        "user_ids": list(map(str, labeler_ids.values())),
        "minutes": minutes,
    }
    db.session().execute(_CLAIM_ARTIFACTS, values)


def release_claim(artifact_id: UUID, user_id: UUID | None) -> None:
    """Release a user's claim on an artifact, if there is one. Does nothing if `user_id` is None."""
    db.execute_bulk(
        update(Artifact)
        .where(Artifact.id == artifact_id, Artifact.claim_user_id == user_id)
        .values(claim_user_id=null(), claim_expires_at=null(), updated_at=Artifact.updated_at)
    )
