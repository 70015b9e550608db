"""List, read, claim and release review items."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any
from uuid import UUID

from app.documents.artifacts.service import reading as artifacts
from app.identity.organizations import service as organizations
from app.kit import db, errors
from app.kit.pagination import Page, PageRequest
from app.kit.permissions import Role
from app.kit.principal import Caller
from app.workflow.review_queue.queries import items, listing, next_item, reading
from app.workflow.review_queue.queries.items import LockedItem
from app.workflow.tag_sets.queries import reading as tag_sets
from app.workflow.tag_sets.service import rules
from app.workflow.tag_sets.service.ports import PredictedTags
from app.workflow.tag_sets.service.reading import find_latest_prediction


def claim_next(
    *,
    caller: Caller,
    schema_id: UUID | None = None,
    flags: Sequence[str] | None = None,
    exclude: Sequence[UUID] = (),
    skip_held: bool = False,
) -> dict[str, Any] | None:
    """Claim the next item for the caller and return it, or None if no item matches.

    Unless `skip_held` is set, items that the caller has already claimed come first, because a
    response may have been lost. Then come items assigned to the caller, items assigned to the
    caller's teams, and unassigned items. In each group, the most urgent item comes first. Only
    reviewers whose teams have the required skills, and admins, get unassigned items that require
    skills. If `schema_id` is set, the item must have this schema. If `flags` is set, the item must
    have one of the flags. Items in `exclude` are omitted.
    """
    item_id = next_item.claim_next(
        caller.user_id,
        minutes=organizations.get_claim_minutes(caller.org.settings),
        allows_self_review=organizations.allows_self_review(caller.org.settings),
        ignores_skills=caller.has_role(Role.admin),
        schema_id=schema_id,
        flags=flags,
        exclude=exclude,
        skip_held=skip_held,
    )
    return None if item_id is None else get_item(item_id)


def claim(item_id: UUID, *, caller: Caller) -> dict[str, Any]:
    """Claim an item or renew the caller's claim. Admins may take over another user's claim.

    Raises 404; 403 for the caller's own tag set. Unless the caller is an admin, raises 409
    `conflict` with `details.claim` if another reviewer has claimed the item, or with
    `details.assignee_id` or `details.assignee_team_id` if it is assigned to another user or team.
    """
    item = lock(item_id)
    rules.check_review(caller, item, take_over=True)
    minutes = organizations.get_claim_minutes(caller.org.settings)
    items.claim(item_id, caller.user_id, minutes=minutes)
    return get_item(item_id)


def release(item_id: UUID, *, caller: Caller) -> dict[str, Any]:
    """Release an item: end the claim on it. Admins may end the claim of any user.

    Raises 404; 409 `conflict` if nobody has claimed the item; 403 if another user has claimed it.
    """
    user_id = None if caller.has_role(Role.admin) else caller.user_id
    claimed_by = items.CLAIMABLE_ITEMS.release(item_id, user_id)
    item = get_item(item_id)
    if claimed_by is None and item["claim"] is None:
        raise errors.conflict("Nobody has claimed the item.")
    if claimed_by is None:
        raise errors.denied("Another reviewer has claimed the item.")
    return item


def lock(item_id: UUID, revision: int | None = None) -> LockedItem:
    """Lock an item until the transaction ends and return it.

    Raises 404 if the item does not exist, and 409 `stale_precondition` if `revision` is not None
    and is not the tag set's current revision.
    """
    for item in items.lock([item_id]):
        errors.check_revision(revision, item.revision)
        return item
    raise errors.not_found()


def list_items(*, caller: Caller, page: PageRequest, **filters: object) -> Page:
    """Return a page of review items, ordered by urgency or by creation time.

    `filters` accepts schema_id, assignee_id, team_id, labeler_id, claimed, mine, escalated, flag,
    created_after and created_before.
    """
    items_page = listing.get_page(page, filters=filters, user_id=caller.user_id)
    now = db.utc_now()
    item_ids = [row.id for row in items_page.items]
    tag_sets_by_id = tag_sets.get_many(item_ids, page_size=page.page_size)
    # A tag set that was deleted between the two statements is omitted.
    rows = (row for row in items_page.items if row.id in tag_sets_by_id)
    return replace(
        items_page, items=[_render_item(row, tag_sets_by_id[row.id], now) for row in rows]
    )


def get_item_details(item_id: UUID, *, caller: Caller) -> dict[str, Any]:
    """Return an item with all tags, its artifact, and the latest prediction or None.

    Raises 404 if the tag set does not exist or is not pending review.
    """
    item = get_item(item_id)
    artifact_id = UUID(str(item["artifact"]["id"]))
    item["document"] = artifacts.get(artifact_id)
    prediction = find_latest_prediction(artifact_id, caller=caller)
    item["prediction"] = None if prediction is None else _render_prediction(prediction)
    return item


def _render_prediction(prediction: PredictedTags) -> dict[str, Any]:
    return {**prediction._asdict(), "source": "model", "tag_count": len(prediction.tags)}


def get_item(item_id: UUID) -> dict[str, Any]:
    """Return an item with all tags of its tag set. Raises 404 if it is not pending review."""
    row = reading.find(item_id)
    tag_set = tag_sets.find(item_id) if row is not None else None
    if row is None or tag_set is None:
        raise errors.not_found()
    return _render_item(row, tag_set, db.utc_now())


def _render_item(row: reading.ItemRow, tag_set: object, now: datetime) -> dict[str, Any]:
    age_seconds = (now - row.submitted_at).total_seconds()
    claim = None
    if row.claimed_by is not None:
        claim = {"user_id": row.claimed_by, "expires_at": row.claim_expires_at}
    escalation = None
    if row.escalated and row.escalated_by is not None:
        escalation = {
            "by": row.escalated_by,
            "reason": row.escalation_reason,
            "at": row.escalated_at,
        }
    return {
        **row._asdict(),
        "tag_set": tag_set,
        "artifact": {"id": row.artifact_id, "name": row.artifact_name},
        "schema": {"id": row.schema_id, "name": row.schema_name},
        # The clocks of two machines may differ, so the difference can be negative.
        "age_seconds": max(0, int(age_seconds)),
        "claim": claim,
        "escalation": escalation,
    }
