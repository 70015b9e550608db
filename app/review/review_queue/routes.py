"""review-queue: the label sets that wait for a reviewer."""

from typing import Any

from app.kit.api.blueprint import Blueprint, Listing
from app.kit.principal import Caller
from app.review.review_queue import service
from app.review.review_queue.schemas import ReviewFilters, ReviewItem

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
    return service.list_items(**query)
