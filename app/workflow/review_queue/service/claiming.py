"""Who works on an item: drawn from the queue or taken by id, given back, run out."""

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
    """Claim the next item for the caller; None where nothing is there for them.

    First what they hold already, so that an answer which got lost strands nothing (not with
    `skip_held`), then what is assigned to them, to a team of theirs, then what is assigned to
    nobody; among these the most urgent. From the unassigned ones nobody but admins gets what their
    teams lack the skills for. `schema_id`, `flags` (any of them) and `exclude` (none of them)
    narrow all of it.
    """
    drawn = drawing.draw(
        caller.user_id,
        minutes=organizations.claim_minutes(caller.org.settings),
        own_too=_own_too(caller),
        any_skill=caller.has(Role.admin),
        schema_id=schema_id,
        flags=flags,
        exclude=exclude,
        skip_held=skip_held,
    )
    return None if drawn is None else shown(drawn)


def claim(item_id: UUID, *, caller: Caller) -> dict[str, Any]:
    """Take an item, or renew one's claim; an admin may take it over from somebody else.

    Raises 404; 403 on one's own label set; 409 `conflict` with `details.claim` while another
    reviewer holds it, with `assignee_id` or `assignee_team_id` when it is assigned to others.
    """
    held = lock(item_id)
    tag_sets.check_review(caller, held, take_over=True)
    minutes = organizations.claim_minutes(caller.org.settings)
    holding.claim(item_id, caller.user_id, minutes=minutes)
    return shown(item_id)


def release(item_id: UUID, *, caller: Caller) -> dict[str, Any]:
    """Give an item back; an admin may take it from whoever holds it.

    Raises 404, 409 `conflict` when nobody holds it, 403 when somebody else does.
    """
    held = lock(item_id)
    if held.claimed_by is None:
        raise errors.conflict("Nobody holds the item.")
    if held.claimed_by != caller.user_id and not caller.has(Role.admin):
        raise errors.denied("Another reviewer holds the item.")
    holding.release(item_id)
    return shown(item_id)


def lock(item_id: UUID) -> Any:
    """An item that nobody else changes until the transaction ends. Raises 404."""
    held = holding.lock(item_id)
    if held is None:
        raise errors.not_found()
    return held


def expire_claims() -> int:
    """End the claims that ran out, of every organization; how many (at most 1,000)."""
    return holding.expire()


def _own_too(caller: Caller) -> bool:
    return caller.org.settings.get("allow_self_review") is True
