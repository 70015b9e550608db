"""SQL of the tag sets that block a change of an artifact or a schema."""

from uuid import UUID

from sqlalchemy import func, select, text

from app.kit import db, tenancy
from app.workflow.tag_sets.models import TagSet

MAX_LISTED = 100
"""How many blocking tag sets an error names at most."""

_BLOCKING = text(
    """
    SELECT id FROM tag_sets
    WHERE organization_id = :org AND artifact_id = :artifact_id
      AND (:all_statuses OR status <> 'rejected' AND schema_id IS DISTINCT FROM :but)
    ORDER BY created_at, id LIMIT :most
    """
)


def list_blocking(
    artifact_id: UUID, *, of_other_schema_than: UUID | None = None, all_statuses: bool
) -> list[UUID]:
    """Return the oldest MAX_LISTED tag sets of an artifact that block a change.

    With `all_statuses` every tag set blocks; otherwise those that were not rejected and belong to
    another schema than `of_other_schema_than`.
    """
    values = {
        "org": tenancy.current_organization_id(),
        "artifact_id": artifact_id,
        "all_statuses": all_statuses,
        "but": of_other_schema_than,
        "most": MAX_LISTED,
    }
    return list(db.session().scalars(_BLOCKING, values))


def count_of_schema(schema_id: UUID) -> int:
    """Return how many tag sets of all statuses were created with a schema."""
    statement = select(func.count()).select_from(TagSet).where(TagSet.schema_id == schema_id)
    return db.session().scalars(statement).one()
