"""Claiming and releasing of review items."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from app.identity.organizations import service as organizations
from app.kit import errors
from app.kit.permissions import Role
from app.kit.principal import Caller
from app.workflow.review_queue.queries import items, next_item
from app.workflow.review_queue.queries.items import LockedItem
from app.workflow.review_queue.service.reading import get_item
from app.workflow.tag_sets import service as tag_sets


def claim_next(
    *,
    caller: Caller,
    schema_id: UUID | None = None,
    flags: Sequence[str] | None = None,
    exclude: Sequence[UUID] = (),
    skip_held: bool = False,
) -> dict[str, Any] | None:
    """Claim the next item for the caller and return it, or None if no item matches.

    Items that the caller has claimed come first, in case a response was lost (not with
    `skip_held`). Then follow items assigned to the caller, to the caller's teams, and to nobody;
    the most urgent first in each group. Only admins get unassigned items for which their teams lack
    the skills. Items are limited to `schema_id`, to any of `flags`, and to ids not in `exclude`.
    """
    item_id = next_item.claim_next(
        caller.user_id,
        minutes=organizations.get_claim_minutes(caller.org.settings),
        allows_own=organizations.allows_self_review(caller.org.settings),
        ignores_skills=caller.has(Role.admin),
        schema_id=schema_id,
        flags=flags,
        exclude=exclude,
        skip_held=skip_held,
    )
    return None if item_id is None else get_item(item_id)


def claim(item_id: UUID, *, caller: Caller) -> dict[str, Any]:
    """Claim an item or renew the caller's claim; an admin may take over another user's claim.

    Raises 404; 403 on the caller's own tag set; 409 `conflict` with `details.claim` if another
    reviewer has claimed the item, with `assignee_id` or `assignee_team_id` if it is assigned to
    others.
    """
    item = lock(item_id)
    tag_sets.check_review(caller, item, take_over=True)
    minutes = organizations.get_claim_minutes(caller.org.settings)
    items.claim(item_id, caller.user_id, minutes=minutes)
    return get_item(item_id)


def release(item_id: UUID, *, caller: Caller) -> dict[str, Any]:
    """Release a claimed item; an admin may release the claim of any user.

    Raises 404; 409 `conflict` if nobody has claimed the item; 403 if another user has claimed it.
    """
    item = lock(item_id)
    if item.claimed_by is None:
        raise errors.conflict("The item is not claimed.")
    if item.claimed_by != caller.user_id and not caller.has(Role.admin):
        raise errors.denied("Another reviewer has claimed the item.")
    items.release(item_id)
    return get_item(item_id)


def lock(item_id: UUID) -> LockedItem:
    """Lock an item until the transaction ends and return it. Raises 404."""
    for item in items.lock([item_id]):
        return item
    raise errors.not_found()
