"""SQL queries that read review items, and conditions for the list of review items."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import ColumnElement, and_, bindparam, func, or_, select

from app.documents.artifacts.models.documents import Artifact
from app.identity.teams.models import TeamMember
from app.kit import bulk, db, tenancy
from app.kit.id_conditions import build_id_condition
from app.kit.periods import build_filter_conditions
from app.kit.prepared import Prepared
from app.kit.tenancy import build_join
from app.schemas.artifact_schemas.models import ArtifactSchema
from app.workflow.review_queue.queries.items import CLAIMABLE_ITEMS
from app.workflow.tag_sets.models import TagSet
from app.workflow.tag_sets.queries.locking import CLAIMED_BY
from app.workflow.tag_sets.transitions import TagSetStatus

_RANK: ColumnElement[int] = TagSet.review_rank.expression


class ItemRow(NamedTuple):
    """An item with its artifact; `claimed_by` is the user with an unexpired claim, or None."""

    id: UUID
    artifact_id: UUID
    artifact_name: str
    schema_id: UUID
    schema_name: str
    submitted_at: datetime
    review_rank: int
    priority: int
    due_at: datetime | None
    claimed_by: UUID | None
    claim_expires_at: datetime | None
    assignee_id: UUID | None
    assignee_team_id: UUID | None
    escalated: bool
    escalated_by: UUID | None
    escalated_at: datetime | None
    escalation_reason: str | None
    flags: list[str]
    created_at: datetime
    updated_at: datetime


SELECT_ITEMS = (
    select(
        *db.build_columns(
            ItemRow._fields,
            TagSet,
            artifact_name=Artifact.name,
            schema_name=ArtifactSchema.name,
            priority=Artifact.priority,
            due_at=func.coalesce(TagSet.review_due_at, Artifact.due_at),
            claimed_by=CLAIMED_BY,
        )
    )
    .join(Artifact, build_join(TagSet.artifact_id, Artifact))
    .join(ArtifactSchema, build_join(TagSet.schema_id, ArtifactSchema))
)

# Prepared because every request for the next item runs this query.
_GET_ITEM = Prepared.from_select(
    "show_review_item",
    SELECT_ITEMS.where(
        TagSet.organization_id == bindparam("organization_id"),
        TagSet.id == bindparam("item_id"),
        TagSet.status == TagSetStatus.SUBMITTED,
    ),
    organization_id="uuid",
    item_id="uuid",
)
_GET_ITEM.build_row = ItemRow._make


def find(item_id: UUID) -> ItemRow | None:
    """Return an item, or None if it does not exist or is not pending."""
    row: ItemRow | None = _GET_ITEM.first(str(tenancy.current_organization_id()), str(item_id))
    return row


def is_pending(item_id: UUID) -> bool:
    """Return whether a tag set exists and is pending review."""
    statement = select(TagSet.id).where(
        TagSet.id == item_id, TagSet.status == TagSetStatus.SUBMITTED
    )
    return db.session().execute(statement).first() is not None


def find_item_ids(
    filters: dict[str, Any], *, user_id: UUID, expected: int | None
) -> bulk.MatchedIds:
    """Return the ids of all items that match `filters`, most urgent first.

    The filter `mine` applies to the user `user_id`. Raises 409 `conflict` with `details.count` if
    the number of items differs from `expected`.
    """
    statement = select(TagSet.id).where(build_listed_condition(filters, user_id))
    return bulk.find_ids(statement, _RANK, expected_count=expected)


def list_unmatched_ids(
    item_ids: Sequence[UUID], filters: dict[str, Any], *, user_id: UUID
) -> list[UUID]:
    """Return the ids of the existing tag sets among `item_ids` that do not match `filters`.

    The filter `mine` applies to the user `user_id`.
    """
    condition = build_listed_condition(filters, user_id)
    statement = select(TagSet.id).where(
        build_id_condition(TagSet.id, item_ids), condition.is_not(True)
    )
    return list(db.session().scalars(statement))


IS_LISTED = and_(TagSet.status == TagSetStatus.SUBMITTED, ~TagSet.artifact_archived)
IS_CLAIMED = CLAIMABLE_ITEMS.is_claimed


def build_listed_condition(filters: dict[str, Any], user_id: UUID) -> ColumnElement[bool]:
    """Build the condition that a tag set is in the queue and matches `filters`.

    The filter `mine` applies to the user `user_id`.
    """
    conditions: list[ColumnElement[bool]] = [IS_LISTED]
    column_filters = {}
    for name, value in filters.items():
        if name == "flag":
            conditions.append(TagSet.flags.contains([value]))
        elif name == "claimed":
            conditions.append(_negate_unless(IS_CLAIMED, value=value))
        elif name == "mine":
            conditions.append(_negate_unless(build_mine_condition(user_id), value=value))
        else:
            column_filters["assignee_team_id" if name == "team_id" else name] = value
    return and_(*conditions, *build_filter_conditions(TagSet, column_filters))


def _negate_unless(condition: ColumnElement[bool], *, value: bool) -> ColumnElement[bool]:
    # A comparison with null is neither true nor false. Filters treat the result as false.
    return condition if value else condition.is_not(True)


def build_mine_condition(user_id: UUID) -> ColumnElement[bool]:
    """Build the condition that a user or one of the user's teams is responsible for an item.

    The item is claimed by the user, assigned to the user, or assigned to one of the teams.
    """
    teams = select(TeamMember.team_id).where(TeamMember.user_id == user_id)
    return or_(
        and_(IS_CLAIMED, TagSet.claim_user_id == user_id),
        TagSet.assignee_id == user_id,
        TagSet.assignee_team_id.in_(teams),
    )
