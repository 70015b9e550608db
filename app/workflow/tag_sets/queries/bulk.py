"""SQL queries for bulk decisions.

The number of statements does not depend on the number of tag sets.
"""

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import text

from app.kit import db, tenancy
from app.workflow.tag_sets.models import CONTRIBUTORS, REQUIRED_LABELS

# Artifacts are locked before tag sets, each in the order of their ids, to avoid deadlocks.
_LOCK_ARTIFACTS = text(
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
           {CONTRIBUTORS.format(of="item.")} AS contributor_ids,
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
      AND id <> ALL (CAST(:excluded_ids AS uuid[]))
    ORDER BY id
    """
)


def _format_ids(ids: Iterable[UUID]) -> list[str]:
    return [str(id_) for id_ in ids]


class LockedReview(NamedTuple):
    """A locked tag set without its tags, but with the review policy of its schema version."""

    id: UUID
    artifact_id: UUID
    schema_id: UUID
    schema_version_id: UUID
    labeler_id: UUID | None
    contributor_ids: list[UUID]
    required_labels: int
    status: str
    source: str
    rejections: int
    earlier_rejections: int
    revision: int
    claimed_by: UUID | None
    claim_expires_at: datetime | None
    assignee_id: UUID | None
    assignee_team_id: UUID | None
    review_policy: dict[str, Any]


class ArtifactTagSet(NamedTuple):
    """A draft, submitted or accepted tag set, with the id of its artifact."""

    id: UUID
    artifact_id: UUID
    labeler_id: UUID | None
    status: str
    source: str


def lock(tag_set_ids: Sequence[UUID]) -> list[LockedReview]:
    """Lock tag sets and their artifacts, and return the tag sets that exist."""
    values = {"org": tenancy.current_organization_id(), "ids": _format_ids(tag_set_ids)}
    db.session().execute(_LOCK_ARTIFACTS, values)
    return [LockedReview._make(row) for row in db.session().execute(_LOCK, values)]


def list_siblings(tag_sets: Collection[LockedReview]) -> list[ArtifactTagSet]:
    """Return the unrejected tag sets of the same artifacts that are not in `tag_sets`, by id."""
    values = {
        "org": tenancy.current_organization_id(),
        "artifact_ids": _format_ids({row.artifact_id for row in tag_sets}),
        "excluded_ids": _format_ids(row.id for row in tag_sets),
    }
    return [ArtifactTagSet._make(row) for row in db.session().execute(_SIBLINGS, values)]
