"""Routes for the review queue."""

from typing import Any
from uuid import UUID

from app.kit.api.blueprint import Blueprint, Listing
from app.kit.api.bulk import BulkResult, is_action_by_id
from app.kit.principal import Caller
from app.workflow.review_queue.schemas import (
    AcceptReviews,
    AssignReviews,
    EscalateReview,
    NextReview,
    RejectReviews,
    ReviewFilters,
    ReviewItem,
    ReviewItemDetail,
    ReviewStats,
    StatsQuery,
)
from app.workflow.review_queue.service import assigning, bulk, items, statistics

blueprint = Blueprint(
    "review-queue",
    description="Submitted tag sets that are pending review.",
    record_type="tag_sets",
)


@blueprint.get(
    "/review-queue",
    permission="review_queue:read",
    query=Listing(sort_keys=("review_rank", "created_at"), filters=ReviewFilters),
    returns=ReviewItem,
)
def list_review_queue(caller: Caller, query: dict[str, Any]) -> object:
    """List review items.

    Returns the tag sets that are pending review, most urgent first by default.
    """
    return items.list_items(caller=caller, **query)


@blueprint.get(
    "/review-queue/stats", permission="review_queue:read", query=StatsQuery, returns=ReviewStats
)
def get_review_queue_stats(caller: Caller, query: dict[str, Any]) -> object:
    """Get review queue statistics.

    Returns the current number and age of pending items, and the number of review decisions in a
    period by day, schema and reviewer.
    """
    return statistics.get_statistics(caller=caller, **query)


@blueprint.post(
    "/review-queue/next",
    permission="review_queue:work",
    body=NextReview,
    returns=ReviewItem,
    nullable=True,
    idempotent=True,
)
def claim_next_review(caller: Caller, body: dict[str, Any]) -> object:
    """Claim the next review item.

    Claims and returns the next item for the caller. Items that the caller has already claimed come
    first, then items assigned to the caller, items assigned to the caller's teams, and unassigned
    items. In each group, the most urgent item comes first. `data` is null if no item matches.
    """
    return items.claim_next(caller=caller, **body)


@blueprint.get("/review-queue/{item_id}", permission="review_queue:read", returns=ReviewItemDetail)
def get_review_item(caller: Caller, item_id: UUID) -> object:
    """Get a review item.

    Returns the item with its tag set, its artifact, and the latest prediction for the artifact.
    """
    return items.get_item_details(item_id, caller=caller)


@blueprint.post("/review-queue/{item_id}/claim", permission="review_queue:work", returns=ReviewItem)
def claim_review_item(caller: Caller, item_id: UUID) -> object:
    """Claim a review item.

    Claims the item for the caller, or renews the caller's claim. The claim expires after the
    organization's `claim_minutes`. An admin may take over the claim of another reviewer.
    """
    return items.claim(item_id, caller=caller)


@blueprint.post(
    "/review-queue/{item_id}/release", permission="review_queue:work", returns=ReviewItem
)
def release_review_item(caller: Caller, item_id: UUID) -> object:
    """Release a review item.

    Ends the caller's claim. An admin may release an item that another reviewer has claimed.
    """
    return items.release(item_id, caller=caller)


@blueprint.post(
    "/review-queue/{item_id}/escalate",
    permission="review_queue:work",
    body=EscalateReview,
    returns=ReviewItem,
    revision="optional",
)
def escalate_review_item(
    caller: Caller, item_id: UUID, body: dict[str, Any], revision: int | None
) -> object:
    """Escalate a review item.

    Assigns the item to another reviewer or to a team, with a reason, and ends the claim on it. The
    revision is that of the tag set; escalating does not change it.
    """
    return assigning.escalate(item_id, caller=caller, revision=revision, **body)


@blueprint.post(
    "/review-queue/bulk-accept",
    permission="tag_sets:review",
    body=AcceptReviews,
    returns=BulkResult,
    idempotent=is_action_by_id,
)
def bulk_accept_reviews(caller: Caller, body: dict[str, Any]) -> object:
    """Accept many review items.

    Accepts items that are selected by id or by filter. Lists the result for each id or, with a
    filter, only the failures.
    """
    return bulk.accept_many(caller=caller, **body)


@blueprint.post(
    "/review-queue/bulk-reject",
    permission="tag_sets:review",
    body=RejectReviews,
    returns=BulkResult,
    idempotent=is_action_by_id,
)
def bulk_reject_reviews(caller: Caller, body: dict[str, Any]) -> object:
    """Reject many review items.

    Rejects items that are selected by id or by filter. All items are rejected for the same reason.
    Lists the result for each id or, with a filter, only the failures.
    """
    return bulk.reject_many(caller=caller, **body)


@blueprint.post(
    "/review-queue/bulk-assign",
    permission="review_queue:assign",
    body=AssignReviews,
    returns=BulkResult,
    idempotent=is_action_by_id,
)
def bulk_assign_reviews(caller: Caller, body: dict[str, Any]) -> object:
    """Assign many review items.

    Assigns items that are selected by id or by filter. The items are distributed evenly among
    reviewers, or assigned to a team.
    """
    return assigning.assign_many(caller=caller, **body)
