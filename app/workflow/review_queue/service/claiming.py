"""Claiming and releasing of review items."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from app.identity.organizations import service as organizations
from app.kit import errors
from app.kit.permissions import Role
from app.kit.principal import Caller
from app.workflow.review_queue.queries import drawing, holding
from app.workflow.review_queue.service.reading import shown
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
    drawn = drawing.draw(
        caller.user_id,
        minutes=organizations.get_claim_minutes(caller.org.settings),
        own_too=organizations.allows_self_review(caller.org.settings),
        any_skill=caller.has(Role.admin),
        schema_id=schema_id,
        flags=flags,
        exclude=exclude,
        skip_held=skip_held,
    )
    return None if drawn is None else shown(drawn)


def claim(item_id: UUID, *, caller: Caller) -> dict[str, Any]:
    """Claim an item or renew the caller's claim; an admin may take over another user's claim.

    Raises 404; 403 on the caller's own tag set; 409 `conflict` with `details.claim` if another
    reviewer has claimed the item, with `assignee_id` or `assignee_team_id` if it is assigned to
    others.
    """
    held = lock(item_id)
    tag_sets.check_review(caller, held, take_over=True)
    minutes = organizations.get_claim_minutes(caller.org.settings)
    holding.claim(item_id, caller.user_id, minutes=minutes)
    return shown(item_id)


def release(item_id: UUID, *, caller: Caller) -> dict[str, Any]:
    """Release a claimed item; an admin may release the claim of any user.

    Raises 404; 409 `conflict` if nobody has claimed the item; 403 if another user has claimed it.
    """
    held = lock(item_id)
    if held.claimed_by is None:
        raise errors.conflict("The item is not claimed.")
    if held.claimed_by != caller.user_id and not caller.has(Role.admin):
        raise errors.denied("Another reviewer has claimed the item.")
    holding.release(item_id)
    return shown(item_id)


def lock(item_id: UUID) -> Any:
    """Lock an item until the transaction ends and return it. Raises 404."""
    held = holding.lock(item_id)
    if held is None:
        raise errors.not_found()
    return held


def expire_claims() -> int:
    """End at most 1,000 expired claims across all organizations and return the number ended."""
    return holding.expire()
