"""Escalation of single reviews and assignment of many reviews."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Unpack
from uuid import UUID

from app.identity.members.eligibility import lock_eligible_members
from app.identity.organizations import service as organizations
from app.kit import bulk, errors, events
from app.kit.bulk import Failures, FindFailures
from app.kit.errors import ApiError
from app.kit.permissions import Role
from app.kit.principal import Caller
from app.workflow.assignment.service import recipients
from app.workflow.review_queue import emitted_events
from app.workflow.review_queue.emitted_events import AssignedPayload
from app.workflow.review_queue.queries import items, reading
from app.workflow.review_queue.queries.items import LockedItem
from app.workflow.review_queue.service.bulk import ItemSelection, apply_to_items
from app.workflow.review_queue.service.items import get_item, lock
from app.workflow.tag_sets.service import rules

_OWN_WORK_MESSAGE = "Reviewers cannot review their own tag sets. Choose another reviewer."


def escalate(
    item_id: UUID,
    *,
    caller: Caller,
    reason: str,
    revision: int | None = None,
    user_id: UUID | None = None,
    team_id: UUID | None = None,
) -> dict[str, Any]:
    """Escalate an item to another reviewer or to a team, and end the claim on the item.

    Emits `reviews.assigned`. Raises 404; 409 `stale_precondition`; 403 for the caller's own tag
    set; 400 if the user or team cannot review the item, or if the user is the caller. Unless the
    caller is an admin, raises 409 `conflict` if another user has claimed the item, or if it is
    assigned to another user or team; `details` has `claim`, `assignee_id` or `assignee_team_id`.
    """
    # Members and teams are locked before tag sets, as when a member or team is removed.
    if not reading.is_pending(item_id):
        raise errors.not_found()
    allows_self_review = organizations.lock_self_review(caller)
    reviewers = _lock_reviewers(user_id, team_id)
    item = lock(item_id, revision)
    rules.check_review(caller, item, take_over=True)
    if user_id == caller.user_id:
        raise errors.invalid("Must be a reviewer other than yourself.", "user_id")
    if team_id is not None and not reviewers:
        raise recipients.build_no_member_error(Role.reviewer)
    if not _list_eligible_reviewers(item, reviewers, allows_self_review=allows_self_review):
        raise errors.invalid(_OWN_WORK_MESSAGE, "user_id" if team_id is None else "team_id")
    items.escalate(item_id, by=caller.user_id, reason=reason, user_id=user_id, team_id=team_id)
    payload: AssignedPayload = {
        "tag_set_ids": [item_id],
        "user_ids": [user_id] if user_id else [],
        "team_id": team_id,
        "by": caller.user_id,
        "escalated": True,
        "reason": reason,
    }
    events.emit(emitted_events.ASSIGNED, payload)
    return get_item(item_id)


def _lock_reviewers(user_id: UUID | None, team_id: UUID | None) -> list[UUID]:
    if team_id is not None:
        return recipients.lock_team_members(team_id, Role.reviewer)
    reviewers = list(lock_eligible_members([user_id] if user_id else [], Role.reviewer))
    if not reviewers:
        raise errors.invalid("Must be a member who can review.", "user_id")
    return reviewers


def assign_many(
    *,
    caller: Caller,
    user_ids: Sequence[UUID] = (),
    team_id: UUID | None = None,
    due_at: datetime | None = None,
    **selection: Unpack[ItemSelection],
) -> dict[str, Any]:
    """Assign the selected items to a team, or distribute them evenly among reviewers.

    `selection` selects the items and is passed to `apply_to_items`. The outcome for an item is
    `not_found` if the item does not exist. It is `conflict` if another reviewer, who is not among
    the new assignees, has claimed the item, or if all new assignees have contributed to the tag
    set. If `due_at` is None, the due time does not change; a new due time also changes the position
    in the queue. In each transaction, emits `reviews.assigned` once per reviewer or once for the
    team, for new assignments only. Raises 400 for an invalid `user_ids` or `team_id`.
    """
    assigner = _Assigner(caller, user_ids=user_ids, team_id=team_id, due_at=due_at)
    if "filter" in selection:
        assigner.lock_recipients()  # Validate the recipients even if the filter matches nothing.
    return apply_to_items(assigner.assign_batch, caller=caller, **selection)


class _Assigner:
    """Assigns the items of one request, in one or more transactions.

    The reviewers' loads are kept from one transaction to the next.
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
        self._user_ids = user_ids
        self._team_id = team_id
        self._due_at = due_at
        self._reviewers: list[UUID] = []
        self._allows_self_review = False
        self._loads: Counter[UUID] = Counter()

    def lock_recipients(self) -> None:
        """Validate the users or the team, and lock them until the transaction ends.

        Raises 400 if a user cannot review, or if the team does not exist or has no reviewer.
        """
        self._allows_self_review = organizations.lock_self_review(self._caller)
        if self._team_id is None:
            self._reviewers = recipients.lock_users(self._user_ids, Role.reviewer)
            return
        self._reviewers = recipients.lock_team_members(self._team_id, Role.reviewer)
        if not self._reviewers:
            raise recipients.build_no_member_error(Role.reviewer)

    def assign_batch(
        self, item_ids: Sequence[UUID], find_failures: FindFailures | None
    ) -> Failures:
        """Assign items, emit the events, and return the errors by item id.

        Items for which `find_failures` returns an error are not assigned. Members and teams are
        locked before tag sets. Raises the same errors as `lock_recipients`.
        """
        self.lock_recipients()
        locked_items = items.lock(item_ids)
        failures = bulk.build_not_found_errors(item_ids, {item.id for item in locked_items})
        if find_failures is not None:
            failures.update(find_failures(item_ids))
        reviewers_by_id, errors_by_id = self._choose_reviewers(
            [item for item in locked_items if item.id not in failures]
        )
        assigned_items = [item for item in locked_items if item.id in reviewers_by_id]
        if assigned_items:
            items.assign(
                {
                    item_id: None if self._team_id else reviewer_id
                    for item_id, reviewer_id in reviewers_by_id.items()
                },
                team_id=self._team_id,
                due_at=self._due_at,
                ids_with_kept_claims={
                    item.id
                    for item in assigned_items
                    if reviewers_by_id[item.id] == item.claimed_by
                },
            )
            self._emit_assigned(assigned_items, reviewers_by_id)
        return failures | errors_by_id

    def _choose_reviewers(
        self, locked_items: list[LockedItem]
    ) -> tuple[dict[UUID, UUID], dict[UUID, ApiError]]:
        """Choose a reviewer for each item; return the reviewers and the errors by item id.

        If the items are assigned to a team, the chosen reviewer is not assigned. The choice only
        determines whether the team can review the item, and whether an existing claim is kept.
        """
        eligible_reviewers = {
            item.id: _list_eligible_reviewers(
                item, self._reviewers, allows_self_review=self._allows_self_review
            )
            for item in locked_items
        }
        reviewers_by_id: dict[UUID, UUID] = {}
        errors_by_id: dict[UUID, ApiError] = {}

        def count_choices(item: LockedItem) -> int:
            return 1 if item.claimed_by in self._reviewers else len(eligible_reviewers[item.id])

        # Items with few possible reviewers are assigned first, so that the other items can balance
        # the loads.
        for item in sorted(
            locked_items, key=lambda item: (count_choices(item), item.review_rank, item.id)
        ):
            try:
                reviewer_id = self._choose_reviewer(item, eligible_reviewers[item.id])
            except ApiError as error:
                errors_by_id[item.id] = error
                continue
            self._loads[reviewer_id] += 1
            reviewers_by_id[item.id] = reviewer_id
        return reviewers_by_id, errors_by_id

    def _choose_reviewer(self, item: LockedItem, eligible_reviewers: Sequence[UUID]) -> UUID:
        """Choose an eligible reviewer: the user who claimed the item, or the least loaded user.

        Raises 409 if a user other than the caller and the reviewers has claimed the item, or if no
        reviewer is eligible.
        """
        allowed_claimants = (None, self._caller.user_id, *self._reviewers)
        if item.claimed_by not in allowed_claimants:
            claim = {"user_id": item.claimed_by, "expires_at": item.claim_expires_at}
            raise errors.conflict("Another reviewer has claimed this tag set.", claim=claim)
        if item.claimed_by is not None and item.claimed_by in eligible_reviewers:
            return item.claimed_by
        if not eligible_reviewers:
            raise errors.conflict(_OWN_WORK_MESSAGE)
        return min(eligible_reviewers, key=self._loads.__getitem__)

    def _emit_assigned(
        self, assigned_items: Iterable[LockedItem], reviewers_by_id: Mapping[UUID, UUID]
    ) -> None:
        """Emit `reviews.assigned` for new assignments. Repeated assignments notify nobody."""
        item_ids_by_assignee: dict[UUID | None, list[UUID]] = defaultdict(list)
        for item in assigned_items:
            if self._team_id is not None:
                if item.assignee_team_id != self._team_id:
                    item_ids_by_assignee[None].append(item.id)
            elif item.assignee_id != reviewers_by_id[item.id]:
                item_ids_by_assignee[reviewers_by_id[item.id]].append(item.id)
        payloads: list[AssignedPayload] = [
            {
                "tag_set_ids": item_ids,
                "user_ids": [user_id] if user_id else [],
                "team_id": self._team_id,
                "by": self._caller.user_id,
                "escalated": False,
                "reason": None,
            }
            for user_id, item_ids in item_ids_by_assignee.items()
        ]
        events.emit_many(emitted_events.ASSIGNED, payloads)


def _list_eligible_reviewers(
    item: LockedItem, reviewers: Sequence[UUID], *, allows_self_review: bool
) -> list[UUID]:
    """Return the ids of those `reviewers` who may review an item."""
    return [
        user_id
        for user_id in reviewers
        if rules.can_review(user_id, item.contributor_ids, allows_self_review=allows_self_review)
    ]
