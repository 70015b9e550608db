"""Escalation of single reviews and assignment of many reviews."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
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
from app.workflow.assignment.service.assigner import Assigner, Choices
from app.workflow.review_queue import emitted_events
from app.workflow.review_queue.emitted_events import AssignedPayload
from app.workflow.review_queue.queries import items, reading
from app.workflow.review_queue.queries.items import LockedItem
from app.workflow.review_queue.service.bulk import ItemSelection, apply_to_items
from app.workflow.review_queue.service.items import get_item, lock
from app.workflow.tag_sets.service import rules

_OWN_WORK_MESSAGE = "Reviewers cannot review their own tag sets. Choose another reviewer or team."


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
    user_ids = [] if user_id is None else [user_id]
    assigner = _EscalationAssigner(caller, user_ids=user_ids, team_id=team_id, reason=reason)
    assigner.lock_recipients()
    item = lock(item_id, revision)
    rules.check_review(caller, item, take_over=True)
    if user_id == caller.user_id:
        raise errors.invalid("Must be a reviewer other than yourself.", "user_id")
    for error in assigner.assign({item_id: item}).values():
        raise error
    return get_item(item_id)


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
    `not_found` if the item does not exist. It is `conflict` if a user other than the caller and the
    new assignees has claimed the item, or if none of the new assignees may review the tag set. If
    `due_at` is None, the due time does not change; a new due time also changes the position in the
    queue. In each transaction, emits `reviews.assigned` once per reviewer or once for the team, for
    new assignments only. Raises 400 for an invalid `user_ids` or `team_id`, and 409 like
    `apply_to_items`.
    """
    assigner = _ItemAssigner(caller, user_ids=user_ids, team_id=team_id, due_at=due_at)
    if "filter" in selection:
        assigner.lock_recipients()  # Validate the recipients even if the filter matches nothing.
    return apply_to_items(assigner.assign_batch, caller=caller, **selection)


class _ItemAssigner(Assigner[LockedItem]):
    """Assigns each item to a team, or to the reviewer who claimed it or has the fewest new items.

    Even if the items are assigned to a team, a reviewer is chosen for each item. The choice only
    determines whether the team can review the item, and whether an existing claim is kept.
    """

    role = Role.reviewer

    def __init__(
        self,
        caller: Caller,
        *,
        user_ids: Sequence[UUID],
        team_id: UUID | None,
        due_at: datetime | None = None,
        reason: str | None = None,
    ) -> None:
        super().__init__(user_ids, team_id)
        self._caller = caller
        self._due_at = due_at
        self._escalation_reason = reason
        self._allows_self_review = False

    def lock_recipients(self) -> None:
        """Lock the recipients like the base class, and the setting that allows self-review."""
        self._allows_self_review = organizations.lock_self_review(self._caller)
        super().lock_recipients()

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
        assignable_items = [item for item in locked_items if item.id not in failures]
        # Items that few recipients may review are assigned first, so that the other items can
        # balance the loads.
        user_ids = set(self._recipient_ids)
        assignable_items.sort(
            key=lambda row: (len(user_ids - self._find_excluded_ids(row)), row.review_rank, row.id)
        )
        return failures | self.assign({item.id: item for item in assignable_items})

    def _find_excluded_ids(self, item: LockedItem) -> set[UUID | None]:
        """Return the ids of the users to whom an item must not be assigned.

        If a recipient has claimed the item, all other recipients are excluded.
        """
        excluded_ids: set[UUID | None] = {
            id_
            for id_ in item.contributor_ids
            if not rules.can_review(
                id_, item.contributor_ids, allows_self_review=self._allows_self_review
            )
        }
        if item.claimed_by in self._recipient_ids and item.claimed_by not in excluded_ids:
            excluded_ids.update(self._recipient_ids)
            excluded_ids.remove(item.claimed_by)
        return excluded_ids

    def _is_claimed_by_other(self, item: LockedItem) -> bool:
        """Return whether a user other than the caller and the recipients has claimed the item.

        An escalation may end the claim of any user.
        """
        allowed_claimants = (None, self._caller.user_id, *self._recipient_ids)
        return self._escalation_reason is None and item.claimed_by not in allowed_claimants

    def _choose_users(self, rows: Mapping[UUID, LockedItem]) -> Choices:
        return self._distribute(
            {
                id_: self._find_excluded_ids(item)
                for id_, item in rows.items()
                if not self._is_claimed_by_other(item)
            }
        )

    def _assign_rows(self, rows: Mapping[UUID, LockedItem], choices: Choices) -> list[UUID]:
        reviewer_ids = {id_: None if self._team_id else choices[id_][0] for id_ in rows}
        items.assign(
            reviewer_ids,
            team_id=self._team_id,
            due_at=self._due_at,
            ids_with_kept_claims={
                id_
                for id_, item in rows.items()
                if item.claimed_by == choices[id_][0] and self._escalation_reason is None
            },
            by=self._caller.user_id,
            escalation_reason=self._escalation_reason,
        )
        return [
            id_
            for id_, item in rows.items()
            if self._escalation_reason is not None
            or (item.assignee_id, item.assignee_team_id) != (reviewer_ids[id_], self._team_id)
        ]

    def _emit_assigned(self, row_ids: Sequence[UUID], choices: Choices) -> None:
        item_ids_by_assignee: dict[UUID | None, list[UUID]] = defaultdict(list)
        for item_id in sorted(row_ids):
            assignee_id = None if self._team_id else choices[item_id][0]
            item_ids_by_assignee[assignee_id].append(item_id)
        payloads: list[AssignedPayload] = [
            {
                "tag_set_ids": item_ids,
                "user_ids": [user_id] if user_id else [],
                "team_id": self._team_id,
                "by": self._caller.user_id,
                "escalated": self._escalation_reason is not None,
                "reason": self._escalation_reason,
            }
            for user_id, item_ids in item_ids_by_assignee.items()
        ]
        events.emit_many(emitted_events.ASSIGNED, payloads)

    def _build_error(self, item: LockedItem) -> ApiError:
        if not self._is_claimed_by_other(item):
            return errors.conflict(_OWN_WORK_MESSAGE)
        claim = {"user_id": item.claimed_by, "expires_at": item.claim_expires_at}
        return errors.conflict("Another reviewer has claimed this tag set.", claim=claim)


class _EscalationAssigner(_ItemAssigner):
    """Assigns an item to another reviewer or to a team, on behalf of a caller who may review it.

    Unlike other assignments, an escalation ends every claim and always emits the event. Its errors
    have the status 400. The team is checked for reviewers only after the item was checked.
    """

    def lock_recipients(self) -> None:
        """Lock the recipients like the base class, but allow a team without reviewers."""
        self._allows_self_review = organizations.lock_self_review(self._caller)
        if self._team_id is not None:
            self._recipient_ids = recipients.lock_team_members(self._team_id, self.role)
            return
        self._recipient_ids = list(lock_eligible_members(self._user_ids, self.role))
        if not self._recipient_ids:
            raise errors.invalid("Must be the id of a member who can review.", "user_id")

    def _build_error(self, _item: LockedItem) -> ApiError:
        if not self._recipient_ids:
            return recipients.build_no_member_error(self.role)
        return errors.invalid(_OWN_WORK_MESSAGE, "user_id" if self._team_id is None else "team_id")
