"""SQL queries that lock, claim, release and escalate review items.

They do not edit the tag set, so its revision and its `updated_at` do not change.
"""

from typing import Any
from uuid import UUID

from sqlalchemy import ARRAY, Row, Uuid, case, func, literal_column, select, text, update

from app.kit import db
from app.workflow.tag_sets.models import MAKERS, TagSet
from app.workflow.tag_sets.transitions import TagSetStatus

_DIRECT = {"synchronize_session": False}
_BATCH = 1000

_LOCKED = (
    select(
        TagSet.id,
        TagSet.labeler_id,
        literal_column(MAKERS.format(of="tag_sets."), ARRAY(Uuid)).label("makers"),
        case((TagSet.claim_expires_at > func.now(), TagSet.claim_user_id)).label("claimed_by"),
        TagSet.claim_expires_at,
        TagSet.assignee_id,
        TagSet.assignee_team_id,
        TagSet.escalated,
    )
    .where(TagSet.status == TagSetStatus.SUBMITTED)
    .with_for_update(key_share=True)
)


def lock(item_id: UUID) -> Row[Any] | None:
    """Lock a pending item and return it, or None if it does not exist or is not pending."""
    return db.session().execute(_LOCKED.where(TagSet.id == item_id)).one_or_none()


def claim(item_id: UUID, user_id: UUID, *, minutes: int) -> None:
    """Claim a locked item for a reviewer for `minutes`."""
    until = func.now() + func.make_interval(0, 0, 0, 0, 0, minutes)
    _change(item_id, claim_user_id=user_id, claim_expires_at=until)


def release(item_id: UUID) -> None:
    """End the claim on a locked item."""
    _change(item_id, claim_user_id=None, claim_expires_at=None)


def escalate(
    item_id: UUID, *, by: UUID, reason: str, user_id: UUID | None, team_id: UUID | None
) -> None:
    """Assign a locked item to a user or team as an escalation, and end its claim."""
    _change(
        item_id,
        assignee_id=user_id,
        assignee_team_id=team_id,
        escalated=True,
        escalated_by=by,
        escalated_at=func.now(),
        escalation_reason=reason,
        claim_user_id=None,
        claim_expires_at=None,
    )


def _change(item_id: UUID, **values: Any) -> None:
    db.session().execute(
        update(TagSet)
        .where(TagSet.id == item_id)
        .values(**values, updated_at=TagSet.updated_at)
        .execution_options(**_DIRECT)
    )


# Locked rows are skipped until the next run, so that the cleanup never blocks.
_EXPIRE = text(
    """
    WITH expired AS (
        SELECT organization_id, id FROM tag_sets
        WHERE claim_user_id IS NOT NULL AND claim_expires_at <= now()
        LIMIT :batch FOR NO KEY UPDATE SKIP LOCKED
    )
    UPDATE tag_sets SET claim_user_id = NULL, claim_expires_at = NULL
    FROM expired
    WHERE tag_sets.organization_id = expired.organization_id AND tag_sets.id = expired.id
    """
)


def expire() -> int:
    """End at most 1,000 expired claims across all organizations and return the number ended."""
    return int(db.session().execute(_EXPIRE, {"batch": _BATCH}).rowcount)  # type: ignore[attr-defined]
