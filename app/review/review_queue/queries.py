"""SQL of the review queue."""

from typing import Any

from sqlalchemy import ColumnElement, and_, case, func, select

from app.kit.pagination import Page, PageRequest, paginate
from app.labeling.artifact_schemas.models import ArtifactSchema
from app.labeling.artifacts.models import Artifact
from app.labeling.tag_sets.models import TagSet

_SORTS = {"review_rank": TagSet.review_rank, "created_at": TagSet.created_at}
_ITEMS = (
    select(
        TagSet.id,
        TagSet.artifact_id,
        Artifact.name.label("artifact_name"),
        TagSet.schema_id,
        ArtifactSchema.name.label("schema_name"),
        TagSet.submitted_at,
        TagSet.review_rank,
        Artifact.priority,
        Artifact.due_at,
        case((TagSet.claim_expires_at > func.now(), TagSet.claim_user_id)).label("claimed_by"),
        TagSet.claim_expires_at,
        TagSet.assignee_id,
        TagSet.escalated,
        TagSet.flags,
        TagSet.created_at,
        TagSet.updated_at,
    )
    .join(
        Artifact,
        and_(Artifact.organization_id == TagSet.organization_id, Artifact.id == TagSet.artifact_id),
    )
    .join(
        ArtifactSchema,
        and_(
            ArtifactSchema.organization_id == TagSet.organization_id,
            ArtifactSchema.id == TagSet.schema_id,
        ),
    )
)


def page(request: PageRequest, *, filters: dict[str, Any]) -> Page:
    """A page of what waits for review."""
    conditions = [TagSet.status == "submitted", *_conditions(filters)]
    return paginate(
        _ITEMS.where(*conditions),
        request,
        sorts=_SORTS,
        unique=TagSet.id,
        count=select(TagSet.id).where(*conditions),
    )


def _conditions(filters: dict[str, Any]) -> list[ColumnElement[bool]]:
    found: list[ColumnElement[bool]] = []
    for name, value in filters.items():
        if name == "created_after":
            found.append(TagSet.created_at > value)
        elif name == "created_before":
            found.append(TagSet.created_at < value)
        elif name == "flag":
            found.append(TagSet.flags.contains([value]))
        else:
            found.append(getattr(TagSet, name) == value)
    return found
