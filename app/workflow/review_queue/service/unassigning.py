"""Unassignment of reviews that the assigned user or team can no longer do."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from uuid import UUID

from app.identity.teams import service as teams
from app.kit import events
from app.kit.db import Checkpoint
from app.workflow.review_queue.emitted_events import RETURNED, ReturnedPayload
from app.workflow.review_queue.queries import items as queries
from app.workflow.review_queue.queries.items import EndedSelfReview, UnassignedItem


def unassign_removed_member(
    user_id: UUID, team_ids: Iterable[UUID], checkpoint: Checkpoint
) -> None:
    """Unassign a removed member's reviews, and reviews that the member's teams can no longer do.

    Emits `reviews.returned` for each batch and calls `checkpoint` after each batch. All functions
    of this module are safe to repeat: reviews that the assignee can still do stay assigned.
    """
    _unassign_user(user_id, checkpoint, reason="member_removed")
    for team_id in team_ids:
        unassign_team(team_id, checkpoint, reason="member_removed")


def end_self_reviews(checkpoint: Checkpoint) -> None:
    """End the claims and assignments that are invalid because self-review is no longer allowed.

    Emits events and calls `checkpoint` for each batch. Does nothing if self-review is allowed.
    """
    reason = "self_review_disallowed"
    while items := queries.end_self_reviews():
        items_by_user: dict[UUID, list[EndedSelfReview]] = defaultdict(list)
        for item in items:
            if item.assignee_id is not None:
                items_by_user[item.assignee_id].append(item)
        for user_id, user_items in items_by_user.items():
            _emit_returned(user_items, user_id=user_id, reason=reason)
        checkpoint()
    for team_id in queries.list_assigned_team_ids():
        unassign_team(team_id, checkpoint, reason=reason)


def release_and_unassign(user_id: UUID, checkpoint: Checkpoint, *, reason: str) -> None:
    """Release and unassign the reviews of a member who can no longer review.

    Also unassigns the member's teams from reviews that none of their members can do.
    """
    queries.CLAIMABLE_ITEMS.release_all(user_id)
    _unassign_user(user_id, checkpoint, reason=reason)
    for team_id in teams.list_team_ids(user_id):
        unassign_team(team_id, checkpoint, reason=reason)


def unassign_team(team_id: UUID, checkpoint: Checkpoint, *, reason: str) -> None:
    """Unassign a team from all reviews that none of its members can do.

    All reviews of a deleted team are unassigned. Emits `reviews.returned` for each batch and calls
    `checkpoint` after each batch. An escalated review stays escalated, and admins are notified.
    """
    while items := queries.unassign_team(team_id):
        _emit_returned(items, team_id=team_id, reason=reason)
        checkpoint()


def _unassign_user(user_id: UUID, checkpoint: Checkpoint, *, reason: str) -> None:
    while items := queries.unassign_user(user_id):
        _emit_returned(items, user_id=user_id, reason=reason)
        checkpoint()


def _emit_returned(
    items: Sequence[UnassignedItem | EndedSelfReview],
    *,
    reason: str,
    user_id: UUID | None = None,
    team_id: UUID | None = None,
) -> None:
    payload: ReturnedPayload = {
        "tag_set_ids": [item.id for item in items],
        "escalated_ids": [item.id for item in items if item.escalated],
        "user_id": user_id,
        "team_id": team_id,
        "reason": reason,
    }
    events.emit(RETURNED, payload)
