"""SQL queries for bulk decisions, and for releasing all tag sets that a reviewer has claimed.

The number of statements does not depend on the number of tag sets.
"""

from collections.abc import Collection, Iterable
from typing import NamedTuple
from uuid import UUID

from sqlalchemy import text

from app.identity.members.eligibility import build_eligible_members
from app.kit import db, tenancy
from app.kit.permissions import Role
from app.workflow.tag_sets.queries.locking import LockedReview

_SIBLINGS = text(
    """
    SELECT id, artifact_id, labeler_id, status, source FROM tag_sets
    WHERE organization_id = :org AND artifact_id = ANY (CAST(:artifact_ids AS uuid[]))
      AND status IN ('draft', 'submitted', 'accepted')
      AND id <> ALL (CAST(:excluded_ids AS uuid[]))
    ORDER BY id
    """
)
_RELEASE_REVIEWS = text(
    f"""
    WITH claimed AS MATERIALIZED (
        SELECT id FROM tag_sets
        WHERE organization_id = :org AND claim_user_id = :user_id AND status = 'submitted'
          AND NOT EXISTS (SELECT FROM {build_eligible_members(Role.reviewer)}
              WHERE member.organization_id = :org AND member.user_id = :user_id)
        ORDER BY id FOR NO KEY UPDATE
    )
    UPDATE tag_sets SET claim_user_id = NULL, claim_expires_at = NULL
    FROM claimed WHERE organization_id = :org AND tag_sets.id = claimed.id
    """  # noqa: S608 - made of constants
)


def _format_ids(ids: Iterable[UUID]) -> list[str]:
    return [str(id_) for id_ in ids]


class ArtifactTagSet(NamedTuple):
    """A draft, submitted or accepted tag set, with the id of its artifact."""

    id: UUID
    artifact_id: UUID
    labeler_id: UUID | None
    status: str
    source: str


def list_siblings(tag_sets: Collection[LockedReview]) -> list[ArtifactTagSet]:
    """Return the unrejected tag sets of the same artifacts that are not in `tag_sets`, by id."""
    values = {
        "org": tenancy.current_organization_id(),
        "artifact_ids": _format_ids({row.artifact_id for row in tag_sets}),
        "excluded_ids": _format_ids(row.id for row in tag_sets),
    }
    return [ArtifactTagSet._make(row) for row in db.session().execute(_SIBLINGS, values)]


def release_reviews(user_id: UUID) -> None:
    """End all claims of a user on tag sets that are pending review, unless the user may review."""
    values = {"org": tenancy.current_organization_id(), "user_id": user_id}
    db.session().execute(_RELEASE_REVIEWS, values)
