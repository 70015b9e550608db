"""review-queue: the label sets that wait for a reviewer."""

from typing import Any
from uuid import UUID

from app.kit.api.blueprint import Blueprint, Listing
from app.kit.api.bulk import BulkResult, is_by_id
from app.kit.principal import Caller
from app.workflow.review_queue import service
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

blueprint = Blueprint(
    "review-queue",
    description="Submitted label sets that wait for review.",
    records="tag_sets",
)


@blueprint.get(
    "/review-queue",
    permission="review_queue:read",
    query=Listing(sorts=("review_rank", "created_at"), filters=ReviewFilters),
    returns=ReviewItem,
)
def list_review_queue(caller: Caller, query: dict[str, Any]) -> Any:
    """List the label sets that wait for review, the most urgent first."""
    return service.list_items(caller=caller, **query)


@blueprint.get(
    "/review-queue/stats", permission="review_queue:read", query=StatsQuery, returns=ReviewStats
)
def get_review_queue_stats(caller: Caller, query: dict[str, Any]) -> Any:
    """Tell how long and how old the queue is, and how it was decided, by schema and reviewer."""
    return service.stats(caller=caller, **query)


@blueprint.post(
    "/review-queue/next",
    permission="review_queue:work",
    body=NextReview,
    returns=ReviewItem,
    nullable=True,
    idempotent=True,
)
def claim_next_review(caller: Caller, body: dict[str, Any]) -> Any:
    """Claim the next label set to review; `data` is null when nothing is there for the caller."""
    return service.claim_next(caller=caller, **body)


@blueprint.get("/review-queue/{item_id}", permission="review_queue:read", returns=ReviewItemDetail)
def get_review_item(caller: Caller, item_id: UUID) -> Any:
    """Read one queue item with its label set, its document and the model's prediction."""
    return service.get(item_id, caller=caller)


@blueprint.post("/review-queue/{item_id}/claim", permission="review_queue:work", returns=ReviewItem)
def claim_review_item(caller: Caller, item_id: UUID) -> Any:
    """Take an item for a limited time, or renew one's claim on it."""
    return service.claim(item_id, caller=caller)


@blueprint.post(
    "/review-queue/{item_id}/release", permission="review_queue:work", returns=ReviewItem
)
def release_review_item(caller: Caller, item_id: UUID) -> Any:
    """Give an item back; an admin may take it from whoever holds it."""
    return service.release(item_id, caller=caller)


@blueprint.post(
    "/review-queue/{item_id}/escalate",
    permission="review_queue:work",
    body=EscalateReview,
    returns=ReviewItem,
)
def escalate_review_item(caller: Caller, item_id: UUID, body: dict[str, Any]) -> Any:
    """Hand an item to another reviewer or to a team, with a reason."""
    return service.escalate(item_id, caller=caller, **body)


@blueprint.post(
    "/review-queue/bulk-accept",
    permission="tag_sets:review",
    body=AcceptReviews,
    returns=BulkResult,
    idempotent=is_by_id,
)
def bulk_accept_reviews(caller: Caller, body: dict[str, Any]) -> Any:
    """Accept many items, by id or by filter; it answers what became of each."""
    return service.accept_many(caller=caller, **body)


@blueprint.post(
    "/review-queue/bulk-reject",
    permission="tag_sets:review",
    body=RejectReviews,
    returns=BulkResult,
    idempotent=is_by_id,
)
def bulk_reject_reviews(caller: Caller, body: dict[str, Any]) -> Any:
    """Reject many items, by id or by filter, for one reason; it answers what became of each."""
    return service.reject_many(caller=caller, **body)


@blueprint.post(
    "/review-queue/bulk-assign",
    permission="review_queue:assign",
    body=AssignReviews,
    returns=BulkResult,
    idempotent=is_by_id,
)
def bulk_assign_reviews(caller: Caller, body: dict[str, Any]) -> Any:
    """Assign many items, by id or by filter, to reviewers, spread evenly, or to a team."""
    return service.assign_many(caller=caller, **body)
