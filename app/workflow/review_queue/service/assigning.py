"""Escalation of single reviews and assignment of many reviews."""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from app.identity.members.eligibility import lock_eligible
from app.identity.organizations import service as organizations
from app.identity.teams import service as teams
from app.kit import bulk, errors, events
from app.kit.bulk import Failures, FindUnfit
from app.kit.errors import ApiError
from app.kit.permissions import Role
from app.kit.principal import Caller
from app.workflow.review_queue.queries import assigning, holding, reading
from app.workflow.review_queue.service.bulk import for_each
from app.workflow.review_queue.service.claiming import lock
from app.workflow.review_queue.service.reading import shown
from app.workflow.tag_sets import service as tag_sets


def escalate(
    item_id: UUID,
    *,
    caller: Caller,
    reason: str,
    user_id: UUID | None = None,
    team_id: UUID | None = None,
) -> dict[str, Any]:
    """Assign an item to another reviewer or team with a reason, and end its claim.

    Emits `reviews.assigned`. Raises 404; 403 on the caller's own tag set; 400 on `user_id` or
    `team_id` if that user or team cannot review the item. Unless the caller is an admin, raises 409
    `conflict` with `details.claim` if another reviewer has claimed the item, and with `assignee_id`
    or `assignee_team_id` if it is assigned to others.
    """
    # Lock members and teams before tag sets, in the same order as their removal does.
    if not reading.waits(item_id):
        raise errors.not_found()
    able = {user_id} if team_id is None else assigning.reviewers_of_team(team_id)
    _check_recipients([user_id] if user_id else [], "user_id", team_id)
    held = lock(item_id)
    tag_sets.check_review(caller, held, take_over=True)
    if user_id == caller.user_id:
        raise errors.invalid("Must be a reviewer other than yourself.", "user_id")
    _check_capable(held, caller, able, "user_id" if team_id is None else "team_id")
    holding.escalate(item_id, by=caller.user_id, reason=reason, user_id=user_id, team_id=team_id)
    _tell([item_id], user_id, team_id, by=caller.user_id, escalated=True, reason=reason)
    return shown(item_id)


def assign_many(
    *,
    caller: Caller,
    user_ids: Sequence[UUID] = (),
    team_id: UUID | None = None,
    due_at: datetime | None = None,
    **selection: Any,
) -> dict[str, Any]:
    """Assign items evenly to reviewers, or to a team, by id or by filter (`for_each`).

    The outcome of an item is `not_found` if it does not exist. It is `conflict` if another reviewer
    works on the item, or if every possible reviewer made the tag set. A new `due_at` also changes
    the position in the queue. Emits `reviews.assigned` per reviewer or for the team in each
    transaction, for new assignments only. Raises 400 on `user_ids` or `team_id`.
    """
    giving = _Giving(caller, user_ids=user_ids, team_id=team_id, due_at=due_at)
    if "filter" in selection:
        giving.hold()  # Validate even if the filter matches nothing.
    return for_each(giving.give, caller=caller, **selection)


class _Giving:
    """Assignment of one request, which may span several transactions.

    The number of items per reviewer is carried over from one transaction to the next.
    """

    def __init__(
        self,
        caller: Caller,
        *,
        user_ids: Sequence[UUID],
        team_id: UUID | None,
        due_at: datetime | None,
    ) -> None:
        self._caller = caller
        self._people = list(dict.fromkeys(user_ids))
        self._team_id = team_id
        self._due_at = due_at
        self._shares = _Shares(caller)

    def hold(self) -> None:
        """Validate the assignees and lock them until the transaction ends. Raises 400."""
        team_id = self._team_id
        able = self._people if team_id is None else sorted(assigning.reviewers_of_team(team_id))
        _check_recipients(self._people, "user_ids", team_id)
        if not able:
            raise errors.invalid("The team has no member who can review.", "team_id")
        self._shares.able = able

    def give(self, item_ids: Sequence[UUID], unfit: FindUnfit | None) -> Failures:
        """Assign the items that are not unfit, emit the events, and return the errors by item id.

        Members and teams are locked before tag sets. Raises the same errors as `hold`.
        """
        self.hold()
        held = assigning.lock(item_ids)
        failures = bulk.find_missing(item_ids, {row.id for row in held})
        if unfit is not None:
            failures.update(unfit(item_ids))
        given, refused = self._deal([row for row in held if row.id not in failures])
        if given:
            assigning.assign(
                {one: user if self._team_id is None else None for one, user in given.items()},
                team_id=self._team_id,
                due_at=self._due_at,
                keep_claims={row.id for row in held if given.get(row.id) == row.claimed_by},
            )
            _tell_all(self._news(held, given), self._team_id, self._caller)
        return failures | refused

    def _news(self, held: list[Any], given: Mapping[UUID, UUID]) -> dict[UUID, UUID]:
        """Return the new assignments, so that repeated ones cause no notification."""
        if self._team_id is not None:
            known = {row.id for row in held if row.assignee_team_id == self._team_id}
        else:
            known = {row.id for row in held if row.assignee_id == given.get(row.id)}
        return {one: user for one, user in given.items() if one not in known}

    def _deal(self, held: list[Any]) -> tuple[dict[UUID, UUID], dict[UUID, ApiError]]:
        """Return the assigned user of each item, and the errors of items without one."""
        given: dict[UUID, UUID] = {}
        refused: dict[UUID, ApiError] = {}
        shares = self._shares
        # Items with few possible reviewers come first, so that the rest can balance the numbers.
        for row in sorted(held, key=lambda row: (shares.choice(row), row.review_rank, row.id)):
            try:
                given[row.id] = shares.take(row)
            except ApiError as failure:
                refused[row.id] = failure
        return given, refused


class _Shares:
    """Number of items assigned to each reviewer; `able` lists the possible reviewers."""

    def __init__(self, caller: Caller) -> None:
        self.able: list[UUID] = []
        self.taken: Counter[UUID] = Counter()
        self.caller = caller
        self.own_too = organizations.allows_self_review(caller.org.settings)

    def choice(self, held: Any) -> int:
        """Return the number of reviewers that an item can be assigned to."""
        return 1 if held.claimed_by in self.able else len(self._able(held))

    def _able(self, held: Any) -> list[UUID]:
        return [one for one in self.able if self.own_too or one not in held.makers]

    def take(self, held: Any) -> UUID:
        """Choose the user who claimed the item, or the one with the fewest items. Raises 409."""
        if held.claimed_by not in (None, self.caller.user_id) and held.claimed_by not in self.able:
            claim = {"user_id": held.claimed_by, "expires_at": held.claim_expires_at}
            raise errors.conflict("Another reviewer has claimed this tag set.", claim=claim)
        able = self._able(held)
        if held.claimed_by in able:
            chosen: UUID = held.claimed_by
        elif able:
            chosen = min(able, key=self.taken.__getitem__)
        else:
            raise errors.conflict(
                "Reviewers cannot review their own tag set. Choose another reviewer."
            )
        self.taken[chosen] += 1
        return chosen


def _check_recipients(user_ids: Sequence[UUID], field: str, team_id: UUID | None) -> None:
    if team_id is not None:
        if not teams.lock_existing([team_id]):
            raise errors.invalid("Must be the id of a team.", "team_id")
        return
    known = lock_eligible(user_ids, Role.reviewer)
    unknown = [one for one in user_ids if one not in known]
    if unknown:
        many = field == "user_ids"
        raise errors.invalid(
            "Must be members who can review.",
            f"{field}.{user_ids.index(unknown[0])}" if many else field,
            **({"user_ids": unknown} if many else {}),
        )


def _check_capable(held: Any, caller: Caller, able: set[Any], field: str) -> None:
    if not able:
        raise errors.invalid("The team has no member who can review.", field)
    if not organizations.allows_self_review(caller.org.settings) and able <= set(held.makers):
        raise errors.invalid(
            "Reviewers cannot review their own tag set. Choose another reviewer.", field
        )


def _tell_all(given: dict[UUID, UUID], team_id: UUID | None, caller: Caller) -> None:
    if not given:
        return
    told = {"by": caller.user_id, "escalated": False, "reason": None}
    if team_id is not None:
        _tell(list(given), None, team_id, **told)
        return
    of: dict[UUID, list[UUID]] = {}
    for item_id, user_id in given.items():
        of.setdefault(user_id, []).append(item_id)
    events.emit_many(
        "reviews.assigned", [_told(items, user_id, None, **told) for user_id, items in of.items()]
    )


def _tell(item_ids: list[UUID], user_id: UUID | None, team_id: UUID | None, **more: Any) -> None:
    events.emit("reviews.assigned", _told(item_ids, user_id, team_id, **more))


def _told(
    item_ids: list[UUID], user_id: UUID | None, team_id: UUID | None, **more: Any
) -> dict[str, Any]:
    users = [user_id] if user_id else []
    return {"tag_set_ids": item_ids, "user_ids": users, "team_id": team_id, **more}
