"""SQL queries that save a draft in two statements. Saves are the most frequent writes.

Both statements are prepared on each connection, because planning takes longer than execution.
"""

from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

import orjson

from app.identity.members.eligibility import build_eligible_members
from app.kit import tenancy
from app.kit.permissions import Role
from app.kit.prepared import Prepared

# The artifact is locked first, as in every change of an artifact and its tag sets.
_LOCK = Prepared(
    "lock_draft",
    "uuid, uuid",
    """
    SELECT t.id, t.artifact_id, t.schema_id, t.schema_version_id, t.labeler_id, t.reviewer_id,
           CASE WHEN l.id IS NOT NULL THEN
               jsonb_build_object('id', l.id, 'email', l.email, 'name', l.name) END AS labeler,
           CASE WHEN r.id IS NOT NULL THEN
               jsonb_build_object('id', r.id, 'email', r.email, 'name', r.name) END AS reviewer,
           t.source, t.status, t.submitted_at, t.decided_at, t.reason,
           t.rejections + t.earlier_rejections AS rejections,
           t.seconds_spent, t.comment_count, t.created_at, t.revision,
           CASE WHEN t.prediction_id IS NOT NULL THEN jsonb_build_object(
               'id', t.prediction_id, 'model_version', t.prediction_model_version)
           END AS prediction,
           a.text_length, a.page_count,
           a.updated_at AS artifact_updated_at
    FROM tag_sets t
    JOIN artifacts a ON a.organization_id = t.organization_id AND a.id = t.artifact_id
    LEFT JOIN users l ON l.id = t.labeler_id
    LEFT JOIN users r ON r.id = t.reviewer_id
    WHERE t.organization_id = $1 AND t.id = $2
    FOR NO KEY UPDATE OF a, t
    """,
)
_CLAIMABLE = "(claim_user_id IS NULL OR claim_user_id = $7 OR claim_expires_at <= now())"
# A draft reserves its artifact for its labeler as soon as it has tags.
_STARTS_RESERVATION = "($3 <> '[]' AND $7 <> ALL (reserved_for))"
# A draft reserves nothing if its labeler may no longer label, or has skipped the artifact after the
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


class Draft(NamedTuple):
    """A tag set of any status that is locked for a save, with columns of its artifact."""

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


def lock(tag_set_id: UUID) -> Draft | None:
    """Lock a tag set and its artifact, and return the tag set, or None if it does not exist."""
    row = _LOCK.first(str(tenancy.current_organization_id()), str(tag_set_id))
    return Draft(*row) if row is not None else None


def get_tags(tag_set_id: UUID) -> list[dict[str, Any]]:
    """Return the stored tags of a tag set, or an empty list if the tag set does not exist."""
    row = _GET_TAGS.first(str(tenancy.current_organization_id()), str(tag_set_id))
    return list(row[0]) if row is not None else []


def save(
    draft: Draft,
    tags: list[dict[str, Any]],
    *,
    author_id: UUID,
    seconds_spent: int | None,
    claim_minutes: int,
    draft_hours: int,
) -> SavedColumns:
    """Save the tags, record a revision, and renew the claim of the draft's labeler.

    A claim by another user is not changed. A draft with tags reserves its artifact until
    `draft_hours` after the claim expires. A labeler who may no longer label, or who has skipped the
    artifact since the draft was created or returned, gets no claim and no reservation.
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
