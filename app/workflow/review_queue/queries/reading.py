"""SQL of reading the review queue."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from sqlalchemy import (
    ARRAY,
    ColumnElement,
    Uuid,
    and_,
    bindparam,
    case,
    cast,
    func,
    or_,
    select,
)

from app.documents.artifacts.models import Artifact
from app.identity.teams.models import TeamMember
from app.kit import bulk, db, tenancy
from app.kit.prepared import Prepared
from app.schemas.artifact_schemas.models import ArtifactSchema
from app.workflow.tag_sets.models import TagSet

_RANK: ColumnElement[int] = TagSet.review_rank.expression
_OF_DOCUMENT = and_(
    Artifact.organization_id == TagSet.organization_id, Artifact.id == TagSet.artifact_id
)
ITEMS = (
    select(
        TagSet.id,
        TagSet.artifact_id,
        Artifact.name.label("artifact_name"),
        TagSet.schema_id,
        ArtifactSchema.name.label("schema_name"),
        TagSet.submitted_at,
        TagSet.review_rank,
        Artifact.priority,
        func.coalesce(TagSet.review_due_at, Artifact.due_at).label("due_at"),
        case((TagSet.claim_expires_at > func.now(), TagSet.claim_user_id)).label("claimed_by"),
        TagSet.claim_expires_at,
        TagSet.assignee_id,
        TagSet.assignee_team_id,
        TagSet.escalated,
        TagSet.escalated_by,
        TagSet.escalated_at,
        TagSet.escalation_reason,
        TagSet.flags,
        TagSet.created_at,
        TagSet.updated_at,
    )
    .join(Artifact, _OF_DOCUMENT)
    .join(
        ArtifactSchema,
        and_(
            ArtifactSchema.organization_id == TagSet.organization_id,
            ArtifactSchema.id == TagSet.schema_id,
        ),
    )
)


# Every draw shows one.
_SHOWN = Prepared.of(
    "show_review_item",
    ITEMS.where(
        TagSet.organization_id == bindparam("organization_id"),
        TagSet.id == bindparam("item_id"),
        TagSet.status == "submitted",
    ),
    organization_id="uuid",
    item_id="uuid",
)


def shown(item_id: UUID) -> Any:
    """One item that waits for review: a named tuple of what it shows; None when there is none."""
    return _SHOWN.first(str(tenancy.current_organization_id()), str(item_id))


def waits(item_id: UUID) -> bool:
    """Whether there is such an item now."""
    statement = select(TagSet.id).where(TagSet.id == item_id, TagSet.status == "submitted")
    return db.session().execute(statement).first() is not None


def prediction(artifact_id: UUID) -> UUID | None:
    """The latest label set of a document that a model made."""
    statement = (
        select(TagSet.id)
        .where(TagSet.artifact_id == artifact_id, TagSet.source == "model")
        .order_by(TagSet.created_at.desc(), TagSet.id.desc())
        .limit(1)
    )
    return db.session().execute(statement).scalar_one_or_none()


def find(filters: dict[str, Any], *, user_id: UUID, expected: int | None) -> bulk.Found:
    """All that `page` shows on its pages, the most urgent first.

    Raises 409 `conflict` with `details.count` when that is another number than expected.
    """
    chosen = select(TagSet.id).where(is_listed(filters, user_id))
    return bulk.find(chosen, _RANK, expected=expected)


def still(item_ids: Sequence[UUID], filters: dict[str, Any], *, user_id: UUID) -> dict[UUID, bool]:
    """Of those of the label sets that there are: whether `page` shows it."""
    shown = is_listed(filters, user_id)
    # One value, not a thousand of them: neither SQLAlchemy nor PostgreSQL reads so long a list.
    named = TagSet.id == func.any(cast(list(item_ids), ARRAY(Uuid)))
    statement = select(TagSet.id, shown.is_(True).label("shown")).where(named)
    return {row.id: row.shown for row in db.session().execute(statement)}


CLAIMED = and_(TagSet.claim_user_id.is_not(None), TagSet.claim_expires_at > func.now())


def is_listed(filters: dict[str, Any], user_id: UUID) -> ColumnElement[bool]:
    """Return whether a label set is in the queue, and `filters` find it."""
    found: list[ColumnElement[bool]] = [
        TagSet.status == "submitted",
        ~TagSet.artifact_archived,
    ]
    for name, value in filters.items():
        if name == "created_after":
            found.append(TagSet.created_at >= value)
        elif name == "created_before":
            found.append(TagSet.created_at < value)
        elif name == "flag":
            found.append(TagSet.flags.contains([value]))
        elif name == "team_id":
            found.append(TagSet.assignee_team_id == value)
        elif name == "claimed":
            found.append(_is(CLAIMED, wanted=value))
        elif name == "mine":
            found.append(_is(mine(user_id), wanted=value))
        else:
            found.append(getattr(TagSet, name) == value)
    return and_(*found)


def _is(condition: ColumnElement[bool], *, wanted: bool) -> ColumnElement[bool]:
    # A comparison with null is neither; that counts as no.
    return condition if wanted else condition.is_not(True)


def mine(user_id: UUID) -> ColumnElement[bool]:
    """Return whether somebody has claimed an item, or it is assigned to them or their team."""
    teams = select(TeamMember.team_id).where(TeamMember.user_id == user_id)
    return or_(
        and_(CLAIMED, TagSet.claim_user_id == user_id),
        TagSet.assignee_id == user_id,
        TagSet.assignee_team_id.in_(teams),
    )
