"""SQL queries for decisions on many tag sets, with a fixed number of statements."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import text

from app.kit import db, tenancy
from app.workflow.tag_sets.models import MAKERS, REQUIRED_LABELS

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


def _to_strings(ids: Iterable[UUID]) -> list[str]:
    return [str(id_) for id_ in ids]


class LockedReview(NamedTuple):
    """A locked tag set without its tags, with its schema version's review policy (`_LOCK`)."""

    id: UUID
    artifact_id: UUID
    schema_id: UUID
    schema_version_id: UUID
    labeler_id: UUID | None
    makers: list[UUID]
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


class Sibling(NamedTuple):
    """A tag set of the same artifact."""

    id: UUID
    artifact_id: UUID
    labeler_id: UUID | None
    status: str
    source: str


def lock(tag_set_ids: Sequence[UUID]) -> list[LockedReview]:
    """Lock tag sets and their artifacts, and return the tag sets that exist."""
    values = {"org": tenancy.current_organization_id(), "ids": _to_strings(tag_set_ids)}
    db.session().execute(_LOCK_DOCUMENTS, values)
    return [LockedReview._make(row) for row in db.session().execute(_LOCK, values)]


def list_siblings(artifact_ids: Iterable[UUID]) -> list[Sibling]:
    """Return the tag sets of artifacts, except rejected tag sets."""
    values = {"org": tenancy.current_organization_id(), "artifact_ids": _to_strings(artifact_ids)}
    return [Sibling._make(row) for row in db.session().execute(_SIBLINGS, values)]
