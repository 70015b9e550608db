"""SQL queries for bulk decisions.

The number of statements does not depend on the number of tag sets.
"""

from collections.abc import Collection, Iterable
from typing import NamedTuple
from uuid import UUID

from sqlalchemy import text

from app.kit import db, tenancy
from app.workflow.tag_sets.queries.locking import LockedReview

_LIST_SIBLINGS = text(
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


class ArtifactTagSet(NamedTuple):
    """A draft, submitted or accepted tag set, with the id of its artifact."""

    id: UUID
    artifact_id: UUID
    labeler_id: UUID | None
    status: str
    source: str


def list_siblings(tag_sets: Collection[LockedReview]) -> list[ArtifactTagSet]:
    """Return the other tag sets of the same artifacts, except rejected tag sets, ordered by id."""
    values = {
        "org": tenancy.current_organization_id(),
        "artifact_ids": _format_ids({row.artifact_id for row in tag_sets}),
        "excluded_ids": _format_ids(row.id for row in tag_sets),
    }
    return [ArtifactTagSet._make(row) for row in db.session().execute(_LIST_SIBLINGS, values)]
